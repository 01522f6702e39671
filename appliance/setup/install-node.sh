#!/usr/bin/env bash
# Installs Node and npm in the folder .toolchain. npm verifies both against the hashes in
# toolchain/package-lock.json, so that neither a mirror nor the registry can replace them. Does
# nothing if they are installed already.
#   install-node.sh <architecture: x64 or arm64> <folder>
set -euo pipefail
architecture=${1:?x64 or arm64}
folder=${2:?folder}
lock=$(cd "$(dirname "$0")" && pwd)/toolchain

list_required() { sed -nE "s/^ *\"(npm|node-linux-$architecture)\": \"([^\"]+)\".*/\1 \2/p" "$lock/package.json"; }

read_version() { sed -nE 's/^  "version": "([^"]+)".*/\1/p' "$folder/node_modules/$1/package.json" 2>/dev/null || true; }

list_missing() {
  while read -r package version; do
    [[ $(read_version "$package") == "$version" ]] || echo "$package $version"
  done < <(list_required)
}

[[ -n $(list_missing) ]] || exit 0
mkdir -p "$folder"
cp "$lock/package.json" "$lock/package-lock.json" "$folder"
npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund
# npm skips optional packages that it cannot download, or whose hashes differ. Node for the other
# architecture is optional.
missing=$(list_missing | paste -sd ,)
if [[ -n $missing ]]; then
  echo "Error: $missing could not be downloaded with the hash in appliance/setup/toolchain/package-lock.json" >&2
  exit 1
fi
