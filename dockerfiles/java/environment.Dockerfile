# The artifacts in a tree's build files. Many instances share one environment.
FROM @PARENT@ AS base
@SYSTEM_PACKAGES@
RUN useradd --uid 1000 --non-unique --create-home --shell /bin/bash assay \
 && git config --system --add safe.directory /testbed
# Maven itself runs for seconds, in which the second compiler costs more than it saves; tests have a process of their own.
ENV MAVEN_OPTS="-Dmaven.repo.local=/opt/maven -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

# Only this stage has the network settings.
FROM base AS work
RUN --mount=type=bind,target=/build --mount=type=secret,id=settings --mount=type=secret,id=ca --mount=type=cache,target=/root/.cache/central sh /build/environment.sh

FROM base
COPY --from=work /opt /opt
