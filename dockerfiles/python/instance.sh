# Makes /testbed and installs the project in it; what came about is left below /delta for the last stage.
set -eu
touch /tmp/start
export PYTHONDONTWRITEBYTECODE=1 PIP_NO_INDEX=1 PIP_NO_CACHE_DIR=1
. /build/project.sh

mkdir /testbed
tar --extract --no-same-owner --file /build/tree.tar --directory /testbed
cd /testbed

# One commit and nothing else: no earlier or later history, no remote, no reflog, the same id for the same tree.
export GIT_AUTHOR_NAME=Assay GIT_AUTHOR_EMAIL=assay@localhost GIT_AUTHOR_DATE=2000-01-01T00:00:00Z
export GIT_COMMITTER_NAME=Assay GIT_COMMITTER_EMAIL=assay@localhost GIT_COMMITTER_DATE=2000-01-01T00:00:00Z
git init --quiet --template=
git symbolic-ref HEAD refs/heads/main
git config core.logAllRefUpdates false
# Files get other inodes on their way through image layers; this keeps the index valid all the same.
git config core.checkStat minimal
git config core.trustctime false
git add --all --force
git -c gc.auto=0 commit --quiet --allow-empty --no-gpg-sign --message base
git repack -a -d -q
rm -f .git/COMMIT_EDITMSG

if [ -e /build/install.sh ]; then
    sh -eu /build/install.sh
else
    python /build/install.py "$BACKEND" "$BACKEND_PATH"
fi

# The tree stays equal to its commit: tracked files go back, new ones are hidden from git.
git diff --quiet || git checkout --quiet -- .
mkdir -p .git/info
echo __pycache__/ > .git/info/exclude
git ls-files --others --exclude-standard | sed 's|^|/|' >> .git/info/exclude

# Test data may be wrong Python on purpose, and pytest compiles test modules its own way.
env -u PYTHONDONTWRITEBYTECODE python -m compileall -q -j 0 -x '(^|/)(tests?|testing|docs?)/' . > /dev/null 2>&1 || true

mkdir /delta
(cd /opt/venv && find . -cnewer /tmp/start \( -type f -o -type l \) -print0) > /tmp/changed
tar --create --directory /opt/venv --null --files-from /tmp/changed | (mkdir -p /delta/opt/venv && tar --extract --directory /delta/opt/venv)
mv /testbed /delta/testbed
chown -R assay: /delta/testbed
