#!/bin/bash
# Installs the workbench that run.mjs drives (code-server 4.100.3, VS Code 1.100) into a cache folder, from npm alone.
#   setup.sh            does nothing when it is there already
#   setup.sh --where    prints the folder, installs nothing
# Needs node 20 with its headers, npm, python3, make, g++, and Debian's ripgrep and chromium.
# ULLAGE_WORKBENCH_DIR moves the cache; NODEDIR says where include/node/node.h is.
set -euo pipefail

version=4.100.3
cache=${ULLAGE_WORKBENCH_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/ullage-workbench}
# Another recipe or another node is another folder: argon2 is compiled for this one.
key=$(sha256sum "${BASH_SOURCE[0]}" | cut -c1-12)-node$(node -p 'process.versions.node')-$(uname -m)
target=$cache/$key

if [ "${1:-}" = --where ]; then echo "$target"; exit 0; fi
if [ -x "$target/node" ]; then echo "workbench: $target (present)"; exit 0; fi

for tool in rg g++ make python3; do
  command -v "$tool" >/dev/null || { echo "setup.sh: $tool is missing (apt-get install ripgrep g++ make python3)" >&2; exit 1; }
done
node_path=$(readlink -f "$(command -v node)")
# npm would download the headers from nodejs.org otherwise.
export npm_config_nodedir=${NODEDIR:-$(dirname "$(dirname "$node_path")")}
if [ ! -f "$npm_config_nodedir/include/node/node.h" ]; then
  echo "setup.sh: no node headers under $npm_config_nodedir; set NODEDIR" >&2; exit 1
fi
export npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false

mkdir -p "$cache"
# Built aside and renamed when complete: an interrupted or a second set-up leaves no half workbench.
build=$(mktemp -d "$cache/.build-XXXXXX")
trap 'rm -rf "$build"' EXIT

step() {
  local name=$1 start=$SECONDS; shift
  if ! "$@" >"$build/$name.log" 2>&1; then
    echo "setup.sh: step $name failed" >&2; tail -20 "$build/$name.log" >&2; exit 1
  fi
  echo "  $name: $((SECONDS - start)) s"
}

echo "workbench: $target"
cd "$build"
echo '{"name":"workbench","private":true}' >package.json
# code-server's own postinstall would build everything there is; this is what the workbench needs to start.
step code-server npm install --ignore-scripts "code-server@$version"
vscode=$build/node_modules/code-server/lib/vscode
cd "$vscode"
step vscode-dependencies npm install --omit=dev --ignore-scripts   # pinned by the shrinkwrap that ships with it
# For terminals. Not `npm rebuild`: what the package does after that asks for a node-gyp of its own.
step node-pty node "$(npm root -g)/npm/node_modules/node-gyp/bin/node-gyp.js" rebuild -C node_modules/node-pty
cd "$build"
# Imported at start-up, even without a password. Run by npm, its own settings forbid scripts.
step argon2 npm rebuild --ignore-scripts=false argon2
mkdir -p "$vscode/node_modules/@vscode/ripgrep/bin"
ln -sfn "$(command -v rg)" "$vscode/node_modules/@vscode/ripgrep/bin/rg"
# @vscode/spdlog is left unbuilt (90 s): without it only the Output panel is empty.
step start node node_modules/code-server/out/node/entry.js --config "$build/config.yaml" --version
ln -sfn "$node_path" "$build/node"

mv -T "$build" "$target" 2>/dev/null || [ -x "$target/node" ]
trap - EXIT
rm -rf "$build"
