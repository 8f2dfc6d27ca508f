# The image in which patches are graded that change what the project asks for: an instance's image, and the packages for
# which its gold and test patches ask. Solvers never see it.
FROM @PARENT@ AS work
RUN --mount=type=bind,target=/build --mount=type=secret,id=settings --mount=type=secret,id=ca --mount=type=cache,target=/root/.cache/uv --mount=type=cache,target=/root/.npm sh /build/grading.sh

FROM @PARENT@
COPY --from=work /removed /tmp/removed
RUN cd / && xargs -0 -r rm -rf -- < /tmp/removed && rm /tmp/removed
COPY --from=work /delta/ /
