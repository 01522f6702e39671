#!/usr/bin/env bash
# Provides the base image: base-image.sh [name]. Pulls it, or makes an equal one from Debian's archive where no registry can be reached.
# Does nothing if the image exists.
set -euo pipefail
image=${1:-debian:trixie-slim}
archive=${DEBIAN_ARCHIVE:-http://deb.debian.org/debian}
! docker image inspect "$image" >/dev/null 2>&1 || exit 0
! docker pull --quiet "$image" 2>/dev/null || exit 0

command -v mmdebstrap >/dev/null || {
  echo "$image cannot be pulled, and making it requires mmdebstrap: apt-get install mmdebstrap" >&2
  exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# What Debian leaves out of its slim images.
excluded=()
for path in doc man locale info groff lintian linda; do excluded+=(--dpkgopt="path-exclude=/usr/share/$path/*"); done
echo "making $image from $archive, because no registry can be reached" >&2
SOURCE_DATE_EPOCH=1767225600 mmdebstrap --quiet --variant=minbase --aptopt='Acquire::Languages "none"' "${excluded[@]}" \
  --dpkgopt='path-include=/usr/share/doc/*/copyright' trixie "$work/base.tar" "$archive"
docker import "$work/base.tar" "$image" >/dev/null
