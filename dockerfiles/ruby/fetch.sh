# Fetches and compiles the tree's gems with Bundler: those of its lock file, or else of the instance's date. Where no index
# answers there is nothing to fetch: the recipe names Debian packages.

# Writes what a program needs to find the gems.
describe_gems() {
    cat > /opt/gems/settings <<END
export BUNDLE_APP_CONFIG=/opt/gems/config BUNDLE_PATH=/opt/gems/bundle BUNDLE_GEMFILE=$1 BUNDLE_IGNORE_MESSAGES=true
export BUNDLER_VERSION=$(bundle --version | sed 's/[^0-9.]//g') BUNDLE_USER_HOME=/tmp/bundler BUNDLE_DISABLE_VERSION_CHECK=true
export BUNDLE_SILENCE_ROOT_WARNING=true
END
}

fetch_gems() {
    gemfile=/testbed/Gemfile
    [ -e "$gemfile" ] || [ ! -e gems.rb ] || gemfile=/testbed/gems.rb
    mkdir -p /opt/gems
    if [ ! -e "$gemfile" ]; then
        gemfile=/opt/gems/Gemfile
        printf 'source "https://rubygems.org"\ngemspec path: "/testbed"\n' > "$gemfile"
    fi
    describe_gems "$gemfile"
    . /opt/gems/settings
    lock=$(echo "$gemfile.lock" | sed 's/gems[.]rb[.]lock$/gems.locked/')
    fixed=$([ -e "$lock" ] && echo yes || true)
    [ -n "$fixed" ] || [ ! -e /build/locked/Gemfile.lock ] || cp /build/locked/Gemfile.lock "$lock"
    until=$([ -e "$lock" ] && echo 9999-01-01 || cat /build/cutoff)
    : > /tmp/undated
    ruby /build/dated_index.rb "${BUNDLE_MIRROR__ALL:-https://rubygems.org}" "$until" 9291 /tmp/undated &
    index=$!
    until ruby -rsocket -e 'TCPSocket.new("127.0.0.1", 9291)' 2> /dev/null; do
        kill -0 $index
        sleep 0.2
    done
    export BUNDLE_MIRROR__ALL=http://127.0.0.1:9291 no_proxy="127.0.0.1${no_proxy:+,$no_proxy}"
    bundle install --jobs 2
    kill $index
    cp "$lock" /opt/lock/Gemfile.lock
    [ -n "$fixed" ] || cp "$lock" /opt/gems/$(basename "$lock") 2> /dev/null || true
    [ ! -s /tmp/undated ] || sort -u /tmp/undated > /opt/lock/note
    chmod -R a+rX /opt/gems
}

if [ -e /build/index ] && [ -n "$(find . -maxdepth 1 \( -name Gemfile -o -name gems.rb -o -name '*.gemspec' \))" ]; then
    fetch_gems
fi
