# Packs folder $1 into a tar archive, split into numbered files of $2 bytes in /pieces; prints their names.
set -eu
mkdir -p /pieces
rm -f /pieces/*
tar --create --owner=0 --group=0 --directory "$1" . | split --bytes="$2" --suffix-length=4 --numeric-suffixes - /pieces/
ls /pieces
