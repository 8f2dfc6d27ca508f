# A public image of a language with the programs of every environment.
FROM @IMAGE@
USER root
ENTRYPOINT []
WORKDIR /
RUN dpkg -s @PACKAGES@ > /dev/null 2>&1 \
 || (apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends @PACKAGES@ \
 && apt-get clean && rm -rf /var/lib/apt/lists/*)
