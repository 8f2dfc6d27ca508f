# Fetches packages into /opt: the only step that has a network. The tree, where the packages of a language depend on its
# files, lies where it will lie later; of all this only /opt is kept.
set -eu
[ ! -e /run/secrets/settings ] || . /run/secrets/settings
mkdir -p /testbed
[ ! -e /build/tree.tar ] || tar --extract --no-same-owner --file /build/tree.tar --directory /testbed
cd /testbed
. /build/fetch.sh
