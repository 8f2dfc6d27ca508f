"""The files that go into a container before the tests run. Pure."""

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from assay.harness import languages
from assay.harness.domain import FUZZED, Instance, TestPlan
from assay.harness.engines.tars import pack_tar
from assay.harness.evaluation.changes import SEPARATOR
from assay.harness.evaluation.protection import APPLIED_WITH_FUZZ, PRODUCTS_LEFT_OUT, ROOT, STRAYS_LEFT_OUT
from assay.harness.evaluation.supervising import HIDDEN, HOME, MODEL, PIPE, SUPERVISE, TEST, supervisor
from assay.harness.patches.gate import GatedPatch
from assay.harness.runners import Tripwires, adapters
from assay.harness.runners import find as find_runner
from assay.harness.runners.base import EXPECTED, LABELS, PLACEHOLDER, UNSURE
from assay.harness.templates import read_program

ASSETS = f"{HOME}/assets"
TRIPWIRES = f"{HOME}/tripwires"
INSTALL, WATCHED_INSTALL = f"{HOME}/install.sh", f"{HOME}/watched-install.sh"
REPOSITORY = f"{HOME}/repository"
"""Root's copy of the repository, from before the patched project was installed."""
INDEX = "/tmp/assay-index"
APPLY, RESTORE = f"{HOME}/apply.sh", f"{HOME}/restore.sh"
ADAPTER = f"{HOME}/adapter"  # program that starts a runner of Python which writes no report itself
CONFLICT, TESTS_DO_NOT_APPLY, NOT_PUT_BACK, KILLED_GIT = 3, 4, 5, 6
"""Exit statuses of the first two scripts: git refuses the patch, or the tests; a change cannot be put back; git was
killed. Any other but 0 is a failure of the infrastructure."""
FIXED, PARTED = f"{HOME}/fixed", f"{HOME}/parted"
"""Folders of files that are neither the patch's nor the base commit's; the second, nor the test patch's."""
RESTORED, PATCHED = f"{HOME}/restored", f"{HOME}/patched"
"""Lists of paths, each ended by NUL: those of the plan that are put back, and those of the patch."""
GIT = "git -c core.hooksPath=/dev/null -c core.autocrlf=false -c safe.directory='*' --literal-pathspecs"
CHANGED = f"{GIT} diff --name-only --no-renames --no-ext-diff --ignore-submodules=none -z HEAD"
UNTRACKED = f"{GIT} ls-files --others -z"
LIST_TREE = f"printf '{SEPARATOR}\\0' && {GIT} ls-files -s -z || exit 1"
_WORD = re.compile(r"\w+")
NO_ATTRIBUTES = "* -text !eol !crlf !ident !filter !working-tree-encoding !diff"
"""Goes into ``info/attributes``, which takes precedence over every other file of attributes."""
WHO = "-c user.name=assay -c user.email=assay@localhost"
A_COMMIT = f"{GIT} rev-parse -q --verify HEAD > /dev/null 2>&1"
COMMIT = f"{GIT} init -q && {GIT} add -f -A && {GIT} {WHO} commit -q --allow-empty -m base"
"""Makes a repository of the tree in an image that has none, so that changes can be listed and put back."""
NEUTRAL, SAID = "/tmp/assay-git", "/tmp/assay-said"
READER = read_program(
    __file__, "scripts/read_changes.sh", GIT=GIT, NEUTRAL=NEUTRAL, NO_ATTRIBUTES=NO_ATTRIBUTES, SAID=SAID
)
"""A second, empty git folder over the same tree and objects, by which the tree is read: no attributes of the tree, no
filter, no setting and no flag of the repository hide a change from it. ``--attr-source`` would, but is too new."""
FAILED = f"""\
failed() {{
  echo > /tmp/assay-probe || exit 1
  cat {SAID}
  [ "$1" -le 129 ] || exit {KILLED_GIT}
  exit "$2"
}}
"""
"""Ends a script with a status that blames the patch, unless the disk has no room for a single line."""


