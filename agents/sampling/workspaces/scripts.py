"""The shell scripts that workspaces run, in a container or on this machine. Pure.

The harness keeps a second repository (``store``) for each checkout: whatever an agent commits, stages, configures or
deletes in ``.git``, the diff from the base commit stays right. Its index is a cache and starts from the base each time.
"""

import shlex
from collections.abc import Sequence

from assay.harness.templates import read_program

MARK = "ASSAY_COMMAND"  # environment variable by which all processes of a command are found

COMMAND = read_program(__file__, "programs/command.sh")
"""Bash script: runs a command in a new shell and kills every process it started. Arguments as in ``command_line``.

The output goes through a pipe that keeps head and tail; a process left running would keep that pipe open. Processes are
found by their environment, which a new session or process group does not hide.
"""

KILLED = 137
"""Exit code of a command after its timeout; one killed for another reason has it too, but earlier."""
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
    """Return the arguments that run a command by ``COMMAND``, under a unique mark.

    ``stdin`` is base64 text, or the path of a file, which is removed; empty for none. Half of ``output_bytes`` is kept
    from the start of the output and half from the end; one byte more is returned if there was more.
    """
    head = max(output_bytes // 2, 1)
    tail = max(output_bytes - head, 1) + 1
    return ["bash", "-c", COMMAND, "bash", f"{seconds:.3f}", str(head), str(tail), mark, command, stdin]


def plumbing(store: str, *lines: str) -> str:
    """Return a script with a function ``g``: git with the harness's repository over the working folder."""
    own = f'g() {{ {_GIT} --git-dir={shlex.quote(store)} --work-tree=. "$@"; }}'
    return "\n".join(["exec 2> /dev/null", _ENVIRONMENT, own, *lines])


def open_store(store: str, *, borrow: bool) -> str:
    """Return a script that makes the harness's repository if it is missing and prints the id of the base's git tree.

    The base is the commit that is checked out here. Git asks nobody who owns a repository that is named to it; versions
    before 2.31 take no exception from variables or the command line. ``borrow`` uses the checkout's objects; without
    it they are copied, so that they stay if the agent deletes its own.
    """
    quoted = shlex.quote(store)
    objects = (
        f'printf "%s\\n" "$(cd "$common/objects" && pwd)" > {quoted}/objects/info/alternates'
        if borrow
        else f'cp -R "$common/objects/." {quoted}/objects/'
    )
    make = (
        "common=$(git --git-dir=.git rev-parse --git-common-dir)"
        ' && tree=$(git --git-dir=.git rev-parse "HEAD^{tree}")'
        f" && git init --quiet --bare --template= {quoted} && {objects} && mkdir -p {quoted}/info"
        f' && for name in exclude attributes; do [ ! -f "$common/info/$name" ]'
        f' || cp "$common/info/$name" {quoted}/info/; done'
        f" && git --git-dir={quoted} config core.bare false"
        f" && git --git-dir={quoted} config core.checkStat minimal"
        f" && git --git-dir={quoted} config core.trustctime false"
        f' && printf "%s\\n" "$tree" > {quoted}/assay-base'
    )
    missing = f'[ -f {quoted}/assay-base ] || {{ {make} && g read-tree "$tree"; }} || exit 1'
    return plumbing(store, missing, f"cat {quoted}/assay-base")


def stage(base: str) -> str:
    """Return lines that bring the harness's index to the present state of all files that git does not ignore.

    A repository that the agent made inside the checkout cannot be added and must not prevent adding the rest.
    """
    return f"g read-tree --reset {base} || exit 1\ng add --all --ignore-errors -- ."


def diff(base: str) -> str:
    return (
        "g diff-index --cached --patch --binary --full-index --no-renames --no-color --no-ext-diff --no-textconv"
        f" --ignore-submodules=all --src-prefix=a/ --dst-prefix=b/ --unified=3 {base} -- || exit 1"
    )


def restore(tree: str) -> str:
    """Return a line that brings the files from the state in the harness's index to that of a git tree."""
    return f"g read-tree --reset -u {tree} || exit 1"


def apply() -> str:
    """Return a line that applies the patch on standard input to the files, wholly or not at all."""
    return f"g apply --whitespace=nowarn - || exit {APPLIES_NOT}"


def list_files(patterns: Sequence[str] = ()) -> str:
    """Return a line that prints the paths of regular files in the harness's index, each ended by NUL."""
    chosen = " ".join(shlex.quote(pattern) for pattern in patterns)
    kinds = r"sed -z -n 's/^100[0-9]* [0-9a-f]* [0-9]\t//p'"
    return f"g ls-files --stage -z -- {chosen} | {kinds}"


def pack(patterns: Sequence[str]) -> str:
    return f"{list_files(patterns)} | tar --create --null --no-recursion --files-from=- --file=-"
