# Usage: releases.sh PACKAGE. Writes ./archive: versions of a package, and when they came out, as JSON.
set -eu
npm view "$1" versions time --json > archive 2> said || { grep -h -i 'err' said archive | sed 's/^/error: /' >&2; exit 1; }
