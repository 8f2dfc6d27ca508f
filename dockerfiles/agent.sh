# Removes everything that reveals another commit from the image that agents work in: earlier and later history, a data
# set's patches, package caches, second copies of the project. Prints what it could not remove, and fails then.
set -eu
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
cd "$ROOT"

. /run/agent/base-only.sh

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

remove_answers
rm -rf /root/.cache/pip /root/.cache/uv /root/.npm/_cacache /home/*/.cache/pip /home/*/.cache/uv /home/*/.npm/_cacache
rm -rf /root/.bash_history /home/*/.bash_history

# The harness's own repository of the tree, where the agent does not meet it.
mkdir -p "$(dirname "$STORE")"
sh /run/agent/open.sh || { echo "the harness's repository cannot be made"; exit 1; }
chown -R "$OWNER": "$STORE" .git
chown "$OWNER": "$(dirname "$STORE")"

problems=$(sh /run/agent/check.sh; sh /run/agent/check.sh packages) || true
[ -z "$problems" ] || { echo "$problems"; exit 1; }
