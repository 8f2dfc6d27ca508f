# Path and version of every package, with the hash of its package.json.
if [ -d /opt/node ]; then
    cd /opt/node
    find . -path '*/node_modules/*' -name package.json -type f | LC_ALL=C sort > /tmp/files
    node - > /tmp/contents/packages <<'END'
const fs = require("fs"), path = require("path"), crypto = require("crypto");
for (const file of fs.readFileSync("/tmp/files", "utf8").split("\n").filter(Boolean)) {
  const folder = path.dirname(file);
  // A package is a folder of node_modules, or of a scope in it; others hold tests or parts of one.
  if (!/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/.test(folder)) continue;
  try {
    const text = fs.readFileSync(file);
    const hash = crypto.createHash("sha256").update(text).digest("hex");
    console.log(`${folder.slice(2)} ${JSON.parse(text).version || "-"} sha256:${hash}`);
  } catch {} // no manifest
}
END
fi
