#!/usr/bin/env bash
# Provides mediasoup's worker for the installed npm package: downloads it where the internet is there, else builds it.
# Does nothing where there is one already, or where another is at it. `state` beside the executable says how it stands.
# A build that was stopped goes on the next time.
#   obtain.sh [folder]     default: .toolchain/mediasoup-worker
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
package=$root/node_modules/mediasoup
folder=${1:-$root/.toolchain/mediasoup-worker}
version=$(sed -nE 's/^\t"version": "([^"]+)".*/\1/p' "$package/package.json")
case $(uname -m) in
  x86_64) platform=linux-x64 ;;
  aarch64) platform=linux-arm64 ;;
  *) platform=linux-$(uname -m) ;;
esac
executable=$folder/mediasoup-worker-$version-$platform
releases=${MEDIASOUP_WORKER_PREBUILT_DOWNLOAD_BASE_URL:-https://github.com/versatica/mediasoup/releases/download}
archive=$releases/$version/mediasoup-worker-$version-$platform-kernel$(uname -r | cut -d. -f1).tgz

# Started by nobody who speaks its version it ends with 41 (its main.cpp): it can run on this machine.
runs() {
  local status=0
  env -i "$1" >/dev/null 2>&1 || status=$?
  ((status == 41))
}

say() {
  echo "$1" >"$folder/state.new"
  mv "$folder/state.new" "$folder/state"
  echo "mediasoup's worker: $1" >&3
}

download() {
  mkdir -p "$work/download"
  PATH="$root/.toolchain/bin:$PATH" node "$here/download.ts" "$archive" "$work/worker.tgz" &&
    tar -xzf "$work/worker.tgz" -C "$work/download" mediasoup-worker &&
    runs "$work/download/mediasoup-worker" &&
    mv "$work/download/mediasoup-worker" "$executable"
}

missing_packages() {
  source "$root/appliance/setup/packages.sh"
  for name in "${worker_packages[@]}"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null) == installed ]] || echo "$name"
  done
}

mkdir -p "$folder"
work=$folder/work-$version
exec 9>"$folder/lock"
flock -n 9 || exit 0
if [[ -x $executable ]] && runs "$executable"; then
  rm -f "$folder/state"
  exit 0
fi
exec 3>&2 >"$folder/log" 2>&1

finish() {
  rm -rf "$folder"/work-*
  say "$2"
  exit "$1"
}

say 'it is being downloaded'
if download; then
  finish 0 'it has been downloaded'
fi
missing=$(missing_packages | paste -sd ' ')
if [[ -n $missing ]]; then
  finish 1 "it cannot be downloaded, and to build it these Debian packages are missing: apt-get install $missing, then make worker"
fi
say 'it is being built, which takes ten minutes or more'
if "$here/build.sh" "$package" "$work" "$executable" && runs "$executable"; then
  finish 0 'it has been built'
else
  finish 1 "it could not be built: $folder/log says why"
fi
