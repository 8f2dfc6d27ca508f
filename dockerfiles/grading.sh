# Fetches packages over the patched tree in /build, beside those of the parent. Only changes below /opt go to /delta and
# /removed for the last stage: nothing of the patches is kept.
set -eu
# Path, type and the rest, separated by a character that no path has.
listed() { (cd / && find opt -printf '%p\001%y\001%U %m %s %T@ %l\0' | LC_ALL=C sort -z); }
listed > /tmp/before
rm -rf /testbed
sh /build/environment.sh
listed > /tmp/after

# A folder that became a file counts as removed.
sed -z 's/\x01[^\x01]*$//' /tmp/before > /tmp/types-before
sed -z 's/\x01[^\x01]*$//' /tmp/after > /tmp/types-after
LC_ALL=C comm -z -23 /tmp/types-before /tmp/types-after | sed -z 's/\x01.*//' > /removed
LC_ALL=C comm -z -13 /tmp/before /tmp/after | sed -z 's/\x01.*//' > /tmp/changed
mkdir /delta
tar --create --directory / --no-recursion --null --files-from /tmp/changed | tar --extract --same-owner --directory /delta
