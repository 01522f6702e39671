#!/usr/bin/env bash
# Provides the base image, and prints its name: base-image.sh [name] [architecture]
# Pulls it, or makes an equal one from Debian's archive where no registry can be reached. Does
# nothing if the image exists. An image for another architecture gets a name of its own, because
# Docker keeps one architecture for a name.
set -euo pipefail
image=${1:-debian:trixie-slim}
own=$(docker version --format '{{.Server.Arch}}')
architecture=${2:-$own}
archive=${DEBIAN_ARCHIVE:-http://deb.debian.org/debian}
made=$image
if [[ $architecture != "$own" ]]; then
  # Where a registry can be reached, the build pulls the image.
  if docker buildx imagetools inspect "$image" >/dev/null 2>&1; then
    echo "$image"
    exit 0
  fi
  made=eyrie/${image//[:\/]/-}:$architecture
fi
echo "$made"
! docker image inspect "$made" >/dev/null 2>&1 || exit 0
[[ $made != "$image" ]] || ! docker pull --quiet "$image" >/dev/null 2>&1 || exit 0

command -v mmdebstrap >/dev/null || {
  echo "$image cannot be pulled, and making it requires mmdebstrap: apt-get install mmdebstrap" >&2
  exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# What Debian leaves out of its slim images.
excluded=()
for path in doc man locale info groff lintian linda; do excluded+=(--dpkgopt="path-exclude=/usr/share/$path/*"); done
echo "making $made from $archive, because no registry can be reached" >&2
SOURCE_DATE_EPOCH=1767225600 mmdebstrap --quiet --variant=minbase --architectures="$architecture" --aptopt='Acquire::Languages "none"' \
  "${excluded[@]}" --dpkgopt='path-include=/usr/share/doc/*/copyright' trixie "$work/base.tar" "$archive"
# Unlike docker import, a build records a given time, so that the same packages give the same
# digest.
printf 'FROM scratch\nADD base.tar /\nCMD ["bash"]\n' >"$work/Dockerfile"
docker buildx build --quiet --platform "linux/$architecture" --build-arg SOURCE_DATE_EPOCH=1767225600 \
  --tag "$made" --load "$work" >/dev/null
