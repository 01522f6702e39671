#!/usr/bin/env bash
# Builds the mediasoup worker from the sources in its npm package. Uses the libraries of Debian
# instead of the ones that the sources would download, so that it needs no network. Takes about nine
# minutes on two cores. An interrupted build continues at the next call.
#   build.sh <folder of the npm package mediasoup> <folder to build in> <executable to write>
# CROSS_SYSTEM names another system to build for as Debian does, such as aarch64-linux-gnu; its
# compiler and libraries must be installed.
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

  # Debian 12 has Meson 1.0.1, which is sufficient.
  sed -i "s/meson_version: '>= 1.1.0'/meson_version: '>= 1.0.1'/" meson.build

  # The BIO callback of the worker returns 1 for every operation, including the query for kernel
  # TLS. Unlike the bundled OpenSSL, Debian's asks, believes it, and crashes at the first write of a
  # DTLS connection. Return the original result.
  dtls=src/RTC/DtlsTransport.cpp
  sed -i 's/(operationType == BIO_CB_RETURN) ?/((operationType \& BIO_CB_RETURN) != 0) ?/' "$dtls"
  grep -q 'operationType & BIO_CB_RETURN' "$dtls" || {
    echo "error: the patch of the BIO callback does not apply to $dtls of this mediasoup version" >&2
    exit 1
  }

  local cross=()
  if [[ -n ${CROSS_SYSTEM:-} ]]; then
    describe_cross_system >"$work/cross-system"
    cross=(--cross-file "$work/cross-system")
  fi
  meson setup "$work/build" --wrap-mode=nodownload --buildtype=release -Db_ndebug=true "${cross[@]}"
}

describe_cross_system() {
  local processor=${CROSS_SYSTEM%%-*}
  cat <<END
[binaries]
c = '$CROSS_SYSTEM-gcc'
cpp = '$CROSS_SYSTEM-g++'
ar = '$CROSS_SYSTEM-ar'
strip = '$CROSS_SYSTEM-strip'
pkg-config = 'pkg-config'

[properties]
pkg_config_libdir = ['/usr/lib/$CROSS_SYSTEM/pkgconfig', '/usr/share/pkgconfig']

[host_machine]
system = 'linux'
cpu_family = '$processor'
cpu = '$processor'
endian = 'little'
END
}

# Meson writes build.ninja last: without it the configuration is incomplete.
[[ -f $work/build/build.ninja ]] || prepare
# The generated headers first: libwebrtc includes them, but its build files do not say so.
ninja -C "$work/build" fbs/FBS/worker.h
ninja -C "$work/build" mediasoup-worker
mkdir -p "$(dirname "$executable")"
# The executable appears atomically, so that media never starts an incomplete one.
install -m 755 -s --strip-program "${CROSS_SYSTEM:+$CROSS_SYSTEM-}strip" "$work/build/mediasoup-worker" "$executable.new"
mv "$executable.new" "$executable"
rm -rf "$source" "$work/build"
