#!/bin/sh
# Makes sure that there is a Chromium for the tests of the viewer: one that is there (tests/support/browser.py has their names), or
# Debian's, installed with apt.
set -eu

log=${TMPDIR:-/tmp}/assay-browser.log

fail() { echo "ensure-browser: $*" >&2; exit 2; }

for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then exit 0; fi
done
{ [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; } ||
    fail "chromium is missing; install it, or run this as root on Debian or Ubuntu"
echo "ensure-browser: installing chromium" >&2
apt-get update -qq >&2 || true
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >"$log" 2>&1 ||
    fail "apt-get could not install chromium; its output is in $log"
command -v chromium >/dev/null || fail "apt-get installed no chromium; its output is in $log"
