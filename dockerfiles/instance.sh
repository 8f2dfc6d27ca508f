# Creates /testbed and installs or pre-builds the project in it, without network. New files there and below /opt go to
# /delta for the last stage.
set -eu
touch /tmp/start
[ ! -e /build/project.sh ] || . /build/project.sh

mkdir -p /testbed
tar --extract --no-same-owner --file /build/tree.tar --directory /testbed
cd /testbed

# One commit only: no other history, no remote, no reflog, and the same id for the same tree.
export GIT_AUTHOR_NAME=Assay GIT_AUTHOR_EMAIL=assay@localhost GIT_AUTHOR_DATE=2000-01-01T00:00:00Z
export GIT_COMMITTER_NAME=Assay GIT_COMMITTER_EMAIL=assay@localhost GIT_COMMITTER_DATE=2000-01-01T00:00:00Z
git init --quiet --template=
git symbolic-ref HEAD refs/heads/main
git config core.logAllRefUpdates false
# Image layers change inodes; this keeps the index valid.
git config core.checkStat minimal
git config core.trustctime false
git add --all --force
git -c gc.auto=0 commit --quiet --allow-empty --no-gpg-sign --message base
git repack -a -d -q
rm -f .git/COMMIT_EDITMSG
mkdir -p .git/info

# Programs that start tests or report their results; a patch cannot change them.
[ ! -e /build/runner ] || install -D --mode=755 --target-directory=/opt/assay /build/runner/*

. /build/install.sh

# The tree must equal its commit: tracked files are restored, new ones hidden from git.
cd /testbed
git diff --quiet || git checkout --quiet -- .
git ls-files --others --exclude-standard --directory --no-empty-directory | sed 's|^|/|; s|/$||' >> .git/info/exclude

mkdir /delta
(cd / && find opt -cnewer /tmp/start -print0) > /tmp/changed
tar --create --directory / --no-recursion --null --files-from /tmp/changed | tar --extract --same-owner --directory /delta
mv /testbed /delta/testbed
chown -R assay: /delta/testbed
