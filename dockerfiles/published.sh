# Reduces a published image's repository to its base commit and hands the image over to $OWNER: the repository, root's
# home, the caches of package clients, and what only root could read. Fails where tests cannot run as that user.
set -eu
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
cd "$ROOT"
# What the row's script does as root outside of the repository, such as generating a locale.
bash /run/assay/system.sh || true

# A tree without a repository gets one, so that changes can be listed and put back.
git rev-parse -q --verify HEAD > /dev/null 2>&1 || {
    git init -q && git add -f -A
    git -c user.name=assay -c user.email=assay@localhost commit -q --allow-empty -m base
}

. /run/assay/base-only.sh
apply_base /run/assay/base.patch
squash
remove_answers
# Some images make every file executable; a patch must not look as if it had done that.
git -c core.fileMode=true diff --name-only -z | xargs -0 -r rm -f --
git checkout-index --all --quiet
git update-index -q --refresh || true
git ls-files --others --exclude-standard --directory --no-empty-directory | sed 's|^|/|; s|/$||' >> .git/info/exclude
git config core.logAllRefUpdates false
# Image layers change inodes; this keeps the index valid.
git config core.checkStat minimal
git config core.trustctime false
git config --system --add safe.directory "$ROOT"

# Programs that start tests or report their results; a patch cannot change them.
[ ! -e /run/assay/runner ] || install -D --mode=755 --target-directory=/opt/assay /run/assay/runner/*
problems=$(sh /run/assay/check.sh) || { echo "$problems"; exit 1; }
[ "$OWNER" != root ] || exit 0

for program in bash setpriv getent; do
    command -v "$program" > /dev/null || { echo "there is no $program"; exit 1; }
done
# Tools and caches in root's home are found there by the tests' user, too.
if ! getent passwd "$OWNER" > /dev/null; then
    echo "$OWNER:x:1000:1000::/root:/bin/bash" >> /etc/passwd
    echo "$OWNER:x:1000:" >> /etc/group
fi
for folder in "$ROOT" /root "${GOPATH-}" "${GOCACHE-}" "${CARGO_HOME-}" "${GRADLE_USER_HOME-}" "${BUNDLE_PATH-}"; do
    [ ! -d "$folder" ] || chown -R "$OWNER": "$folder"
done
find /opt /usr/local /home /srv -xdev \( -type d ! -perm -0005 -o -type f ! -perm -0004 \) -exec chmod a+rX {} +
setpriv --reuid="$OWNER" --regid="$OWNER" --init-groups test -r "$ROOT/.git/HEAD" -a -w "$ROOT"
