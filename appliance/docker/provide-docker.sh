#!/usr/bin/env bash
# Makes sure that a Docker daemon answers, and prints the value of DOCKER_HOST for it:
# provide-docker.sh <folder>
# On Debian 12 and 13, installs a current Docker where it is missing, as root. Starts a daemon that
# keeps everything in the folder, unless one is running; `provide-docker.sh --stop <folder>` stops
# and removes it.
set -euo pipefail

if [[ ${1:-} == --stop ]]; then
  folder=${2:?folder}
  [[ ! -f $folder/pid ]] || kill "$(<"$folder/pid")"
  # The daemon removes the file at its end.
  while [[ -f $folder/pid ]]; do sleep 0.2; done
  rm -rf "$folder"
  exit 0
fi
folder=${1:?folder}
mkdir -p "$folder"

answers() { docker --host "$1" version >/dev/null 2>&1; }

install_docker() {
  ((EUID == 0)) || { echo 'Docker is missing, and installing it requires root: see https://docs.docker.com/engine/install' >&2 && exit 1; }
  . /etc/os-release
  # Debian 12 has no Compose: its Docker comes from Debian 13, and nothing else does.
  if [[ $VERSION_ID == 12 ]]; then
    cat >/etc/apt/sources.list.d/eyrie-docker.sources <<END
Types: deb
URIs: ${DEBIAN_ARCHIVE:-http://deb.debian.org/debian}
Suites: trixie
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
END
    cat >/etc/apt/preferences.d/eyrie-docker <<END
Package: *
Pin: release n=trixie
Pin-Priority: 50

Package: docker.io docker-cli docker-compose docker-buildx
Pin: release n=trixie
Pin-Priority: 990
END
  fi
  apt-get update -q >&2
  DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
    docker.io docker-cli docker-compose docker-buildx iptables mmdebstrap >&2
}

for host in "${DOCKER_HOST:-unix:///var/run/docker.sock}" "unix://$folder/socket"; do
  if answers "$host"; then
    echo "$host"
    exit 0
  fi
done
command -v dockerd >/dev/null && docker compose version >/dev/null 2>&1 && docker buildx version >/dev/null 2>&1 || install_docker
# A session of its own: Ctrl-C must not stop the daemon before its containers.
setsid dockerd --data-root "$folder/data" --exec-root "$folder/exec" --pidfile "$folder/pid" \
  --host "unix://$folder/socket" >"$folder/log" 2>&1 </dev/null &
for ((attempt = 0; attempt < 300; attempt++)); do
  if answers "unix://$folder/socket"; then
    echo "unix://$folder/socket"
    exit 0
  fi
  sleep 0.2
done
echo "Docker did not start: see $folder/log" >&2
exit 1
