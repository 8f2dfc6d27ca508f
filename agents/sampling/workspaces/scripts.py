"""The shell texts that all workspaces run, in a container or on this machine; pure.

The harness keeps a repository of its own for each tree (``store``): whatever an agent commits, stages, configures or
deletes in the tree's ``.git``, the difference from the base tree is still seen. Its index is a cache of what the files
were when they were last looked at, and starts from the base tree every time.
"""

import shlex
from collections.abc import Sequence

MARK = "ASSAY_COMMAND"
"""Variable by which everything that a command started is found again."""

COMMAND = r"""
seconds=$1 head=$2 tail=$3 mark=$4 command=$5 input=$6
feed() { if [ -f "$input" ]; then cat -- "$input"; rm -f -- "$input"; else printf %s "$input" | base64 -d; fi; }
end_all() {
  for _ in 1 2 3 4 5; do
    left=$(grep -lzxF "ASSAY_COMMAND=$mark" /proc/[0-9]*/environ)
    [ -n "$left" ] || return 0
    for each in $left; do each=${each#/proc/}; kill -KILL "${each%/environ}"; done
  done
}
{
  if [ -n "$input" ]; then
    feed | ASSAY_COMMAND=$mark timeout --signal=KILL "$seconds" bash -c "$command" 2>&1
    code=${PIPESTATUS[1]}
  else
    ASSAY_COMMAND=$mark timeout --signal=KILL "$seconds" bash -c "$command" < /dev/null 2>&1
    code=$?
  fi
  end_all
  exit "$code"
} 2> /dev/null | { head -c "$head"; tail -c "$tail"; }
exit "${PIPESTATUS[0]}"
"""
"""Runs a command in a shell of its own and ends all that it started; bash, arguments as in ``command_line``.

Its output goes through a pipe that keeps head and tail. What it leaves running would keep that pipe open: nothing may
outlive it. Processes are found by their environment, which a session or a process group of their own does not hide.
"""

KILLED = 137
"""Status of a command that is out of time; who was killed for another reason has it too, but sooner."""
APPLIES_NOT = 1

_GIT = (
    "git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.untrackedCache=false -c core.autocrlf=false"
    " -c core.excludesFile=/dev/null -c core.attributesFile=/dev/null -c gc.auto=0 -c core.quotePath=true"
)
_ENVIRONMENT = (
    "unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_NAMESPACE"
    " GIT_EXTERNAL_DIFF GIT_DIFF_OPTS GIT_LITERAL_PATHSPECS; export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1"
    " LC_ALL=C"
)


def command_line(command: str, mark: str, stdin: str, seconds: float, output_bytes: int) -> list[str]:
    """Return the argument vector that runs a command by ``COMMAND``.

    Args:
        command: shell text.
        mark: a name that no other command has.
        stdin: what it reads: base64 text, or the path of a file, which is removed; empty for nothing.
        seconds: after which it is killed.
        output_bytes: kept of its output, half of the beginning and half of the end; one byte more tells of more.
    """
    head = max(output_bytes // 2, 1)
    tail = max(output_bytes - head, 1) + 1
    return ["bash", "-c", COMMAND, "bash", f"{seconds:.3f}", str(head), str(tail), mark, command, stdin]


def plumbing(store: str, *lines: str) -> str:
    """Return a script whose ``git`` is the harness's own repository over the tree of the working folder."""
    own = f'g() {{ {_GIT} --git-dir={shlex.quote(store)} --work-tree=. "$@"; }}'
    return "\n".join(["exec 2> /dev/null", _ENVIRONMENT, own, *lines])


def open_store(store: str, *, borrow: bool) -> str:
    """Return the script that makes the harness's repository beside a tree's own, once, and prints the base tree's id.

    The base tree is the tree of the commit that is checked out.

    Args:
        store: the folder of that repository.
        borrow: read the objects where they are; else copy them, so that they stay if the agent removes its own.
    """
    quoted = shlex.quote(store)
    objects = (
        f'printf "%s\\n" "$(cd "$common/objects" && pwd)" > {quoted}/objects/info/alternates'
        if borrow
        else f'cp -R "$common/objects/." {quoted}/objects/'
    )
    make = (
        f'common=$(git rev-parse --git-common-dir) && tree=$(git rev-parse "HEAD^{{tree}}")'
        f" && git init --quiet --bare --template= {quoted} && {objects} && mkdir -p {quoted}/info"
        f' && {{ [ ! -f "$common/info/exclude" ] || cp "$common/info/exclude" {quoted}/info/exclude; }}'
        f" && git --git-dir={quoted} config core.bare false"
        f" && git --git-dir={quoted} config core.checkStat minimal"
        f" && git --git-dir={quoted} config core.trustctime false"
        f' && printf "%s\\n" "$tree" > {quoted}/assay-base'
    )
    return plumbing(
        store, f'[ -f {quoted}/assay-base ] || {{ {make} && g read-tree "$tree"; }} || exit 1', _base(store)
    )


def _base(store: str) -> str:
    return f"cat {shlex.quote(store)}/assay-base"


def stage(base: str) -> str:
    """Return the lines that bring the harness's index to the present state of the files that git does not ignore.

    A repository that the agent made inside of the tree cannot be added, and must not keep the rest from it.
    """
    return f"g read-tree --reset {base} || exit 1\ng add --all --ignore-errors -- ."


def diff(base: str) -> str:
    """Return the line that prints the difference between the base tree and the harness's index."""
    return (
        "g diff-index --cached --patch --binary --full-index --no-renames --no-color --no-ext-diff --no-textconv"
        f" --ignore-submodules=all --src-prefix=a/ --dst-prefix=b/ --unified=3 {base} -- || exit 1"
    )


def restore(tree: str) -> str:
    """Return the line that brings the files from the state in the harness's index to that of a tree."""
    return f"g read-tree --reset -u {tree} || exit 1"


def apply() -> str:
    """Return the line that applies the patch on its standard input to the files, wholly or not at all."""
    return f"g apply --whitespace=nowarn - || exit {APPLIES_NOT}"


def list_files(patterns: Sequence[str] = ()) -> str:
    """Return the line that prints the paths in the harness's index, each ended by NUL; of regular files only."""
    chosen = " ".join(shlex.quote(pattern) for pattern in patterns)
    kinds = r"sed -z -n 's/^100[0-9]* [0-9a-f]* [0-9]\t//p'"
    return f"g ls-files --stage -z -- {chosen} | {kinds}"


def pack(patterns: Sequence[str]) -> str:
    """Return the line that prints a tar archive of the files in the harness's index that match any of the patterns."""
    return f"{list_files(patterns)} | tar --create --null --no-recursion --files-from=- --file=-"
