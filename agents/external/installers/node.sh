# Builds $ASSAY_TOOL: Node.js with the C library of /opt/agents/runtime, and one program from npm.
set -eu
[ ! -e /run/secrets/settings ] || . /run/secrets/settings
case $(uname -m) in aarch64 | arm64) machine=arm64 ;; *) machine=x64 ;; esac
export npm_config_cache=/tmp/npm npm_config_update_notifier=false npm_config_fund=false npm_config_audit=false
mkdir -p "$ASSAY_TOOL/bin"
npm install --loglevel=error --no-progress --prefix /tmp/node --no-save "node-linux-$machine@$NODE"
cp "/tmp/node/node_modules/node-linux-$machine/bin/node" "$ASSAY_TOOL/bin/node"
runtime=/opt/agents/runtime
"$runtime/bin/patchelf" --force-rpath --set-rpath "$runtime/lib" "$ASSAY_TOOL/bin/node"
"$runtime/bin/patchelf" --set-interpreter "$runtime/lib/ld.so" "$ASSAY_TOOL/bin/node"
export PATH="$ASSAY_TOOL/bin:$PATH"
[ $# = 0 ] || npm install --loglevel=error --no-progress --global --prefix "$ASSAY_TOOL" "$@"
[ -z "$SCRIPT" ] || bash -euc "$SCRIPT"
# Programs must start with this Node.js, not with the image's.
find "$ASSAY_TOOL/bin" -type l | while read -r link; do
    file=$(readlink -f "$link")
    head -c 100 "$file" | head -n 1 | grep -aq '^#!.*node' || continue
    sed -i "1s|^#!.*|#!$ASSAY_TOOL/bin/node|" "$file"
done
