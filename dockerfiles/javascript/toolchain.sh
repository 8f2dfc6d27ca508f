# Sets up a node that was unpacked into /usr/local, in the new system, over the distribution's.
cd /usr/local
rm -rf CHANGELOG.md LICENSE README.md package.json share/doc share/man
node --version
# The node of older distributions has a folder of its own for modules, npm's among them.
npm --version || { ln -s /usr/share/nodejs lib/node && npm --version; }
