#!/usr/bin/env bash
# Downloads the mediasoup worker for the installed npm package, or builds it if the download fails
# or its hash is unknown. The build needs no download: the sources are in the npm package, whose
# hash is in package-lock.json. Does nothing if the worker exists already, or if another process is
# obtaining it. The file `state` next to the executable describes the progress. An interrupted build
# continues at the next call.
#   obtain.sh [--background] [folder]
#     folder          default: .toolchain/mediasoup-worker
#     --background    builds without slowing down other sessions; the script must be the
#                     only program of its session
set -euo pipefail
is_background=false
if [[ ${1:-} == --background ]]; then
  is_background=true
  shift
fi
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
archive_name=mediasoup-worker-$version-$platform-kernel$(uname -r | cut -d. -f1).tgz
archive=$releases/$version/$archive_name

# Without MEDIASOUP_VERSION in its environment, a worker that can run on this machine exits with 41
# (see its main.cpp).
is_runnable() {
  local status=0
  env -i "$1" >/dev/null 2>&1 || status=$?
  ((status == 41))
}

report() {
  echo "$1" >"$folder/state.new"
  mv "$folder/state.new" "$folder/state"
  echo "mediasoup worker: $1" >&3
}

download() {
  local hash
  hash=$(sed -nE "s/^([0-9a-f]{64})  ${archive_name//./\\.}$/\1/p" "$here/checksums.txt")
  if [[ -z $hash ]]; then
    echo "not downloaded: checksums.txt has no hash of $archive_name"
    return 1
  fi
  mkdir -p "$work/download"
  # As other programs do, Node then uses the proxy in http_proxy and https_proxy.
  NODE_USE_ENV_PROXY=1 PATH="$root/.toolchain/bin:$PATH" node "$here/download-file.ts" "$archive" "$work/worker.tgz" &&
    sha256sum --check <<<"$hash  $work/worker.tgz" &&
    tar -xzf "$work/worker.tgz" -C "$work/download" mediasoup-worker &&
    is_runnable "$work/download/mediasoup-worker" &&
    mv "$work/download/mediasoup-worker" "$executable"
}

list_missing_packages() {
  source "$root/appliance/setup/packages.sh"
  for name in "${worker_packages[@]}"; do
    is_installed "$name" || echo "$name"
  done
}

# Runs a command only while the processor and the disk are otherwise idle. The kernel shares the
# processor evenly between sessions (sched_autogroup), independently of the scheduling within them.
# Without the lower priority of the whole session, a build would slow down analysis despite
# SCHED_IDLE.
run_when_idle() {
  local prefix=()
  if $is_background && [[ -w /proc/self/autogroup ]]; then echo 19 >/proc/self/autogroup || true; fi
  if chrt --idle 0 true 2>/dev/null; then prefix+=(chrt --idle 0); else prefix+=(nice -n 19); fi
  if ionice -c idle true 2>/dev/null; then prefix+=(ionice -c idle); fi
  "${prefix[@]}" "$@"
}

mkdir -p "$folder"
work=$folder/work-$version
exec 9>"$folder/lock"
flock -n 9 || exit 0
if [[ -x $executable ]] && is_runnable "$executable"; then
  rm -f "$folder/state"
  exit 0
fi
exec 3>&2 >"$folder/log" 2>&1

finish() {
  rm -rf "$folder"/work-*
  report "$2"
  exit "$1"
}

report 'download in progress'
if download; then
  finish 0 'download complete'
fi
missing=$(list_missing_packages | paste -sd ' ')
if [[ -n $missing ]]; then
  finish 1 "no verified download, and the build requires Debian packages: apt-get install $missing, then run make worker"
fi
report 'build in progress, which takes ten minutes or more'
if run_when_idle "$here/build.sh" "$package" "$work" "$executable" && is_runnable "$executable"; then
  finish 0 'build complete'
else
  finish 1 "build failed: see $folder/log"
fi
