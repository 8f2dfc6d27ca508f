# Packs folder $1 into numbered pieces below /pieces, each small enough to be read at once.
set -eu
mkdir -p /pieces
rm -f /pieces/*
tar --create --owner=0 --group=0 --directory "$1" . | split --bytes="$2" --suffix-length=4 --numeric-suffixes - /pieces/
ls /pieces
