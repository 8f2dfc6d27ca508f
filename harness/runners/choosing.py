"""What a test command chooses to run, in the words of its runner: tripwires have to be where tests surely run."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.harness.runners.base import PLACEHOLDER
from assay.harness.runners.commands import arguments


@dataclass(frozen=True, slots=True)
class Choice:
    """What a command runs."""

    chosen: tuple[str, ...] = ()
    """Options and words that ``TestRunner.PLACING`` follows."""
    runs_tripwires: bool = True
    sure: bool = True
    """Whether it is known which places run."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options by which commands of one runner choose; one that ends in ``=`` may have its value in the next word."""

    program: str
    """Patterns of the words that start it."""
    tests: str = ""
    """Leave out single tests, or end a run early: tripwires are left out, too."""
    places: str = ""
    """Leave out whole files, programs or projects, which ``PLACING`` cannot follow."""
    follows: str = ""
    """Choose what ``PLACING`` follows."""
    values: str = ""
    """Others that have a value."""
    filters: str = r"(?!)"
    """Pattern of words that choose single tests."""
    words: str = r"(?!)"
    """Pattern of words that ``PLACING`` follows."""
    default: tuple[str, ...] = ()
    """What runs without such words."""

    def choose(self, command: Sequence[str]) -> Choice | None:
        """Read a command; None if it does not start the runner."""
        programs = self.program.split(" ")
        rest = next((command[at:] for at in range(len(command)) if _starts(command[at:], programs)), None)
        if rest is None:
            return None
        known = f"{self.tests} {self.places} {self.follows} {self.values}".split()
        with_value = [option.removesuffix("=") for option in known if option.endswith("=")]
        given = list(arguments(rest[len(programs) :], with_value))
        plain = [each[0] for each in given if not each[0].startswith("-")]
        left_out = [*_find(given, self.tests), *((word,) for word in plain if re.fullmatch(self.filters, word))]
        followed = [re.sub(r"^(-\w)([^=]+)$", r"\1=\2", "=".join(each)) for each in _find(given, self.follows)]
        return Choice(
            (*followed, *([word for word in plain if re.fullmatch(self.words, word)] if plain else self.default)),
            runs_tripwires=not left_out or any(PLACEHOLDER in each[-1] for each in left_out),
            sure=not _find(given, self.places),
        )


def _starts(words: Sequence[str], programs: Sequence[str]) -> bool:
    matches = [re.fullmatch(rf"(\S*/)?({program})", word) for program, word in zip(programs, words, strict=False)]
    return len(matches) == len(programs) and all(matches)


def _find(given: Iterable[tuple[str, ...]], options: str) -> list[tuple[str, ...]]:
    """Return those of some options that a command has, with a value in the same word or without; 0 chooses nothing."""
    known = {option.removesuffix("=") for option in options.split()}
    short = {option for option in known if re.fullmatch("-[EPegkmnptx]", option)}
    found = (each for each in given if each[0].partition("=")[0] in known or each[0][:2] in short)
    return [each for each in found if not "=".join(each).endswith("=0")]


