# Prints, one on a line, everything in the working folder's repository that is not of its one commit; with the argument
# "packages", second copies of the project. Fails if there is any. It goes by ancestry, not by dates: a fix may be older
# than the base commit, as after a rebase.
found=$(
    problem() { printf '%s\n' "$*"; }

    history() {
        git=$(git rev-parse --git-dir) || { problem "there is no repository"; return; }
        reachable=$(git rev-list --objects HEAD | cut -d ' ' -f 1 | sort -u)
        present=$(git cat-file --batch-all-objects --batch-check='%(objectname)' | sort -u)
        [ "$reachable" = "$present" ] || problem "there are objects that no file of the base commit needs"
        [ "$(git rev-list --all HEAD | wc -l)" -eq 1 ] || problem "there is more than one commit"
        [ "$(git for-each-ref | wc -l)" -eq 1 ] || problem "there are refs beside one branch: $(git for-each-ref --format='%(refname)' | head -n 5 | tr '\n' ' ')"
        [ -n "$(git for-each-ref refs/heads)" ] || problem "there is no branch"
        [ -z "$(git remote)" ] || problem "there is a remote"
        for name in ORIG_HEAD FETCH_HEAD MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD COMMIT_EDITMSG shallow modules worktrees \
            objects/info/alternates objects/info/http-alternates; do
            [ ! -e "$git/$name" ] || problem "there is .git/$name"
        done
        [ -z "$(find "$git/logs" -type f 2> /dev/null)" ] || problem "there is a reflog"
        [ -z "$(find "$git/objects" -name 'tmp_*' 2> /dev/null)" ] || problem "there are remains of a pack"
        [ -z "$(find . -mindepth 2 -name .git 2> /dev/null | head -n 1)" ] || problem "there is a repository inside of the tree"
    }

    packages() {
        for site in $(find / -xdev -type d \( -name site-packages -o -name dist-packages \) -not -path "$PWD/*" 2> /dev/null); do
            for init in ./*/__init__.py ./src/*/__init__.py ./lib/*/__init__.py; do
                [ -f "$init" ] || continue
                folder=$(dirname "$init")
                name=$(basename "$folder")
                case $name in test | tests | testing | doc | docs | example | examples | tools | scripts) continue ;; esac
                [ -d "$site/$name" ] && [ ! -L "$site/$name" ] || continue
                [ "$(readlink -f "$site/$name")" != "$(readlink -f "$folder")" ] || continue
                files=$(cd "$folder" && find . -name '*.py')
                same=$(cd "$site/$name" && printf '%s\n' "$files" | while read -r file; do [ ! -f "$file" ] || echo "$file"; done | wc -l)
                [ $((2 * same)) -lt "$(printf '%s\n' "$files" | wc -l)" ] || problem "$site/$name is a second copy of the project"
            done
        done
    }

    ${1:-history} 2> /dev/null
)
[ -z "$found" ] || { printf '%s\n' "$found"; exit 1; }
