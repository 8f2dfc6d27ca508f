#!/bin/sh
# Makes sure that a container engine answers, and that environments can be bootstrapped without a container registry.
# Uses the engine that is there; else installs docker.io with apt and starts dockerd in a session of its own.
# Never starts a second dockerd: one that is coming up is waited for.
set -eu

log=${TMPDIR:-/tmp}/assay-dockerd.log

answers() { docker version >/dev/null 2>&1; }

fail() { echo "ensure-engine: $*" >&2; exit 2; }

as_root_on_debian() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

install() {
    as_root_on_debian || fail "$1 is missing; install it, or run this as root on Debian or Ubuntu"
    echo "ensure-engine: installing $1" >&2
    apt-get update -qq >&2 || true
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$1" >"$log" 2>&1 ||
        fail "apt-get could not install $1; its output is in $log"
}

wait_for_engine() {
    for _ in $(seq 120); do
        if answers; then return 0; fi
        sleep 0.5
    done
    return 1
}

start_dockerd() {
    if pgrep -x dockerd >/dev/null 2>&1; then
        wait_for_engine || fail "a dockerd runs but does not answer; see what holds it up, or set DOCKER_HOST"
        return
    fi
    [ "$(id -u)" = 0 ] || fail "no container engine answers; start Docker, or set DOCKER_HOST"
    command -v dockerd >/dev/null || install docker.io
    # The package's own service may have started it in the meantime.
    if answers || pgrep -x dockerd >/dev/null 2>&1; then
        wait_for_engine || fail "dockerd was started by its package but does not answer"
        return
    fi
    rm -f /var/run/docker.pid
    echo "ensure-engine: starting dockerd (log: $log)" >&2
    setsid nohup dockerd >"$log" 2>&1 </dev/null &
    wait_for_engine || fail "dockerd does not come up; its log is $log"
}

if [ -n "${DOCKER_HOST:-}" ]; then
    answers || fail "the engine that DOCKER_HOST names does not answer"
elif ! answers; then
    start_dockerd
fi
command -v mmdebstrap >/dev/null || ! as_root_on_debian || install mmdebstrap
