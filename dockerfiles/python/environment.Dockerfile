# The packages of a lock. Many instances share one environment.
FROM @PARENT@ AS base
@SYSTEM_PACKAGES@
RUN useradd --uid 1000 --non-unique --create-home --shell /bin/bash assay \
 && git config --system --add safe.directory /testbed

# Only this stage has the network settings.
FROM base AS work
RUN --mount=type=bind,target=/build --mount=type=secret,id=settings --mount=type=secret,id=ca --mount=type=cache,target=/root/.cache/uv sh /build/environment.sh

FROM base
COPY --from=work /opt /opt
ENV VIRTUAL_ENV=/opt/venv \
    PATH=/opt/venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
