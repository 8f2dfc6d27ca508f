"""What a JavaScript project's tests are: the commands that start a known runner, and what is built before. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from posixpath import join, normpath

from assay.harness import runners
from assay.harness.runners import Adapted
from assay.harness.runners.commands import arguments
from assay.instances.setup.node_manifests import NodePackage
from assay.instances.setup.node_scripts import BUILDS, WITH_VALUE, Expansion, ScriptCommand

RUNNERS = ("jest", "vitest", "mocha", "ava", "node_test", "tape", "jasmine", "karma")
TAP: Mapping[str, tuple[str, ...]] = {
    "tap": ("--reporter=tap",),
    "lab": ("--reporter", "tap"),
    "qunit": ("--reporter", "tap"),
    "brittle": (),
    "vows": ("--tap",),
}
"""Programs that print TAP, and the words that make them."""
USUAL: Mapping[str, tuple[str, ...]] = {
    "vitest": ("vitest", "run"),
    "jest": ("jest",),
    "react-scripts": ("react-scripts", "test"),
    "ava": ("ava",),
    "mocha": ("mocha",),
    "jasmine": ("jasmine",),
    "karma": ("karma", "start"),
    "tap": ("tap",),
}
"""The usual command of a development dependency."""
UNIT = ("test:unit", "test-unit", "unit", "unit-test", "unit:test", "unit-tests")
SCRIPTS = (
    *("test", *UNIT, "test:ci", "test-ci", "ci:test", "test:node"),
    *("tests", "test:js", "test:all", "test:run", "test:once", "mocha", "jest", "vitest", "ava", "tape", "coverage"),
)
"""Names of the scripts that usually run tests, the likeliest first."""
BROWSERS = r"e2e|cypress|playwright|puppeteer|smoke|browsers?|lighthouse|wdio|visual"
TYPES = "(?<!strip-)(?<!transform-)types"  # not node's options
END_TO_END = re.compile(rf"(^|[^a-z])({BROWSERS}|integration|acceptance|{TYPES}|bench)", re.IGNORECASE)
CHECK_SCRIPT = re.compile(r".*\b(types?|lint|check|format|typecheck|style)\b.*")
CHECKS = re.compile(
    r".*(eslint|prettier|tslint|standard|xo|biome|stylelint|tsd|lint|size-limit|publint|knip|cspell).*|echo|true"
)
BUILDERS = frozenset(
    (
        *(
            "tsc",
            "ttsc",
            "tspc",
            "tsc-alias",
            "rollup",
            "babel",
            "webpack",
            "esbuild",
            "tsup",
            "swc",
            "unbuild",
            "vite",
        ),
        *("microbundle", "ncc", "tsdx", "bob", "peggy", "pegjs", "jison", "buble", "browserify", "node-gyp", "ngc"),
        *("pkgroll", "grunt", "gulp", "make", "rimraf", "del-cli", "shx", "mkdir", "mkdirp", "cp", "rm", "cpx", "cpy"),
        "copyfiles",
    )
)
STARTERS = ("grunt", "gulp")
"""What starts runners by packages such as ``grunt-mocha-test``, in tasks that are not followed."""
INSTALLS = ("install", "prepare")
"""Scripts that a package manager runs when it installs, with those before and after them."""
STUBS = re.compile(
    r"(preconstruct dev|patch-package|prisma generate|svelte-kit sync|(nuxi|nuxt|wxt) prepare|astro sync|"
    r"ts-patch install|graphql-codegen|\S+ --stub)( .*)?"
)
"""What they generate at small cost, and tests load; whole builds are left to the rules."""
SURELY_WORK = re.compile(r"build|compile|dist|bundle|generate|tsc")
NOTHING = re.compile(r"echo\s+(\"[^\"]*\"|'[^']*')|exit \d")
GLOB = re.compile(r"[*?\[{]|\(.*\|")
SELF_EXPANDING = frozenset({"jest", "vitest", "mocha", "ava"})


@dataclass(frozen=True, slots=True)
class TestsRun:
    """One command that runs tests."""

    command: ScriptCommand
    runner: str
    """Empty if only its output is read."""
    adapted: Adapted
    """Its command without what it runs."""
    targets: tuple[str, ...]
    takes_files: bool
    """Whether it can be given the test files to run."""


@dataclass(frozen=True, slots=True)
class NodeSuite:
    """All that is run."""

    runs: tuple[TestsRun, ...] = ()
    builds: tuple[ScriptCommand, ...] = ()

    @property
    def runner(self) -> str:
        return self.runs[0].runner if self.runs else ""


def find_suite(packages: Mapping[str, NodePackage], paths: Sequence[str], named: Iterable[str] = ()) -> NodeSuite:
    """Find what runs the tests of a project: by its scripts, those of its packages, or its dependencies.

    Args:
        named: scripts that the project's workflows run.
    """
    suite, scripts = _find_runs(packages, paths, named), Expansion(packages)
    installs = (each for name in INSTALLS for each in scripts.follow("", name))
    stubs = [each for each in installs if STUBS.fullmatch(" ".join(each.words))]
    return replace(suite, builds=tuple(dict.fromkeys((*stubs, *suite.builds))))


def _find_runs(packages: Mapping[str, NodePackage], paths: Sequence[str], named: Iterable[str]) -> NodeSuite:
    scripts, known = Expansion(packages), frozenset(paths)
    root = packages.get("", NodePackage())
    ends = any(re.search(BROWSERS, name) and "test" in name for name in root.scripts)
    first = UNIT if ends else SCRIPTS[:1]  # where suites are apart, the script ``test`` often runs both
    names = [*first, *(each for each in named if each not in first), *SCRIPTS]
    names += [each for each in root.scripts if re.match(r"test[:_-]|unit", each) and each not in names]
    for name in names:
        if not END_TO_END.search(name) and (found := _choose(scripts.follow("", name), packages, known)):
            return found
    in_packages = [each for folder in packages if folder for each in scripts.follow(folder, "test")]
    if found := _choose(in_packages, packages, known):
        return found
    usual = (ScriptCommand(folder, words) for folder, words in _list_usual(packages, paths))
    return _choose(usual, packages, known) or NodeSuite()


def _list_usual(packages: Mapping[str, NodePackage], paths: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the folder and the usual command of runners that the root, else the packages, depend on or configure."""
    for folders in ([""], [folder for folder in packages if folder]):
        found = [(folder, name) for folder in folders for name in USUAL if _uses(name, folder, packages, paths)]
        if found:
            yield from ((folder, USUAL[name]) for folder, name in dict(reversed(found)).items())
            return
    if not re.search(r"[\w@]", NOTHING.sub("", packages.get("", NodePackage()).scripts.get("test", ""))):
        yield "", ("node", "--test")  # files of a runner that is not known would pass, whatever their tests do


