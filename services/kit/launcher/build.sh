#!/usr/bin/env bash
# Builds the launcher: build.sh [options of the compiler]
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p build
# Replaced at once, because the launcher may be in use.
"${CC:-gcc}" -std=gnu11 -O2 -Wall -Wextra -Wconversion -fPIE -pie -fstack-protector-strong -D_FORTIFY_SOURCE=2 \
  -Wl,-z,relro,-z,now "$@" -o build/eyrie-launcher.new src/*.c
mv build/eyrie-launcher.new build/eyrie-launcher
