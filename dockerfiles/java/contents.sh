# Path of every file of the repository of artifacts, with its hash. Files that only say when they were fetched are left out.
if [ -d /opt/maven ]; then
    (cd /opt/maven && find . -type f ! -name _remote.repositories ! -name resolver-status.properties ! -name '*.lastUpdated' \
        ! -name 'maven-metadata*' -exec sha256sum {} +) | sed -E 's|^([0-9a-f]+) +[.]/(.*)|\2 sha256:\1|' | LC_ALL=C sort > packages
fi
