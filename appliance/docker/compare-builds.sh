#!/usr/bin/env bash
# Builds images twice, and compares them: compare-builds.sh [service ...]
# The second build has a Docker daemon of its own, as root, with nothing in its cache. Where no
# registry can be reached, it makes the base image again, too. Prints the digest of each image; if
# two images differ, prints their layers, and exits with 1.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
services=("$@")
# Media is omitted: the worker for WebRTC takes ten minutes or more.
((${#services[@]})) || services=(database scheduler management engine tools)
export EYRIE_VERSION=comparison
unset EYRIE_PLATFORM

work=$(mktemp -d)
stop() {
  "$here/provide-docker.sh" --stop "$work/docker"
  rm -rf "$work"
}
trap stop EXIT
second=unix://$work/docker/socket

"$here/build.sh" "${services[@]}"
DOCKER_HOST=$second "$here/provide-docker.sh" "$work/docker" >/dev/null
# Two daemons would give the same addresses to their containers.
DOCKER_HOST=$second EYRIE_BUILD_OPTIONS="${EYRIE_BUILD_OPTIONS:-} --network host" "$here/build.sh" "${services[@]}"

list_layers() { docker image inspect --format '{{range .RootFS.Layers}}{{println .}}{{end}}' "$1"; }
failed=false
for service in "${services[@]}"; do
  image=eyrie/$service:$EYRIE_VERSION
  digest=$(docker image inspect --format '{{.Id}}' "$image")
  if [[ $digest == "$(DOCKER_HOST=$second docker image inspect --format '{{.Id}}' "$image")" ]]; then
    echo "$service: both builds have $digest"
  else
    echo "$service: the builds differ; layers of the first and of the second:" >&2
    diff --side-by-side --width 150 <(list_layers "$image") <(DOCKER_HOST=$second list_layers "$image") >&2 || true
    failed=true
  fi
done
! $failed
