# One repository at one commit, without network. Only what the parent lacks is added, so that neighbours share the rest.
# assay: network=none
FROM @PARENT@ AS work
RUN --mount=type=bind,target=/build sh /build/instance.sh

FROM @PARENT@
COPY --from=work /removed /tmp/removed
RUN cd / && xargs -0 -r rm -rf -- < /tmp/removed && rm /tmp/removed
COPY --from=work /delta/ /
WORKDIR /testbed