def _uses(name: str, folder: str, packages: Mapping[str, NodePackage], paths: Sequence[str]) -> bool:
    package = packages.get(folder, NodePackage())
    config = re.compile(rf"{re.escape(join(folder, ''))}\.?{name}(rc.*|\.conf(ig)?\.\w+)")
    started = re.compile(rf"({'|'.join(STARTERS)})-{name}(-.*)?")
    depends = name in package.dependencies or any(map(started.fullmatch, package.dependencies))
    return depends or any(map(config.fullmatch, paths))


def _choose(
    commands: Iterable[ScriptCommand], packages: Mapping[str, NodePackage], paths: frozenset[str]
) -> NodeSuite | None:
    """Return the runs of the runner that most commands start, and the builds before the last of them."""
    found: list[ScriptCommand | TestsRun] = []
    for each in commands:
        package = packages.get(each.folder, NodePackage())
        run = read_run(each, package, paths)
        if run and not (END_TO_END.search(each.script) or any(map(END_TO_END.search, each.words))):
            found.append(run)
        elif run is None and is_build(each):
            found.append(each)
    runs = [each for each in found if isinstance(each, TestsRun)]
    if not runs:
        return None
    counts = Counter(run.runner for run in runs)
    order = (*RUNNERS, "")
    best = max(counts, key=lambda name: (counts[name], -order.index(name)))
    chosen = {(run.command.folder, run.command.words, run.command.env): run for run in runs if run.runner == best}
    last = max(number for number, each in enumerate(found) if isinstance(each, TestsRun) and each.runner == best)
    builds = (each for each in found[:last] if isinstance(each, ScriptCommand))
    return NodeSuite(tuple(chosen.values()), tuple(dict.fromkeys(builds)))


