#!/bin/sh
# Makes sure that Debian's podman answers on a socket, and prints the DOCKER_HOST under which it does. As root it is the
# rootful engine, as another user the rootless one.
# Usage: export DOCKER_HOST=$(scripts/ensure-podman.sh [FOLDER])
set -eu
folder=${1:-${XDG_RUNTIME_DIR:-/tmp/podman-$(id -u)}/assay-podman}
socket=$folder/podman.sock

answers() { curl --silent --fail --max-time 10 --unix-socket "$socket" http://podman/_ping > /dev/null 2>&1; }

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

answers || {
    # catatonit ends what is left in a container; slirp4netns and uidmap are for an engine without root.
    command -v podman > /dev/null || as_root apt-get install -qy --no-install-recommends \
        podman runc catatonit netavark aardvark-dns fuse-overlayfs slirp4netns uidmap > /dev/null
    mkdir -p "$folder"
    chmod 700 "$folder"
    set --
    # crun refuses a machine that has both versions of control groups; runc does not.
    ! mount | grep -q 'type cgroup (' || ! command -v runc > /dev/null || set -- --runtime runc
    rm -f "$socket"
    nohup podman --cgroup-manager cgroupfs "$@" system service --time 0 "unix://$socket" > "$folder/service.log" 2>&1 &
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        sleep 1
        ! answers || break
    done
    answers || { cat "$folder/service.log" >&2; exit 1; }
}
echo "unix://$socket"