INSTALLER = f"""\
set -u
user=$(id -u "$1") && group=$(id -g "$1") && home=$(getent passwd "$1" | cut -d: -f6) || exit 125
own="env GIT_DIR={REPOSITORY} GIT_WORK_TREE=. GIT_CONFIG_GLOBAL=/dev/null HOME={HOME}"
cp -R .git {REPOSITORY} && $own {UNTRACKED} | LC_ALL=C sort -z > {HOME}/untracked || exit 125
as="setpriv --reuid=$user --regid=$group"
chmod -R go= {HIDDEN} {TEST} {RESTORE} 2> /dev/null
HOME=$home $as --init-groups bash {INSTALL} > {HOME}/install.log 2>&1
[ "$user" = 0 ] || $as --clear-groups sh -c 'kill -9 -1' 2> /dev/null
chmod -R go=rX {HIDDEN} {TEST} {RESTORE} 2> /dev/null
$as --clear-groups sh -c 'rm -rf /tmp/assay-*' || exit 125
mkdir -p {REPOSITORY}/info && echo '{NO_ATTRIBUTES}' > {REPOSITORY}/info/attributes || exit 125
$own {CHANGED} 2> /dev/null && printf '{SEPARATOR}\\0' || exit 125
$own {UNTRACKED} 2> /dev/null | LC_ALL=C sort -z | LC_ALL=C comm -z -13 {HOME}/untracked -
rm -f {REPOSITORY}/info/attributes
"""
"""Installs the patched project as the user in its argument, whether that succeeds or not.

Then it kills every process of that user, and prints the paths that differ from the base commit and, behind a separator,
those of new files, each ended by NUL. What the installation did to the repository itself does not count.
"""


