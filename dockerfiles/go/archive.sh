# Usage: archive.sh MODULE VERSION. Fetches one version of a module into ./archive, by go's own settings.
set -eu
[ -z "${HOST_GOPROXY:-}" ] || export GOPROXY="$HOST_GOPROXY"
# The data set's sha256 is the check, so no checksum database is needed. Nothing is built.
export GO111MODULE=on GOWORK=off GOSUMDB=off GOTOOLCHAIN=local GOFLAGS=-mod=mod
if ! go mod download -json "$1@$2" > answer; then
    sed -n 's/^[[:space:]]*"Error": "\(.*\)",*$/error: \1/p' answer >&2
    exit 1
fi
cp "$(sed -n 's/^[[:space:]]*"Zip": "\(.*\)",*$/\1/p' answer)" archive
