# Removes everything that reveals another commit from the image that agents work in: earlier and later history, a data
# set's patches, package caches, second copies of the project. Prints what it could not remove, and fails then.
set -eu
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
cd "$ROOT"

squash() {
    # Fixed names and dates: the same tree has the same id everywhere, and the id does not reveal the original.
    export GIT_AUTHOR_NAME=Assay GIT_AUTHOR_EMAIL=assay@localhost GIT_AUTHOR_DATE=2000-01-01T00:00:00Z
    export GIT_COMMITTER_NAME=Assay GIT_COMMITTER_EMAIL=assay@localhost GIT_COMMITTER_DATE=2000-01-01T00:00:00Z
    common=$(cd "$(git rev-parse --git-common-dir)" && pwd)
    # Changes that the image made to tracked files are part of the agent's start, not of its work.
    git add --update
    tree=$(git write-tree)
    made=$(mktemp -d)
    git init --quiet --template= "$made"
    echo "$common/objects" > "$made/.git/objects/info/alternates"
    git -C "$made" symbolic-ref HEAD refs/heads/main
    git -C "$made" update-ref refs/heads/main "$(git -C "$made" commit-tree -m base "$tree")"
    # Without -l this copies the objects of this commit only; the old repository is removed later.
    git -C "$made" repack -a -d -q
    rm "$made/.git/objects/info/alternates"
    mkdir -p "$made/.git/info"
    [ ! -f "$common/info/exclude" ] || cp "$common/info/exclude" "$made/.git/info/exclude"
    rm -rf .git "$common"
    find . -mindepth 2 -name .git -prune -exec rm -rf {} +
    mv "$made/.git" .git
    rmdir "$made"
    rm -rf .git/logs
    git read-tree HEAD
    git update-index -q --refresh || true
}

sh /run/agent/check.sh > /dev/null && git diff --quiet HEAD || squash
# Nor do untracked files in the tree.
git ls-files --others --exclude-standard --directory --no-empty-directory | sed 's|^|/|; s|/$||' >> .git/info/exclude
git config core.logAllRefUpdates false
git config core.checkStat minimal
git config core.trustctime false
git config core.pager cat
git config user.name agent
git config user.email agent@localhost
git config gc.auto 0

# Images of some data sets have the answer beside the tree: the fix, the tests, and the scripts that run them.
rm -rf /home/*.patch /home/*.diff /home/*.sh /eval.sh /run_script.sh /parser.py
rm -rf /root/.cache/pip /root/.cache/uv /root/.npm/_cacache /home/*/.cache/pip /home/*/.cache/uv /home/*/.npm/_cacache
rm -rf /root/.bash_history /home/*/.bash_history

# The harness's own repository of the tree, where the agent does not meet it.
mkdir -p "$(dirname "$STORE")"
sh /run/agent/open.sh
chown -R "$OWNER": "$STORE" .git
chown "$OWNER": "$(dirname "$STORE")"

problems=$(sh /run/agent/check.sh; sh /run/agent/check.sh packages) || true
[ -z "$problems" ] || { echo "$problems"; exit 1; }
