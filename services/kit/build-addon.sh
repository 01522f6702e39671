#!/usr/bin/env bash
# Builds an addon in C from its src folder: build-addon.sh <name> <folder of Node, with its headers>
# [options of the compiler]
set -euo pipefail
name=${1:?name of the addon}
node=${2:?folder of Node}
shift 2
cd "$(dirname "$0")/$name"
mkdir -p build
# Replaced at once, because services may have loaded the addon.
"${CC:-gcc}" -std=gnu11 -O2 -Wall -Wextra -fPIC -shared -fstack-protector-strong -isystem "$node/include/node" \
  -Wl,-z,relro,-z,now "$@" -o "build/$name.node.new" src/*.c
mv "build/$name.node.new" "build/$name.node"
