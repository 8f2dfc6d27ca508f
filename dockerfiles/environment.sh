# Fetches packages into /opt; the only step with network. If a language's packages depend on files of the tree, the tree
# is at its final path. Only /opt is kept.
set -eu
[ ! -e /run/secrets/settings ] || . /run/secrets/settings
mkdir -p /testbed
[ ! -e /build/tree ] || tar --extract --no-same-owner --file /build/tree/changed.tar --directory /testbed
cd /testbed
. /build/fetch.sh
