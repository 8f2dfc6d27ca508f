# One repository at the base commit, with the project installed, without network.
# assay: network=none
FROM @PARENT@ AS work
RUN --mount=type=bind,target=/build sh /build/instance.sh

FROM @PARENT@
COPY --from=work /delta/ /
WORKDIR /testbed
