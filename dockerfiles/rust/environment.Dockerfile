# The crates in a tree's Cargo files. Many instances share one environment.
FROM @PARENT@ AS base
@SYSTEM_PACKAGES@
RUN useradd --uid 1000 --non-unique --create-home --shell /bin/bash assay \
 && git config --system --add safe.directory /testbed
# No lints, which are for the compiler of the time, and no debug information.
ENV CARGO_HOME=/opt/cargo \
    CARGO_TARGET_DIR=/opt/target \
    CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=/opt/assay/run-tests \
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=/opt/assay/run-tests \
    CARGO_INCREMENTAL=0 \
    CARGO_PROFILE_DEV_DEBUG=0 \
    CARGO_TERM_COLOR=never \
    RUSTFLAGS=--cap-lints=warn

# Only this stage has the network settings.
FROM base AS work
RUN --mount=type=bind,target=/build --mount=type=secret,id=settings --mount=type=secret,id=ca --mount=type=cache,target=/root/.cache/cargo sh /build/environment.sh

FROM base
COPY --from=work /opt /opt