def is_build(command: ScriptCommand) -> bool:
    """Return whether a command makes files that tests may load; checks of the source make none."""
    words = command.words
    if words[:2] == ("npm", "run"):
        return bool(BUILDS.fullmatch(words[2]))
    if CHECK_SCRIPT.fullmatch(command.script):
        return False
    if CHECKS.fullmatch(command.program) or "--noEmit" in words or "--dry-run" in words:
        return False
    if command.prepares:
        return True
    if command.program == "node" or command.program in {"sh", "bash", "ts-node", "tsx", "zx"}:
        return any(map(SURELY_WORK.search, words[1:]))
    return command.program in BUILDERS or any(map(SURELY_WORK.search, words))


def read_run(command: ScriptCommand, package: NodePackage, paths: frozenset[str]) -> TestsRun | None:
    """Read a command that runs tests; None for any other, or a runner that is not known."""
    words = tuple(word for word in _name_runner(command.words, package) if word != "--")
    if words[0] in TAP:
        return TestsRun(command, "", _print_tap(words), (), takes_files=False)
    starter, words = (words[:1], words[1:]) if _is_starter(words) else ((), words)
    found = runners.adapt(words)
    if found is None or found[0] not in RUNNERS:
        return None
    name, adapted = found[0], _prepend_starter(starter, found[1])
    targets = [*adapted.targets]
    if name not in SELF_EXPANDING:
        targets = [each for target in targets for each in expand_pattern(target, command.folder, paths)]
    bare = runners.adapt([word for word in words if word not in adapted.targets])
    if name in {"karma", "jasmine"} or bare is None:
        return TestsRun(command, name, adapted, (), takes_files=False)
    in_tree = all(_is_there(target, command.folder, paths) for target in targets)
    return TestsRun(command, name, _prepend_starter(starter, bare[1]), tuple(targets), takes_files=in_tree)


def _is_starter(words: Sequence[str]) -> bool:
    """Return whether a program of the project's own is given a runner's name and its options."""
    return len(words) > 1 and words[1] in USUAL and bool(re.fullmatch(r"[\w-]+", words[0])) and words[0] not in USUAL


def _prepend_starter(starter: Sequence[str], adapted: Adapted) -> Adapted:
    return replace(adapted, command=adapted.command.replace("exec ", " ".join(("exec", *starter, "")), 1))


def _print_tap(words: tuple[str, ...]) -> Adapted:
    more = (*words[1:], *TAP[words[0]])
    return Adapted(f"exec {' '.join((words[0], *more))}", "", log_format="tap")


def _name_runner(words: tuple[str, ...], package: NodePackage) -> tuple[str, ...]:
    """Return ``node FILE`` as the runner that the file probably uses."""
    given = list(arguments(words[1:], WITH_VALUE))
    files = [each[0] for each in given if not each[0].startswith("-")]
    if words[0] not in {"node", "tsx", "ts-node"} or "--test" in words or not files:
        return words
    if not re.search(r"(^|[/._-])(tests?|spec|__tests__)([/._-]|$)", files[0]):
        return words
    if "tape" in package.dependencies and words[0] == "node":
        options = [word for each in given if each[0] in {"-r", "--require"} for word in ("-r", *each[1:])]
        return ("tape", *options, *files[:1])
    at = words.index(files[0])
    alone = not package.dependencies.keys() & (USUAL.keys() | TAP.keys())
    return (*words[:at], "--test", *words[at:]) if alone else words


def _is_there(target: str, folder: str, paths: frozenset[str]) -> bool:
    """Return whether a target, which may be a pattern, begins with a folder or a file of the tree."""
    first = normpath(join(folder, re.split(r"[*?\[{(|^$\\]", target)[0])).rstrip("/")
    start = (
        first.rpartition("/")[0] if GLOB.search(target) and not target.startswith("*") and first not in paths else first
    )
    return start in {"", "."} or any(path.startswith(start) for path in paths)


def expand_pattern(pattern: str, folder: str, paths: Iterable[str]) -> list[str]:
    """Return the files of the tree that a pattern matches, relative to the folder; itself if it is none."""
    if not GLOB.search(pattern):
        return [pattern]
    head = f"{folder}/" if folder else ""
    wanted = re.compile(_translate(normpath(pattern)))
    found = (path.removeprefix(head) for path in paths if path.startswith(head))
    return sorted(each for each in found if wanted.fullmatch(each)) or [pattern]


def _translate(pattern: str) -> str:
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]", "{": "(?:", "}": ")", ",": "|"}
    tokens = re.findall(r"\*\*/|\*\*|.", pattern)
    return "".join(parts.get(token, re.escape(token)) for token in tokens)