_WORD = r"[^{$`]+"
_KINDS = "--lib --bin= --bins --test= --tests --example= --examples --bench= --benches --all-targets --doc"
KINDS = frozenset(_KINDS.replace("=", "").split())  # options of cargo that choose kinds of programs
_OF_CARGO = "-F= --features= --target= --target-dir= --profile= -j= --jobs= --color= --config= -Z= --test-threads="
_OF_GO = "-count= -coverpkg= -coverprofile= -cpu= -gcflags= -ldflags= -mod= -modfile= -p= -parallel= -tags= -timeout="
_TITLES = "-t= --testNamePattern= --bail -b"
_OF_JEST = """
--testPathPattern= --testPathPatterns= --testPathIgnorePatterns= --testMatch= --testRegex= --roots= --projects= --shard=
--filter= --selectProjects= --ignoreProjects= --findRelatedTests -f --onlyFailures -o --onlyChanged --changedSince=
"""
_OF_PYTEST = """
-k= -m= -x --exitfirst --maxfail= --deselect= --lf --last-failed --sw --stepwise --splits= --group= --testmon
"""
_VALUES = "-o= -p= -n= -W= -r= --tb= --durations= --rootdir= --confcutdir= --color= --cov= --timeout= --basetemp="
_OF_CTEST = """
-R= --tests-regex= -E= --exclude-regex= -L= --label-regex= -LE= --label-exclude= -I= --rerun-failed --target=
"""
_OF_PHPUNIT = """
--filter= --exclude-filter= --group= --exclude-group= --covers= --uses=
--stop-on-failure --stop-on-error --stop-on-defect --stop-on-warning
"""
_OF_RSPEC = "-e= --example= -E= --example-matches= -t= --tag= --only-failures -n --next-failure --fail-fast"
_OF_DJANGO = "-k= --tag= --exclude-tag= --start-at= --start-after= --failfast"
_OF_MOCHA = "-g= --grep= -f= --fgrep= -i --invert -b --bail --forbid-only"
OPTIONS: Mapping[str, Options] = {
    "cargo": Options(
        "cargo test|t|nextest",
        "--skip= --ignored --partition= --run-ignored= --no-run --list",
        "--manifest-path= -C= -E= --filter-expr= --filterset=",
        f"{_KINDS} -p= --package= --exclude= --workspace --all",
        _OF_CARGO,
        filters="(?!run$).*",
    ),
    "django": Options(r"runtests\.py", _OF_DJANGO, values="--settings=", words=_WORD),
    "go": Options(
        "go test", "-run= -test.run= -skip= -bench= -failfast -list=", "-C=", "", _OF_GO, words=_WORD, default=(".",)
    ),
    "googletest": Options("ctest|cmake", "--stop-on-failure", _OF_CTEST),
    "gradle": Options("gradlew?", "--tests= --fail-fast", "-x= --exclude-task= -p= --project-dir= -b=", words=".*:.*"),
    "jasmine": Options(r"jasmine(\.js)?", "--filter= --fail-fast"),
    "jest": Options("jest", _TITLES, _OF_JEST, values="-c= --config= -w= --rootDir=", words=_WORD),
    "karma": Options("karma", "--"),  # what follows is for the runner in the browser
    "maven": Options("mvn[dw]?", "-Dtest -Dit.test -Dgroups", "-f= --file= -rf= -am -amd", "-pl= --projects="),
    "minitest": Options(r"minitest\.rb|rake|ruby", "-n= --name= -i= -e= --exclude= -x=", filters="(TESTOPTS|N|X)=.*"),
    "mocha": Options("_?mocha", _OF_MOCHA, "--ignore= --exclude= --spec= --file= --config="),
    "node_test": Options("node", "--test-name-pattern= --test-skip-pattern= --test-only", "--test-shard="),
    "phpunit": Options("phpunit", _OF_PHPUNIT, "--testsuite= --exclude-testsuite= --test-suffix="),
    "pytest": Options(
        r"pytest|py\.test", _OF_PYTEST, "--ignore= --ignore-glob= --pyargs -c=", "", _VALUES, words=_WORD
    ),
    "rspec": Options("rspec", _OF_RSPEC, "-P= --pattern= --exclude-pattern=", filters=r".*(:\d+|\[[\d:,]+\])"),
    "sympy": Options("bin/test", "-k= --split= --slow"),
    "tape": Options(r"tape(\.js)?", "", "-i= --ignore= --ignore-pattern="),
    "unittest": Options(
        "unittest", "-k= -f --failfast -p= --pattern=", values="-s= -t=", words=f"(?!discover$){_WORD}"
    ),
    "vitest": Options(
        "vitest", _TITLES, "-r= --root= --dir= --project= --exclude= --shard= --changed", words=f"(?!run$){_WORD}"
    ),
}
"""By the names of runners. One that is not here is taken to run all tripwires."""
BESIDE = frozenset({"cargo", "go", "googletest", "gradle", "jest", "maven", "node_test", "vitest"})
"""Runners whose tripwires need no name in the command: they are among the tests."""


def read_choice(runner: str, commands: Iterable[Sequence[str]], *, names_tripwires: bool) -> Choice:
    """Read what some commands run; all if none of them starts the runner. Of two, nobody knows which runs a place."""
    options = OPTIONS.get(runner, Options(r"(?!)"))
    found = [choice for each in commands if (choice := options.choose(each))]
    return Choice(
        found[0].chosen if len(found) == 1 else (),
        runs_tripwires=all(each.runs_tripwires for each in found),
        sure=len(found) < 2 and (names_tripwires or runner in BESIDE) and all(each.sure for each in found),
    )
