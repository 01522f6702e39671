#!/usr/bin/env bash
# Runs the test of the containers: provides Docker, builds the images with two tags, and drives
# them. Called by make test-compose.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
folder=${EYRIE_DOCKER_FOLDER:-$root/.toolchain/docker}
DOCKER_HOST=$(appliance/docker/provide-docker.sh "$folder")
export DOCKER_HOST
# A daemon that was running before, or that is kept for the next run, is left alone.
[[ -n ${EYRIE_DOCKER_FOLDER:-} || $DOCKER_HOST != "unix://$folder/socket" ]] ||
  trap 'appliance/docker/provide-docker.sh --stop "$folder"' EXIT

EYRIE_VERSION=test-1 appliance/docker/build.sh database scheduler management engine media tools engine-media
# The same release again, as another version: its images differ in a label.
for service in database scheduler management engine media tools; do
  printf 'FROM eyrie/%s:test-1\nLABEL org.opencontainers.image.version=test-2\n' "$service" |
    docker build --quiet --tag "eyrie/$service:test-2" - >/dev/null
done
# The servers that the appliance talks to. The build above has provided the base image.
docker build --quiet --build-arg "DEBIAN=${DEBIAN:-debian:trixie-slim}" --tag eyrie/test-peers test/compose/peers >/dev/null
node test/compose/main.ts test-1 test-2
