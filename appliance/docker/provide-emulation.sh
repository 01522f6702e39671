#!/usr/bin/env bash
# Makes sure that this machine runs programs for another architecture, by emulation:
# provide-emulation.sh <amd64 or arm64>
# On Debian, installs QEMU where it is missing, as root.
set -euo pipefail
case ${1:?amd64 or arm64} in
  amd64) emulator=qemu-x86_64 ;;
  arm64) emulator=qemu-aarch64 ;;
  *) echo "unsupported architecture $1" >&2 && exit 1 ;;
esac
formats=/proc/sys/fs/binfmt_misc
# The flag F: the emulator stays open, so that it is found in containers.
is_ready() { grep -qs '^flags: .*F' "$formats/$emulator"; }
! is_ready || exit 0

((EUID == 0)) || { echo "programs for $1 need $emulator, and installing it requires root: apt-get install qemu-user-static binfmt-support" >&2 && exit 1; }
[[ -e $formats/register ]] || mount -t binfmt_misc binfmt_misc "$formats"
if ! command -v update-binfmts >/dev/null || ! command -v "${emulator}-static" >/dev/null; then
  apt-get update -q >&2
  DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends qemu-user-static binfmt-support arch-test >&2
fi
update-binfmts --enable "$emulator"
is_ready || { echo "$emulator was not registered with the flag F: see update-binfmts --display $emulator" >&2 && exit 1; }
