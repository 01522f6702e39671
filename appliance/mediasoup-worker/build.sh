#!/usr/bin/env bash
# Builds mediasoup's worker from the sources inside its npm package, with Debian's libraries in the place of those that
# the sources would download. Nothing is fetched. Takes about nine minutes on two cores; if it is stopped, it goes on
# the next time.
#   build.sh <folder of the npm package mediasoup> <folder to build in> <executable to write>
set -euo pipefail
package=$(readlink -f "${1:?folder of the npm package mediasoup}")
mkdir -p "${2:?folder to build in}"
work=$(readlink -f "$2")
executable=$(readlink -m "${3:?executable to write}")
here=$(cd "$(dirname "$0")" && pwd)
source=$work/source

prepare() {
  rm -rf "$source" "$work/build"
  cp -r "$package/worker" "$source"
  rm -rf "$source/subprojects"
  cp -r "$here/debian" "$source/subprojects"
  cd "$source"

  # Debian 12 has Meson 1.0.1, which suffices.
  sed -i "s/meson_version: '>= 1.1.0'/meson_version: '>= 1.0.1'/" meson.build

  # The worker's BIO callback answers 1 to whatever OpenSSL asks through it, also to whether the kernel does TLS. Debian's
  # OpenSSL asks, unlike the bundled one, believes it, and crashes at the first write of a DTLS connection: pass the answer on.
  dtls=src/RTC/DtlsTransport.cpp
  sed -i 's/(operationType == BIO_CB_RETURN) ?/((operationType \& BIO_CB_RETURN) != 0) ?/' "$dtls"
  grep -q 'operationType & BIO_CB_RETURN' "$dtls" || {
    echo "error: $dtls has changed: the answer of its BIO callback cannot be corrected" >&2
    exit 1
  }

  meson setup "$work/build" --wrap-mode=nodownload --buildtype=release -Db_ndebug=true
}

# The last that is made of what Ninja needs.
[[ -f $work/build/build.ninja ]] || prepare
ninja -C "$work/build" mediasoup-worker
mkdir -p "$(dirname "$executable")"
# Written beside and renamed, so that nobody ever starts half an executable.
install -m 755 -s "$work/build/mediasoup-worker" "$executable.new"
mv "$executable.new" "$executable"
rm -rf "$source" "$work/build"
