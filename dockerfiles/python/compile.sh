# Compiles the modules of a new tree, which the tests' user could not.
# Test data may be invalid Python on purpose, and pytest compiles test modules in its own way.
xargs -0 -r -n 1 sh -c 'rm -f -- "$(dirname "$0")/__pycache__/$(basename "$0" .py)".*.pyc' < /build/tree/removed
git diff --quiet || git checkout --quiet -- .
env -u PYTHONDONTWRITEBYTECODE python -m compileall -q -j 0 -x '(^|/)(tests?|testing|docs?)/' . > /dev/null 2>&1 || true
echo __pycache__/ >> .git/info/exclude
