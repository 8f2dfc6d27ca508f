# Builds $ASSAY_TOOL: a virtual environment with the Python of /opt/agents/runtime and one program.
set -eu
[ ! -e /run/secrets/settings ] || . /run/secrets/settings
export UV_CACHE_DIR=/tmp/uv
mkdir -p "$ASSAY_TOOL"
/opt/agents/runtime/bin/python3 -I -m venv --without-pip "$ASSAY_TOOL"
printf '%s\n' $WITHOUT > /tmp/without
[ $# = 0 ] || /run/uv pip install --quiet --link-mode=copy --python "$ASSAY_TOOL/bin/python3" --excludes=/tmp/without "$@"
[ -z "$SCRIPT" ] || bash -euc "$SCRIPT"
# Modules in PYTHONPATH or in the working folder must not shadow the program's own.
grep -lIZ "^#!$ASSAY_TOOL/bin/python" "$ASSAY_TOOL"/bin/* | xargs -0 -r sed -i '1s|^#!\(.*/python[0-9.]*\)$|#!\1 -I|'
# The folder is mounted read-only, so modules that are not compiled now would be compiled at every start.
"$ASSAY_TOOL/bin/python3" -I -m compileall -q -j 0 "$ASSAY_TOOL/lib" > /dev/null 2>&1 || true
