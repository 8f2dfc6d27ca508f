# Functions that remove whatever reveals another commit than the base from an image; read by other scripts, in the
# repository's folder.

# Makes the base tree of one that the base is a patch of: FeatureBench's images hold the feature.
apply_base() {
    [ -e "$1" ] || return 0
    # Compiled files would keep what the patch takes away.
    find . -name __pycache__ -type d -prune -exec rm -rf {} +
    git apply --whitespace=nowarn "$1"
    git add --all
}

squash() {
    # Fixed names and dates: the same tree has the same id everywhere, and the id does not reveal the original.
    export GIT_AUTHOR_NAME=Assay GIT_AUTHOR_EMAIL=assay@localhost GIT_AUTHOR_DATE=2000-01-01T00:00:00Z
    export GIT_COMMITTER_NAME=Assay GIT_COMMITTER_EMAIL=assay@localhost GIT_COMMITTER_DATE=2000-01-01T00:00:00Z
    common=$(cd "$(git rev-parse --git-common-dir)" && pwd)
    # Programs that name a version after the last release's tag (setuptools_scm) still find it.
    release=$(git describe --tags --abbrev=0 --match '*[0-9]*' 2> /dev/null) || release=
    # Changes that the image made to tracked files are part of the agent's start, not of its work.
    git -c core.fileMode=false add --update
    # Git hides what is below a submodule's link, and with it what a patch does there.
    git ls-files --stage | sed -n 's/^160000 [0-9a-f]* [0-9]\t//p' | while read -r path; do
        git update-index --force-remove -- "$path"
    done
    tree=$(git write-tree)
    made=$(mktemp -d)
    git init --quiet --template= "$made"
    echo "$common/objects" > "$made/.git/objects/info/alternates"
    git -C "$made" symbolic-ref HEAD refs/heads/main
    git -C "$made" update-ref refs/heads/main "$(git -C "$made" commit-tree -m base "$tree")"
    [ -z "$release" ] || git -C "$made" update-ref "refs/tags/$release" refs/heads/main
    # The objects of this commit only, named one by one: of a partial clone, repacking would take all others, too.
    git -C "$made" rev-list --objects refs/heads/main | cut -d ' ' -f 1 \
        | git -C "$made" pack-objects -q "$made/.git/objects/pack/pack" > /dev/null
    git -C "$made" prune-packed -q
    rm "$made/.git/objects/info/alternates"
    mkdir -p "$made/.git/info"
    for name in exclude attributes; do
        [ ! -f "$common/info/$name" ] || cp "$common/info/$name" "$made/.git/info/$name"
    done
    rm -rf .git "$common"
    find . -mindepth 2 -name .git -prune -exec rm -rf {} +
    mv "$made/.git" .git
    rmdir "$made"
    rm -rf .git/logs
    git read-tree HEAD
    git update-index -q --refresh || true
}

# Images of some data sets have the answer beside the tree: the fix, the tests, and the scripts that run them.
remove_answers() {
    rm -rf /home/*.patch /home/*.diff /home/*.sh /eval.sh /run_script.sh /parser.py /root/my_repo /r2e_tests
    # R2E's lie in the tree; a file of these names that the repository has stays.
    for name in r2e_tests run_tests.sh syn_issue.json expected_test_output.json execution_result.json \
        parsed_commit.json modified_files.json modified_entities.json; do
        [ -n "$(git ls-files -- "$name")" ] || rm -rf "./$name"
    done
}
