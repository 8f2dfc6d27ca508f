# The artifacts in a tree's build files. Many instances share one environment.
FROM @PARENT@ AS base
@SYSTEM_PACKAGES@
RUN useradd --uid 1000 --non-unique --create-home --shell /bin/bash assay \
 && git config --system --add safe.directory /testbed
ENV MAVEN_OPTS=-Dmaven.repo.local=/opt/maven

# Only this stage has the network settings. Java reads its own store of certificates.
FROM base AS work
RUN --mount=type=secret,id=ca if [ -e /run/secrets/ca ]; then \
    csplit --quiet --elide-empty-files --prefix=/usr/local/share/ca-certificates/host- --suffix-format=%04d.crt \
      /run/secrets/ca '/-----BEGIN CERTIFICATE-----/' '{*}' && update-ca-certificates > /dev/null; fi
RUN --mount=type=bind,target=/build --mount=type=secret,id=settings --mount=type=secret,id=ca sh /build/environment.sh

FROM base
COPY --from=work /opt /opt
