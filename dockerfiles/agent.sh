# Leaves, in the image that agents work in, one commit and nothing that tells of another: no earlier or later history,
# no patch of a data set, no package cache, no second copy of the project. Ends with what it could not put right.
set -eu
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
cd "$ROOT"

squash() {
    # Fixed names and dates: the same tree has the same id everywhere, and the id tells nothing of the original.
    export GIT_AUTHOR_NAME=Assay GIT_AUTHOR_EMAIL=assay@localhost GIT_AUTHOR_DATE=2000-01-01T00:00:00Z
    export GIT_COMMITTER_NAME=Assay GIT_COMMITTER_EMAIL=assay@localhost GIT_COMMITTER_DATE=2000-01-01T00:00:00Z
    common=$(cd "$(git rev-parse --git-common-dir)" && pwd)
    # What an image has changed of its tracked files belongs to what the agent is given, not to what it does.
    git add --update
    tree=$(git write-tree)
    made=$(mktemp -d)
    git init --quiet --template= "$made"
    echo "$common/objects" > "$made/.git/objects/info/alternates"
    git -C "$made" symbolic-ref HEAD refs/heads/main
    git -C "$made" update-ref refs/heads/main "$(git -C "$made" commit-tree -m base "$tree")"
    # Without -l this takes the objects over from the repository that is to go, those of this commit and no other.
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
# Neither does what lies untracked in the tree.
git ls-files --others --exclude-standard --directory --no-empty-directory | sed 's|^|/|; s|/$||' >> .git/info/exclude
git config core.logAllRefUpdates false
git config core.checkStat minimal
git config core.trustctime false
git config core.pager cat
git config user.name agent
git config user.email agent@localhost
git config gc.auto 0

# Images of some data sets hold the answer beside the tree: the fix, the tests, and the scripts that run them.
rm -rf /home/*.patch /home/*.diff /home/*.sh /eval.sh /run_script.sh /parser.py
rm -rf /root/.cache/pip /root/.cache/uv /root/.npm/_cacache /home/*/.cache/pip /home/*/.cache/uv /home/*/.npm/_cacache
rm -rf /root/.bash_history /home/*/.bash_history

# The harness's own view of the tree, out of the agent's way.
mkdir -p "$(dirname "$STORE")"
sh /run/agent/open.sh
chown -R "$OWNER": "$STORE" .git
chown "$OWNER": "$(dirname "$STORE")"

problems=$(sh /run/agent/check.sh; sh /run/agent/check.sh packages) || true
[ -z "$problems" ] || { echo "$problems"; exit 1; }
