# Installs the packages of the tree: those of its lock file, or of the instance's date. Install scripts of packages run
# only here; the project's own run in the instance's image.
export NODE_ENV=development
export npm_config_fetch_retries=6 npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false npm_config_legacy_peer_deps=true
# No programs from elsewhere than the package index; tests that need one get it from Debian.
export PUPPETEER_SKIP_DOWNLOAD=1 PUPPETEER_SKIP_CHROMIUM_DOWNLOAD=1 PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1
export CYPRESS_INSTALL_BINARY=0 ELECTRON_SKIP_BINARY_DOWNLOAD=1 CHROMEDRIVER_SKIP_DOWNLOAD=true

# Prints the name of a package manager that reads the tree's lock file.
manager() {
    case "$1" in
        pnpm-lock.yaml)
            case "$(sed -n "s/^lockfileVersion: *'\{0,1\}\([0-9]*\).*/\1/p" "$1")" in
                5) echo pnpm@7 ;;
                6) echo pnpm@8 ;;
                *) echo pnpm@9 ;;
            esac ;;
        *) if grep -q '^__metadata:' "$1"; then echo @yarnpkg/cli-dist@4; else echo yarn@1; fi ;;
    esac
}

with_manager() {
    package=$(cat /build/locked/manager 2> /dev/null || manager "$1")
    npm install --silent --no-save --prefix /tmp/manager "$package"
    name=${package%@*}
    echo "$name@$(node -p "require('/tmp/manager/node_modules/$name/package.json').version")" > /opt/lock/manager
    PATH="/tmp/manager/node_modules/.bin:$PATH"
    case "$package" in
        pnpm@*)
            pnpm install --frozen-lockfile --config.package-manager-strict=false --config.strict-peer-dependencies=false \
                --store-dir /root/.npm/pnpm --package-import-method copy ;;
        yarn@*)
            # Whatever URL of the package index is in the lock.
            sed -i "s|^  resolved \"https://[^/]*/\(.*/-/\)|  resolved \"$(npm config get registry)\1|" "$1"
            YARN_CACHE_FOLDER=/root/.npm/yarn yarn install --frozen-lockfile --ignore-engines --non-interactive ;;
        *)
            export YARN_ENABLE_TELEMETRY=0 YARN_IGNORE_PATH=1 YARN_NODE_LINKER=node-modules
            YARN_GLOBAL_FOLDER=/root/.npm/berry YARN_ENABLE_GLOBAL_CACHE=true yarn install --immutable ;;
    esac
}

# Installs the lock's packages even if install scripts fail, as those of old native packages do. Such a package is
# installed as it was packed, and tests that need its build fail.
without_failing_scripts() {
    npm ci --ignore-scripts
    node -p 'Object.entries(require("/testbed/node_modules/.package-lock.json").packages)
        .flatMap(([path, about]) => about.hasInstallScript ? [path.replace(/.*node_modules\//, "")] : []).join("\n")' |
        sort -u > /tmp/scripted
    while read -r package; do
        [ -z "$package" ] || npm rebuild "$package" || echo "the install script of $package has failed"
    done < /tmp/scripted
}

node - <<'END'
const fs = require("fs"), path = require("path");
const clean = (folder) => {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== "node_modules") clean(file);
    if (!entry.isFile() || entry.name !== "package.json") continue;
    try {
      const { scripts, ...rest } = JSON.parse(fs.readFileSync(file, "utf8"));
      if (scripts) fs.writeFileSync(file, JSON.stringify(rest, null, 2));
    } catch {} // test data, no manifest
  }
};
clean(".");
END

if [ -e package-lock.json ] || [ -e npm-shrinkwrap.json ]; then
    npm ci || without_failing_scripts
elif [ -e pnpm-lock.yaml ]; then
    with_manager pnpm-lock.yaml
elif [ -e yarn.lock ]; then
    with_manager yarn.lock
elif [ -e /build/locked/package-lock.json ]; then
    cp /build/locked/package-lock.json .
    npm ci || without_failing_scripts
elif [ -e package.json ]; then
    # A mirror may give the date of its own copy, not of the release (here 2018-04-20), and so exclude all old versions.
    case "$(npm view npm@6.0.0 'time[6.0.0]')" in
        2018-*) npm install --package-lock --before="$(cat /build/cutoff)" ;;
        *)
            echo "the package index does not say when packages came out: they are the newest of $(date --utc +%Y-%m-%d)" |
                tee /opt/lock/note
            npm install --package-lock ;;
    esac
    # Packages by the index's own name, which clients replace by that of a mirror.
    usual=$(env -u NPM_CONFIG_REGISTRY -u npm_config_registry npm config get registry --userconfig=/dev/null --globalconfig=/tmp/none)
    sed "s|$(npm config get registry)|$usual|g" package-lock.json > /opt/lock/package-lock.json
fi

# Links between packages of one repository point into the tree, wherever the packages are installed.
find . -name node_modules -type d -prune > /tmp/folders
xargs -r -d '\n' -a /tmp/folders -I@ find @ -type l > /tmp/links
while read -r link; do
    target=$(readlink -f "$link" || true)
    case "$target" in
        "" | */node_modules/*) ;;
        *) ln -sfn "$target" "$link" ;;
    esac
done < /tmp/links
rm -rf /opt/node
while read -r folder; do
    mkdir -p "/opt/node/$(dirname "$folder")"
    mv "$folder" "/opt/node/$folder"
done < /tmp/folders
mkdir -p /opt/node
chown -R assay: /opt/node
