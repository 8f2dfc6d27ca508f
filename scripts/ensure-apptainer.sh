#!/bin/sh
# Makes sure that apptainer, or singularity, which has the same command line, can be run, and prints the folder it is in.
# Debian 12 has neither, so this builds SingularityCE from its Go module, which takes about ten minutes. Needs Go, a C
# compiler and, for Debian's packages, root.
# Usage: export PATH=$(scripts/ensure-apptainer.sh [FOLDER]):$PATH
set -eu
for name in apptainer singularity; do
    ! found=$(command -v $name) || { dirname "$found"; exit; }
done
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/assay-singularity}
version=4.1.5

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

build() {
    # squashfs-tools writes images; squashfuse and fuse-overlayfs read them without root.
    as_root apt-get install -qy --no-install-recommends \
        libseccomp-dev pkg-config squashfs-tools squashfuse fuse-overlayfs uidmap
    module=$(cd / && go mod download -json "github.com/sylabs/singularity/v4@v$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    cp -r "$module/." "$scratch"
    chmod -R u+w "$scratch"
    cd "$scratch"
    # A module has no file modes and no tags.
    find . \( -name mconfig -o -path './makeit/*' -o -path './mlocal/*' -o -path './scripts/*' \) -type f -exec chmod +x {} +
    echo $version > VERSION
    # The build empties its cache, so it gets one of its own.
    export GOCACHE="$scratch/.cache"
    ./mconfig --without-suid --without-conmon --without-squashfuse --prefix="$folder"
    make -C builddir
    make -C builddir install
    # Where systemd does not run, the program sets control groups itself.
    [ -d /run/systemd/system ] || "$folder/bin/singularity" config global --set 'systemd cgroups' no
}

[ -x "$folder/bin/singularity" ] || {
    mkdir -p "$folder"
    build > "$folder/build.log" 2>&1 || { tail -5 "$folder/build.log" >&2; exit 1; }
}
echo "$folder/bin"
