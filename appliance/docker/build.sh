#!/usr/bin/env bash
# Builds the images of Eyrie for this machine and prints their sizes: build.sh [service ...]
#   EYRIE_VERSION     tag of the images; latest by default
#   EYRIE_PLATFORM    another platform, linux/arm64 or linux/amd64. It is added to the
#                     tag: latest-arm64
#   DEBIAN            the base image; where no registry can be reached, base-image.sh makes one
#                     from Debian's archive
#   EYRIE_BUILD_OPTIONS    further options of docker buildx build
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
version=${EYRIE_VERSION:-latest}
services=("$@")
((${#services[@]})) || services=(database scheduler management engine media tools)

# Largest sizes in MB: what is downloaded to a box by a mobile network, and what an update keeps
# twice.
declare -A max_mb=([media]=450 [engine]=450 [management]=250 [scheduler]=250)

options_given=()
[[ -z ${EYRIE_BUILD_OPTIONS:-} ]] || read -ra options_given <<<"$EYRIE_BUILD_OPTIONS"
# A fixed time of creation, so that the same sources give the same digest.
options=(--file "$here/Dockerfile" --build-arg SOURCE_DATE_EPOCH=1767225600 --build-arg "REVISION=$(git -C "$root" rev-parse HEAD 2>/dev/null || echo unknown)")
# Networks that inspect TLS have an authority of their own.
[[ -z ${NODE_EXTRA_CA_CERTS:-} ]] || options+=(--secret "id=certificates,src=$NODE_EXTRA_CA_CERTS")

own=$(docker version --format '{{.Server.Arch}}')
architecture=${EYRIE_PLATFORM:-linux/$own}
architecture=${architecture#linux/}
base=$("$here/base-image.sh" "${DEBIAN:-debian:trixie-slim}")
options+=(--build-arg "BUILD_DEBIAN=$base")
if [[ $architecture != "$own" ]]; then
  "$here/provide-emulation.sh" "$architecture"
  version=$version-$architecture
  base=$("$here/base-image.sh" "${DEBIAN:-debian:trixie-slim}" "$architecture")
fi
options+=(--platform "linux/$architecture" --build-arg "DEBIAN=$base")

failed=false
for service in "${services[@]}"; do
  docker buildx build "${options[@]}" "${options_given[@]}" --target "$service" --tag "eyrie/$service:$version" --load "$root"
done
for service in "${services[@]}"; do
  megabytes=$(($(docker image inspect --format '{{.Size}}' "eyrie/$service:$version") / 1000000))
  limit=${max_mb[$service]:-}
  printf '%-12s %4d MB%s\n' "$service" "$megabytes" "${limit:+ of $limit}"
  if [[ -n $limit ]] && ((megabytes > limit)); then
    echo "the image of $service is larger than $limit MB" >&2
    failed=true
  fi
done
! $failed
