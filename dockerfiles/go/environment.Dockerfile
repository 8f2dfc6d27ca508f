# The modules in a tree's go.mod files. Many instances share one environment.
FROM @PARENT@ AS base
@SYSTEM_PACKAGES@
RUN useradd --uid 1000 --non-unique --create-home --shell /bin/bash assay \
 && git config --system --add safe.directory /testbed
ENV GOMODCACHE=/opt/go/mod \
    GOCACHE=/opt/go/build \
    GOPROXY=off \
    GOSUMDB=off \
    GOTOOLCHAIN=local \
    CGO_ENABLED=0

# Only this stage has the network settings.
FROM base AS work
RUN --mount=type=bind,target=/build --mount=type=secret,id=settings --mount=type=secret,id=ca --mount=type=cache,target=/root/.cache/go-mod sh /build/environment.sh

FROM base
COPY --from=work /opt /opt
