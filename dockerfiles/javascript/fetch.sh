# Installs the packages of the tree: those of its lock file, or of the instance's date. Install scripts of packages run
# only here; the project's own run in the instance's image.
export NODE_ENV=development
export npm_config_fetch_retries=6 npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false npm_config_engine_strict=false
# No programs from elsewhere than the package index; tests that need one get it from Debian.
export PUPPETEER_SKIP_DOWNLOAD=1 PUPPETEER_SKIP_CHROMIUM_DOWNLOAD=1 PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1
# What is compiled for node takes the headers beside it.
for prefix in /usr /usr/local; do [ ! -d "$prefix/include/node" ] || export npm_config_nodedir="$prefix"; done
export CYPRESS_INSTALL_BINARY=0 ELECTRON_SKIP_BINARY_DOWNLOAD=1 CHROMEDRIVER_SKIP_DOWNLOAD=true

# Prints the name of a package manager that reads the tree's lock file: the one that the project names, or one of its time.
manager() {
    named=$(node -p 'String(require("./package.json").packageManager || "").replace(/\+.*/, "")')
    case "$1:$named" in
        pnpm-lock.yaml:pnpm@*) echo "$named" ;;
        pnpm-lock.yaml:*)
            case "$(sed -n "s/^lockfileVersion: *'\{0,1\}\([0-9]*\).*/\1/p" "$1")" in
                5) echo pnpm@7 ;;
                6) echo pnpm@8 ;;
                *) echo pnpm@9 ;;
            esac ;;
        *)
            case "$(sed -n '/^__metadata:/,/version:/s/^ *version: *//p' "$1"):$named" in
                :*) echo yarn@1 ;;
                *:yarn@[3-9]*) echo "@yarnpkg/cli-dist@${named#yarn@}" ;;
                [45]:*) echo @yarnpkg/cli-dist@2 ;;
                6:*) echo @yarnpkg/cli-dist@3 ;;
                *) echo @yarnpkg/cli-dist@4 ;;
            esac ;;
    esac
}

# It stays, since scripts of the project call it, too.
with_manager() {
    package=$(cat /build/locked/manager 2> /dev/null || manager "$1")
    npm install --silent --no-save --prefix /opt/manager "$package" ||
        npm install --silent --no-save --prefix /opt/manager "${package%%.*}"
    name=${package%@*}
    echo "$name@$(node -p "require('/opt/manager/node_modules/$name/package.json').version")" > /opt/lock/manager
    PATH="/opt/manager/node_modules/.bin:$PATH"
    case "$package" in
        pnpm@*)
            export npm_config_manage_package_manager_versions=false
            set -- --config.package-manager-strict=false --config.engine-strict=false --fetch-timeout 600000 --config.strict-peer-dependencies=false --store-dir /root/.npm/pnpm \
                --package-import-method copy
            pnpm install --frozen-lockfile "$@" || pnpm install --no-frozen-lockfile "$@" ;;
        yarn@*)
            # Whatever URL of the package index is in the lock.
            sed -i "s|^  resolved \"https://[^/]*/\(.*/-/\)|  resolved \"$(npm config get registry)\1|" "$1"
            set -- --ignore-engines --non-interactive --network-timeout 600000
            export YARN_CACHE_FOLDER=/root/.npm/yarn
            yarn install --frozen-lockfile "$@" || yarn install "$@" ;;
        *)
            export YARN_ENABLE_TELEMETRY=0 YARN_IGNORE_PATH=1 YARN_NODE_LINKER=node-modules YARN_CHECKSUM_BEHAVIOR=ignore
            export YARN_GLOBAL_FOLDER=/root/.npm/berry YARN_ENABLE_GLOBAL_CACHE=true
            YARN_NPM_REGISTRY_SERVER=$(npm config get registry | sed 's|/$||')
            export YARN_NPM_REGISTRY_SERVER
            yarn install --immutable || yarn install --no-immutable ;;
    esac
}

