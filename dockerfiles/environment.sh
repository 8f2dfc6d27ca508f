# Fetches packages into /opt; the only step with network. If a language's packages depend on files of the tree, the tree
# is at its final path. Only /opt is kept. In /opt/lock are the files by which the same packages are fetched again, and in
# its file "note" is what is not as of the date; a build from a lock finds them in /build/locked.
set -eu
[ ! -e /run/secrets/settings ] || . /run/secrets/settings
# Java reads its own store of certificates.
if [ -e /run/secrets/ca ] && command -v keytool > /dev/null; then
    csplit --quiet --elide-empty-files --prefix=/usr/local/share/ca-certificates/host- --suffix-format=%04d.crt \
        /run/secrets/ca '/-----BEGIN CERTIFICATE-----/' '{*}'
    update-ca-certificates > /dev/null
fi
mkdir -p /testbed
[ ! -e /build/tree ] || tar --extract --no-same-owner --file /build/tree/changed.tar --directory /testbed
mkdir -p /opt/lock
[ ! -d /build/locked ] || cp -R /build/locked/. /opt/lock
cd /testbed
. /build/fetch.sh
rmdir --ignore-fail-on-non-empty /opt/lock
