#!/usr/bin/env bash
# Builds the addon with AddressSanitizer and runs the exercises.
set -euo pipefail

package=$(cd "$(dirname "$0")/.." && pwd)
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

cp -r "$package"/{src,exercise,binding.gyp,package.json} "$package"/*.ts "$build"
ln -s "$package/../../../node_modules" "$build/node_modules"
cd "$build"

export CXXFLAGS='-fsanitize=address -fno-omit-frame-pointer -g' LDFLAGS='-fsanitize=address'
npm run --silent build >build.log 2>&1 || { cat build.log; exit 1; }
unset CXXFLAGS LDFLAGS

# The sanitizer must be loaded first; it finds the throw function in libstdc++.
preload="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libstdc++.so)"
# Unwinds without frame pointers, so that callers of GLib are found.
export ASAN_OPTIONS=detect_leaks=1:fast_unwind_on_malloc=0:malloc_context_size=25
export LSAN_OPTIONS="suppressions=$package/asan/leaks.supp:print_suppressions=0"
for exercise in 'memory samples' 'memory packets' 'memory ring' 'memory pipelines' collection 'teardown 5' 'leaving down' \
  'leaving disposed' 'leaving worker-terminated' 'leaving worker-exits'; do
  read -r name argument <<<"$exercise"
  printf '%s: ' "$exercise"
  LD_PRELOAD=$preload node --expose-gc "exercise/$name.ts" $argument
done
