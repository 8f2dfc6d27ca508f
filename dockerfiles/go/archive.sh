# Fetches one version of a module, from where go is set to fetch from: archive.sh MODULE VERSION writes ./archive.
set -eu
[ -z "${HOST_GOPROXY:-}" ] || export GOPROXY="$HOST_GOPROXY"
# The data set's own sha256 is the check, so that no checksum database is asked; and nothing is built.
export GO111MODULE=on GOWORK=off GOSUMDB=off GOTOOLCHAIN=local GOFLAGS=-mod=mod
if ! go mod download -json "$1@$2" > answer; then
    sed -n 's/^[[:space:]]*"Error": "\(.*\)",*$/error: \1/p' answer >&2
    exit 1
fi
cp "$(sed -n 's/^[[:space:]]*"Zip": "\(.*\)",*$/\1/p' answer)" archive
