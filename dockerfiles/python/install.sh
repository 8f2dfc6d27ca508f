# Installs the project in editable mode.
export PYTHONDONTWRITEBYTECODE=1 PIP_NO_INDEX=1 PIP_NO_CACHE_DIR=1
if [ -e /build/commands.sh ]; then
    sh -eu /build/commands.sh
else
    python /build/install.py "$BACKEND" "$BACKEND_PATH"
fi
echo __pycache__/ >> .git/info/exclude
git diff --quiet || git checkout --quiet -- .
# Test data may be invalid Python on purpose, and pytest compiles test modules in its own way.
env -u PYTHONDONTWRITEBYTECODE python -m compileall -q -j 0 -x '(^|/)(tests?|testing|docs?)/' . > /dev/null 2>&1 || true
