# Usage: archive.sh PACKAGE VERSION. Fetches one version of a package into ./archive, by npm's own settings; no script runs.
set -eu
npm pack --silent --ignore-scripts "$1@$2" > packed 2> said || { grep -i 'err' said packed | sed 's/^/error: /' >&2; exit 1; }
mv ./*.tgz archive
