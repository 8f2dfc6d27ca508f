# Lists what an image holds in /tmp/contents: a file for each kind, a line for each thing with its version or hash. Files
# by which a language's client fetches the same packages again are copied from /opt/lock to the folder "locked".
set -eu
mkdir -p /tmp/contents
cd /tmp/contents
! command -v dpkg-query > /dev/null || dpkg-query --show --showformat '${Package} ${Version}\n' | LC_ALL=C sort > debian
[ ! -d /testbed/.git ] || git -c safe.directory=/testbed -C /testbed rev-parse HEAD | sed 's/^/HEAD /' > commit
[ ! -d /opt/lock ] || cp -R /opt/lock locked
. /build/language.sh
