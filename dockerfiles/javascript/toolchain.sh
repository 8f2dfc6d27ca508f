# Sets up a node that was unpacked into /usr/local, in the new system, over the distribution's.
cd /usr/local
rm -rf CHANGELOG.md LICENSE README.md package.json share/doc share/man
node --version
# The node of older distributions finds modules, npm's among them, in folders that no other knows.
npm --version || {
    mkdir -p lib/node
    find /usr/lib/nodejs /usr/lib/*/nodejs /usr/share/nodejs -mindepth 1 -maxdepth 1 -exec ln -sfn -t lib/node {} + || true
    npm --version
}
