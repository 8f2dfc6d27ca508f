# Makes /testbed and installs or pre-builds the project in it, without a network; what came about there and below /opt
# is left below /delta for the last stage.
set -eu
touch /tmp/start
[ ! -e /build/project.sh ] || . /build/project.sh

mkdir -p /testbed
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
mkdir -p .git/info

# What starts and reports tests where a runner does not do it well enough by itself. Patches cannot reach it.
[ ! -e /build/runner ] || install -D --mode=755 --target-directory=/opt/assay /build/runner/*

. /build/install.sh

# The tree stays equal to its commit: tracked files go back, new ones are hidden from git.
cd /testbed
git diff --quiet || git checkout --quiet -- .
git ls-files --others --exclude-standard --directory --no-empty-directory | sed 's|^|/|; s|/$||' >> .git/info/exclude

mkdir /delta
(cd / && find opt -cnewer /tmp/start -print0) > /tmp/changed
tar --create --directory / --no-recursion --null --files-from /tmp/changed | tar --extract --same-owner --directory /delta
mv /testbed /delta/testbed
chown -R assay: /delta/testbed
