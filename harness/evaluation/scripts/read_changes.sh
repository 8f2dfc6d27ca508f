set -- $(@GIT@ rev-parse HEAD --git-path objects --git-path index) || exit 1
base=$1 objects=$2
mkdir -p @NEUTRAL@/refs @NEUTRAL@/objects @NEUTRAL@/info && cp "$3" @NEUTRAL@/index || exit 1
echo "$base" > @NEUTRAL@/HEAD
printf '[core]\n\tcheckStat = minimal\n\ttrustctime = false\n' > @NEUTRAL@/config
printf '[safe]\n\tdirectory = *\n' > @NEUTRAL@/.gitconfig
echo '@NO_ATTRIBUTES@' > @NEUTRAL@/info/attributes
neutral() {
  GIT_OBJECT_DIRECTORY=$objects GIT_CONFIG_NOSYSTEM=1 HOME=@NEUTRAL@ XDG_CONFIG_HOME=@NEUTRAL@ \
    git --git-dir=@NEUTRAL@ --work-tree=. "$@"
}
changes() {
  neutral diff --raw -z --abbrev=40 --no-renames --no-ext-diff --no-textconv --ignore-submodules=none "$base"
}
failed_before() { cat @SAID@; exit 1; }
untracked() { neutral ls-files --others -z > "$1" && LC_ALL=C sort -z -o "$1" "$1"; }
