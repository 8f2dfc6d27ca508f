# Installs the project in editable mode.
export PYTHONDONTWRITEBYTECODE=1 PIP_NO_INDEX=1 PIP_NO_CACHE_DIR=1
if [ -e /build/commands.sh ]; then
    sh -eu /build/commands.sh
else
    python /build/install.py "$BACKEND" "$BACKEND_PATH"
fi
