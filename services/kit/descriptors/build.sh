#!/usr/bin/env bash
# Builds the addon: build.sh <folder of Node, with its headers> [options of the compiler]
set -euo pipefail
node=${1:?folder of Node}
shift
cd "$(dirname "$0")"
mkdir -p build
# Replaced at once, because services may have loaded the addon.
gcc -std=gnu11 -O2 -Wall -Wextra -fPIC -shared -fstack-protector-strong -isystem "$node/include/node" \
  -Wl,-z,relro,-z,now "$@" -o build/descriptors.node.new src/*.c
mv build/descriptors.node.new build/descriptors.node