_WITHOUT_EMPTY_FOLDERS = """\
folder=${path%/*}
[ "$folder" = "$path" ] || [ "$folder" = "$last" ] || [ ! -d "$folder" ] ||
  rmdir -p --ignore-fail-on-non-empty -- "$folder" 2> /dev/null
last=$folder"""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A patch and all that goes into the container with it."""

    plan: TestPlan
    patch: GatedPatch
    tripwires: Tripwires | None
    left_out: tuple[str, ...] = ()
    """Patterns of paths that are never applied: build products."""
    assets: Mapping[str, bytes] = field(default_factory=dict)
    """Binary files of the tests, by their path in the tree."""
    expected: tuple[str, ...] = ()
    """Words by which a process with expected tests is found."""
    labels: tuple[str, ...] = ()
    """Names of the tests that the patch has to fix."""

    @property
    def flags(self) -> tuple[str, ...]:
        """Flags of the verdict for files of the patch that are never applied."""
        found = {
            PRODUCTS_LEFT_OUT: any(map(self._is_left_out, self.patch.paths)),
            STRAYS_LEFT_OUT: bool(self.patch.strays),
            APPLIED_WITH_FUZZ: FUZZED in self.patch.normalized,
        }
        return tuple(name for name, holds in found.items() if holds)

    @property
    def applied_paths(self) -> tuple[str, ...]:
        """Paths that the patch names, without build products, which are never applied."""
        return tuple(path for path in self.patch.paths if not self._is_left_out(path))

    def _is_left_out(self, path: str) -> bool:
        return any(fnmatchcase(path.lower(), pattern.lower()) for pattern in self.left_out)

    def archive(self) -> bytes:
        """Return everything as one tar archive, owned by root."""
        home = HOME.strip("/")
        files: dict[str, str | bytes] = {
            MODEL.strip("/"): self.patch.text,
            f"{home}/tests.patch": self.plan.test_patch,
            APPLY.strip("/"): self.apply_script(),
            RESTORE.strip("/"): self.restore_script(),
            SUPERVISE.strip("/"): supervisor(stamped=self.plan.stamped),
            TEST.strip("/"): self.test_script(),
            RESTORED.strip("/"): format_list(self.plan.restore),
        }
        if self.plan.install:
            files |= {WATCHED_INSTALL.strip("/"): INSTALLER, INSTALL.strip("/"): self._add_exports(self.plan.install)}
        if self.plan.user == ROOT:
            files[PIPE.strip("/")] = ""  # a file, since nobody stands between these tests and the report
        if ADAPTER in self.plan.command:
            files[ADAPTER.strip("/")] = adapters.source("python")
        if self.tripwires:
            lines = {EXPECTED: self.expected, LABELS: self.labels}
            sources = {**self.tripwires.files, **{name: "\n".join((*each, "")) for name, each in lines.items()}}
            files |= {f"{TRIPWIRES.strip('/')}/{name}": text for name, text in sources.items()}
        files |= {f"{ASSETS.strip('/')}/{path}": content for path, content in self.assets.items()}
        return pack_tar(files, [home])

    def apply_script(self) -> str:
        """Return the shell text that applies the patch and prints its changes for ``changes.read_changes``.

        Behind a separator it prints the paths of the whole tree, each ended by NUL.
        It runs as the tests' user before any code of the patch has run. The tree itself is asked what changed, since
        two readings of a patch can differ; warnings of git, which a patch can provoke, never get between the paths.
        A test patch that does not fit the base commit is the instance's fault, so it is checked before the patch.
        """
        lines = ["set -u", f"{{ {A_COMMIT} || {{ {COMMIT}; }}; }} > {SAID} 2>&1 || {{ cat {SAID}; exit 1; }}", FAILED]
        if self.plan.test_patch:
            lines.append(_or_failed(f"{GIT} apply --check {HOME}/tests.patch", TESTS_DO_NOT_APPLY))
        lines.append(LIST_TREE if self.patch.is_empty else self._applying())
        return "\n".join([*lines, f"rm -rf {SAID} {NEUTRAL} /tmp/assay-probe", "exit 0", ""])

    def _applying(self) -> str:
        without = "".join(f" --exclude={shlex.quote(pattern)}" for pattern in self.left_out)
        first, before, after, new = (f"{NEUTRAL}/{name}" for name in ("first", "before", "after", "new"))
        lines = [
            READER,
            "neutral update-index -q --refresh > /dev/null 2>&1",
            # An index in several files, or in a newer form, is made anew.
            f"changes > {first} 2> {SAID} ||",
            f"{{ neutral read-tree $base && changes > {first}; }} 2> {SAID} || failed_before",
            f"cat {first} && printf '\\0' && untracked {before} 2> {SAID} || failed_before",
            # Against the commit alone: no patch may change what a pre-build left in the tree, hidden from git.
            _or_failed(f"{GIT} apply --cached --check{without} {MODEL}", CONFLICT),
            _or_failed(f"{GIT} apply{without} {MODEL}", CONFLICT),
            f"exec 2> {SAID}",
            f"untracked {after} && LC_ALL=C comm -z -13 {before} {after} > {new} || failed $? {NOT_PUT_BACK}",
            f"neutral update-index --add --replace --info-only -z --stdin < {new} || failed $? {NOT_PUT_BACK}",
            f"changes && printf '{SEPARATOR}\\0' && neutral ls-files -s -z || failed $? {NOT_PUT_BACK}",
        ]
        return "\n".join(lines)

    def test_script(self) -> str:
        """Return the shell text that runs the tests, with the plan's variables for the tests alone.

        What they print goes into one pipe: an engine that reads two takes a line of one between the parts of a line of
        the other.
        """
        argument = self.tripwires.argument if self.tripwires else ""
        return "exec 2>&1\n" + self._add_exports(self.plan.command.replace(PLACEHOLDER, argument))

    def _add_exports(self, command: str) -> str:
        exports = [f"export {name}={shlex.quote(value)}" for name, value in self.plan.env.items()]
        return "\n".join([*exports, command])

    def restore_script(self) -> str:
        """Return the shell text that puts the listed paths back to the base commit, and applies the test patch.

        It removes a path that the base commit does not have. A path of the patch that is neither there nor in the base
        commit is an error, not nothing to do: the list and the tree then differ. At the end it puts the tripwires
        beside the tests, and prints their places.
        """
        listed, base, extra = "/tmp/assay-listed", "/tmp/assay-base", "/tmp/assay-extra"
        lines = [
            "set -u",
            FAILED,
            f"cp {REPOSITORY}/index {INDEX} || exit 1" if self.plan.install else "",
            f"[ ! -e {PATCHED} ] && patched=/dev/null || patched={PATCHED}",
            f'cat {RESTORED} "$patched" > {listed} && : > {base} && : > {SAID} || exit 1',
            f"if [ -s {listed} ]; then",
            f"xargs -0 {GIT} ls-tree -r -z --name-only HEAD -- < {listed} > {base} || exit 1",
            f"LC_ALL=C sort -z -u -o {base} {base} || exit 1",
            f'LC_ALL=C sort -z "$patched" | LC_ALL=C comm -z -23 - {base} > {extra} || exit 1',
            _loop(extra, f'[ -e "$path" ] || [ -L "$path" ] || {_not_there("is not there")}'),
            # All of them first, so that no attributes of the patch steer git when it writes them.
            _or_failed(f"xargs -0 rm -rf -- < {listed}", NOT_PUT_BACK),
            f"[ ! -s {base} ] || {_or_failed(f'xargs -0 {GIT} checkout -q HEAD -- < {base}', NOT_PUT_BACK)}",
            f"last=; {_loop(extra, _WITHOUT_EMPTY_FOLDERS)}",
            _loop(extra, f'[ ! -f "$path" ] && [ ! -L "$path" ] || {_not_there("cannot be removed")}'),
            _loop(base, f'[ -e "$path" ] || [ -L "$path" ] || {_not_there("cannot be put back")}'),
            "fi",
        ]
        lines.append(f"[ ! -d {FIXED} ] || {_or_failed(f'cp -R --no-preserve=all {FIXED}/. .', NOT_PUT_BACK)}")
        if self.plan.test_patch:
            lines.append(_or_failed(f"{GIT} apply {HOME}/tests.patch", CONFLICT))
        lines.append(f"[ ! -d {PARTED} ] || {_or_failed(f'cp -R --no-preserve=all {PARTED}/. .', NOT_PUT_BACK)}")
        if self.assets:
            lines.append(_or_failed(f"cp -R --no-preserve=all {ASSETS}/. .", NOT_PUT_BACK))
        if self.tripwires:
            lines += [f"cd {shlex.quote(self.plan.folder)} || exit 1"] if self.plan.folder else []
            lines += [
                "exec 2> /dev/null",
                f"TRIPWIRES={TRIPWIRES}",
                f"set -- {shlex.join(self.plan.targets or self.plan.chosen)}",
            ]
            mark = "" if self.plan.sure else f" | sed 's/[{UNSURE}]*$/{UNSURE}/'"
            lines += [f"{{ {find_runner(self.plan.runner).PLACING}\n}}{mark}", f"rm -rf {TRIPWIRES} 2> /dev/null"]
        return "\n".join([*lines, f"rm -f {SAID} {listed} {base} {extra} /tmp/assay-probe", "exit 0", ""])


def make_delivery(
    instance: Instance,
    plan: TestPlan,
    patch: GatedPatch,
    tripwires: Tripwires | None = None,
    assets: Mapping[str, bytes] | None = None,
) -> Delivery:
    """Pack a patch, tripwires, and the tests' binary files by their path in the tree."""
    language = languages.find_or_none(instance.language)
    products = language.BUILD_PRODUCTS if language else ()
    words, labels = _words_of_labels(instance) if tripwires else (), instance.fail_to_pass
    return Delivery(plan, patch, tripwires, products, assets or {}, words, labels)


def _words_of_labels(instance: Instance) -> tuple[str, ...]:
    """Return the longest word of each label, without what follows a slash: a name that its test's source contains."""
    labels = (label.partition("/")[0] for label in (*instance.fail_to_pass, *instance.pass_to_pass))
    found = (max(_WORD.findall(label), key=len, default="") for label in labels)
    return tuple(sorted({word for word in found if word}))


def format_list(paths: Iterable[str]) -> bytes:
    """Return paths as the scripts read them: each ended by NUL."""
    return "".join(f"{path}\0" for path in paths).encode(errors="surrogateescape")


def _or_failed(command: str, status: int) -> str:
    return f"{{ {command} > {SAID} 2>&1 || failed $? {status}; }}"


def _loop(file: str, check: str) -> str:
    return f"while IFS= read -r -d '' path; do {check}; done < {file}"


def _not_there(why: str) -> str:
    return f'{{ echo "a path that the patch changed {why}: $path" > {SAID}; failed 1 {NOT_PUT_BACK}; }}'
