# Brings /testbed from the parent's tree, if it has one, to the tree in /build, and installs or pre-builds the project in
# it, without network. Changes of files there and below /opt go to /delta and /removed for the last stage.
set -eu
[ ! -e /build/project.sh ] || . /build/project.sh

mkdir -p /testbed /delta
# Type and path, so that a folder that becomes a file counts as removed.
present() { (cd / && find testbed opt -printf '%y %p\0' | LC_ALL=C sort -z); }
present > /tmp/before
touch /tmp/start

# Changed files get the present time, by which build tools see that their products are out of date.
# A submodule of another commit is emptied: it is the recipe that fills it.
cd /testbed
xargs -0 -r rm -rf -- < /build/tree/removed
tar --extract --no-same-owner --touch --unlink-first --recursive-unlink --file /build/tree/changed.tar

# One commit only: no other history, no remote, no reflog, and the same id for the same tree.
export GIT_AUTHOR_NAME=Assay GIT_AUTHOR_EMAIL=assay@localhost GIT_AUTHOR_DATE=2000-01-01T00:00:00Z
export GIT_COMMITTER_NAME=Assay GIT_COMMITTER_EMAIL=assay@localhost GIT_COMMITTER_DATE=2000-01-01T00:00:00Z
if [ ! -e .git ]; then
    git init --quiet --template=
    git symbolic-ref HEAD refs/heads/main
    git config core.logAllRefUpdates false
    # Image layers change inodes; this keeps the index valid.
    git config core.checkStat minimal
    git config core.trustctime false
    # Objects stay in files of their own, so that layers can share them.
    git config gc.auto 0
    mkdir -p .git/info
    # Whatever the tree's attributes say, its files are the base commit's objects byte for byte.
    echo '* -text !eol !crlf !ident !filter !working-tree-encoding' > .git/info/attributes
fi
# A submodule's link is left out: git would hide from all that follows what is below it.
cat /build/tree/removed /build/tree/changed | git update-index --add --remove --replace -z --stdin
git update-ref refs/heads/main "$(git commit-tree -m base "$(git write-tree)")"
git prune --expire=now
: > .git/info/exclude

# Programs that start tests or report their results; a patch cannot change them.
[ ! -e /build/runner ] || install -D --mode=755 --target-directory=/opt/assay /build/runner/*

[ ! -e /build/install.sh ] || . /build/install.sh
cd /testbed
[ ! -e /build/compile.sh ] || . /build/compile.sh

# The tree must equal its commit: tracked files are restored, new ones hidden from git.
cd /testbed
git diff --quiet || git checkout --quiet -- .
git ls-files --others --exclude-standard --directory --no-empty-directory | sed 's|^|/|; s|/$||' >> .git/info/exclude
find . ! -user assay -exec chown -h assay: {} +

present > /tmp/after
LC_ALL=C comm -z -23 /tmp/before /tmp/after | sed -z 's/^..//' > /removed
(cd / && find testbed opt -cnewer /tmp/start -print0) > /tmp/changed
tar --create --directory / --no-recursion --null --files-from /tmp/changed | tar --extract --same-owner --directory /delta