# Installs the lock's packages even if install scripts fail, as those of old native packages do. Such a package is
# installed as it was packed, and tests that need its build fail.
without_failing_scripts() {
    npm ci --ignore-scripts --legacy-peer-deps || return
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

# Peers that exclude each other, and a lock that lacks them, were no error of earlier versions of npm.
from_lock() {
    npm ci 2> /tmp/said && return
    cat /tmp/said >&2
    if grep -q 'ERESOLVE\|in sync' /tmp/said; then
        npm ci --legacy-peer-deps || without_failing_scripts || npm install --legacy-peer-deps
    else
        without_failing_scripts
    fi
}

by_ranges() {
    # A mirror may give the date of its own copy, not of the release (here 2018-04-20), and so exclude all old versions.
    case "$(npm view npm@6.0.0 'time[6.0.0]')" in
        2018-*) set -- --package-lock --before="$(cat /build/cutoff)" ;;
        *)
            echo "the package index does not say when packages came out: they are the newest of $(date --utc +%Y-%m-%d)" |
                tee -a /opt/lock/note
            set -- --package-lock ;;
    esac
    npm install "$@" || npm install --legacy-peer-deps "$@" || { loosen && npm install --legacy-peer-deps "$@"; } ||
        return
    # Packages by the index's own name, which clients replace by that of a mirror.
    usual=$(env -u NPM_CONFIG_REGISTRY -u npm_config_registry npm config get registry --userconfig=/dev/null --globalconfig=/tmp/none)
    sed "s|$(npm config get registry)|$usual|g" package-lock.json > /opt/lock/package-lock.json
}

# Drops what no package index has, and writes what only other managers read in npm's words.
loosen() {
    node - <<'END' | tee -a /opt/lock/note
const fs = require("fs"), path = require("path");
const read = (file) => (fs.existsSync(file) ? fs.readFileSync(file, "utf8") : "");
const listed = (/^packages:\s*\n((?:\s*(?:-.*|#.*)?\n)+)/m.exec(`${read("pnpm-workspace.yaml")}\n`) || [])[1] || "";
const members = listed.split("\n").map((line) => line.replace(/^\s*-\s*|['"]|#.*/g, "").trim()).filter(Boolean);
const files = [];
const find = (folder) => {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory() && !/^(node_modules|\.git)$/.test(entry.name)) find(path.join(folder, entry.name));
    if (entry.isFile() && entry.name === "package.json") files.push(path.join(folder, entry.name));
  }
};
find(".");
for (const file of files) {
  let about;
  try { about = JSON.parse(read(file)); } catch { continue; } // test data, no manifest
  for (const kind of ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies", "resolutions"]) {
    for (const [name, range] of Object.entries(about[kind] || {})) {
      if (/^(workspace|catalog|portal|patch):/.test(range)) about[kind][name] = "*";
      else if (/^(git|https?|ssh|github|gitlab|bitbucket)\b.*[:/]|^[\w.-]+\/[\w.-]+(#|$)/.test(range)) {
        delete about[kind][name];
        console.log(`${name} of ${file} is on no package index (${range}): left out`);
      }
    }
  }
  if (file === "package.json" && members.length) about.workspaces = about.workspaces || members;
  fs.writeFileSync(file, JSON.stringify(about, null, 2));
}
END
}

# Installs what a lock file says; where that cannot be had, what the manifests ask for.
or_ranges() {
    "$@" && return
    echo "the lock file could not be followed" | tee -a /opt/lock/note
    find . -name node_modules -type d -prune -exec rm -rf {} +
    rm -f package-lock.json npm-shrinkwrap.json /opt/lock/manager
    loosen && by_ranges
}

# Of several lock files, keeps that of the manager which the project names, or whose workspaces it has.
choose_lock() {
    named=$(node -p 'String(require("./package.json").packageManager || "")' 2> /dev/null || true)
    if [ -z "$named" ] && [ -e pnpm-workspace.yaml ] && ! grep -q '"workspaces"' package.json; then named=pnpm@; fi
    case "$named" in
        pnpm@*) other=pnpm-lock.yaml ;;
        yarn@*) other=yarn.lock ;;
        *) return ;;
    esac
    [ ! -e "$other" ] || rm -f package-lock.json npm-shrinkwrap.json
}

choose_lock
if [ -e /build/locked/package-lock.json ]; then
    ! grep -qs 'could not be followed' /build/locked/note || loosen
    cp /build/locked/package-lock.json .
    from_lock
elif [ -e package-lock.json ] || [ -e npm-shrinkwrap.json ]; then
    or_ranges from_lock
elif [ -e pnpm-lock.yaml ]; then
    or_ranges with_manager pnpm-lock.yaml
elif [ -e yarn.lock ]; then
    or_ranges with_manager yarn.lock
elif [ -e package.json ]; then
    by_ranges
fi
# Before package managers knew workspaces, lerna installed the packages of each.
if [ -e lerna.json ] && [ ! -e pnpm-workspace.yaml ] && ! grep -q '"workspaces"' package.json; then
    npx --no-install lerna bootstrap --no-ci -- --legacy-peer-deps || true
fi
# Packages that tests want and no manifest names, beside the others.
if [ -e /build/packages ]; then
    xargs npm install --no-save --legacy-peer-deps --prefix /tmp/beside < /build/packages
    mkdir -p node_modules
    cp -Rn /tmp/beside/node_modules/. node_modules/
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
