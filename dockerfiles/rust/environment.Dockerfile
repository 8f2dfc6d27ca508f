# The crates that a tree's Cargo files name. Many instances share one environment.
FROM @PARENT@ AS base
@SYSTEM_PACKAGES@
RUN useradd --uid 1000 --non-unique --create-home --shell /bin/bash assay \
 && git config --system --add safe.directory /testbed
# Starts a test program for cargo. What its test harness writes into a file of its own goes to the end of the report,
# in the form of cargo's output; what the tests print to their output does not. A program that was to run one test and
# ends with 0 before its harness has told of any has failed.
RUN printf '%s\n' \
    '#!/bin/sh' \
    'case "${ASSAY_REPORT:-none} $* " in "none "* | *" --list "*) exec "$@" ;; esac' \
    'case $1 in */deps/*) ;; *) exec "$@" ;; esac' \
    'log=$(mktemp)' \
    '"$@" --logfile "$log"' \
    'status=$?' \
    'case " $* " in *" --exact "*) [ "$status" -ne 0 ] || [ -s "$log" ] || status=1 ;; esac' \
    '{' \
    '    echo' \
    '    echo "running $(wc -l < "$log") tests"' \
    '    sed -n -e "s/^ok \([^ ]*\)$/test \1 ... ok/p" -e "s/^failed.* \([^ ]*\)$/test \1 ... FAILED/p" \' \
    '        -e "s/^ignored.* \([^ ]*\)$/test \1 ... ignored/p" "$log"' \
    '} >> "$ASSAY_REPORT"' \
    'exit "$status"' \
    > /usr/local/bin/run-tests && chmod 755 /usr/local/bin/run-tests
# Lints are for the compiler of the time, and debug information for debuggers.
ENV CARGO_HOME=/opt/cargo \
    CARGO_TARGET_DIR=/opt/target \
    CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=/usr/local/bin/run-tests \
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=/usr/local/bin/run-tests \
    CARGO_INCREMENTAL=0 \
    CARGO_PROFILE_DEV_DEBUG=0 \
    CARGO_TERM_COLOR=never \
    RUSTFLAGS=--cap-lints=warn

# Everything that a download needs stays in this stage.
FROM base AS work
RUN --mount=type=bind,target=/build --mount=type=secret,id=settings --mount=type=secret,id=ca --mount=type=cache,target=/root/.cache/cargo sh /build/environment.sh

FROM base
COPY --from=work /opt /opt
