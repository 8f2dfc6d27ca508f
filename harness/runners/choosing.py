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
    """How commands of one runner choose: options in one text, and patterns of words."""

    program: str
    """Patterns of the words that start it."""
    tests: str = ""
    """Leave out single tests or end a run early, and leave out tripwires with them."""
    places: str = ""
    """Leave out files, programs or projects in a way that ``TestRunner.PLACING`` cannot follow."""
    follows: str = ""
    values: str = ""
    """Others that have a value. An option that ends in ``=`` may have its value in the next word."""
    filters: str = r"(?!)"
    """Pattern of words that choose single tests."""
    words: str = r"(?!)"
    """Pattern of words that ``PLACING`` follows."""
    default: str = ""
    """What runs without a word."""

    @property
    def with_value(self) -> frozenset[str]:
        known = f"{self.tests} {self.places} {self.follows} {self.values}".split()
        return frozenset(option[:-1] for option in known if option.endswith("="))

    def choose(self, command: Sequence[str]) -> Choice | None:
        """Read a command; None if it does not start the runner."""
        programs = [rf"(\S*/)?({each})" for each in self.program.split(" ")]
        size = len(programs)
        ends = (at for at in range(size, len(command) + 1) if all(map(re.fullmatch, programs, command[at - size : at])))
        end = next(ends, None)
        if end is None:
            return None
        given = list(arguments(command[end:], self.with_value))
        plain = [each[0] for each in given if not each[0].startswith("-")]
        left_out = [*_find(given, self.tests), *((word,) for word in plain if re.fullmatch(self.filters, word))]
        followed = [re.sub(r"^(-p)([^=]+)$", r"\1=\2", "=".join(each)) for each in _find(given, self.follows)]
        return Choice(
            (*followed, *(word for word in plain or self.default.split() if re.fullmatch(self.words, word))),
            runs_tripwires=not left_out or any(PLACEHOLDER in each[-1] for each in left_out),
            sure=not _find(given, self.places),
        )


def _find(given: Iterable[tuple[str, ...]], options: str) -> list[tuple[str, ...]]:
    """Return those of some options that a command has, with a value in the same word or without; 0 chooses nothing."""
    known = {option.removesuffix("=") for option in options.split()}
    short = {option for option in known if re.fullmatch("-[EPegkmnptx]", option)}
    found = (each for each in given if each[0].partition("=")[0] in known or each[0][:2] in short)
    return [each for each in found if not "=".join(each).endswith("=0")]


KINDS = "--lib --bin= --bins --test= --tests --example= --examples --bench= --benches --all-targets --doc"
"""Options of cargo that choose kinds of programs."""
_TABLE = rf"""
cargo program cargo test|t|nextest
cargo tests --skip= --ignored --partition= --run-ignored= --no-run --list
cargo places --manifest-path= -C= -E= --filter-expr= --filterset=
cargo follows {KINDS} -p= --package= --exclude= --workspace --all
cargo values -F= --features= --target= --target-dir= --profile= -j= --jobs= --color= --config= -Z= --test-threads=
cargo filters (?!run$).*
django program runtests\.py
django tests -k= --tag= --exclude-tag= --start-at= --start-after= --failfast
django values -v= --verbosity= --settings= --parallel= --shuffle= --selenium= --selenium-hub= --external-host=
django words [^{{$`]+
go program go test
go default .
go tests -run= -test.run= -skip= -bench= -failfast -list=
go places -C=
go values -count= -coverpkg= -coverprofile= -cpu= -gcflags= -ldflags= -mod= -p= -parallel= -tags= -timeout=
go words [^{{$`]+
googletest program ctest
googletest tests --stop-on-failure
googletest places -R= --tests-regex= -E= --exclude-regex= -L= --label-regex= -LE= --label-exclude= -I= --rerun-failed
gradle program gradlew?
gradle tests --tests= --fail-fast
gradle places -x= --exclude-task= -p= --project-dir= -b= --build-file=
gradle values -P= -D= -I= --init-script=
gradle words .*:.*
jasmine program jasmine(\.js)?
jasmine tests --filter= --fail-fast
jest tests -t= --testNamePattern= --bail -b
jest places --testPathPattern= --testPathPatterns= --testPathIgnorePatterns= --testMatch= --testRegex= --roots= --shard=
jest places --projects= --selectProjects= --ignoreProjects= --filter= --findRelatedTests --onlyFailures -f
jest places --onlyChanged -o --changedSince= --lastCommit
jest values -c= --config= -w= --maxWorkers= --rootDir=
jest words [^{{$`]+
karma tests --
maven program mvn[dw]?
maven tests -Dtest -Dit.test -Dgroups
maven places -f= --file= -rf= --resume-from=
maven follows -pl= --projects= -am --also-make -amd --also-make-dependents
maven values -T= --threads= -P= --activate-profiles= -s= --settings= -D= --define=
minitest program minitest\.rb|rake|ruby
minitest tests -n= --name= -i= --include= -e= --exclude= -x=
minitest filters (TESTOPTS|N|X)=.*
mocha program _?mocha
mocha tests -g= --grep= -f= --fgrep= -i --invert -b --bail --forbid-only
mocha places --ignore= --exclude= --spec= --file= --config=
node_test program node
node_test tests --test-name-pattern= --test-skip-pattern= --test-only
node_test places --test-shard=
phpunit tests --filter= --exclude-filter= --group= --exclude-group= --covers= --uses=
phpunit tests --stop-on-failure --stop-on-error --stop-on-defect --stop-on-warning
phpunit places --testsuite= --exclude-testsuite= --test-suffix=
phpunit values -c= --configuration= --bootstrap= --log-junit=
pytest program pytest|py\.test
pytest tests -k= -m= -x --exitfirst --maxfail= --deselect= --lf --last-failed --sw --stepwise --splits= --group=
pytest places --ignore= --ignore-glob= --pyargs -c= --config-file=
pytest values -o= --override-ini= -p= -n= --numprocesses= --dist= -W= -r= --tb= --durations= --rootdir= --confcutdir=
pytest values --color= --capture= --import-mode= --cov= --cov-report= --cov-config= --timeout= --basetemp=
pytest words [^{{$`]+
rspec tests -e= --example= -E= --example-matches= -t= --tag= --only-failures -n --next-failure --fail-fast
rspec places -P= --pattern= --exclude-pattern=
rspec values -f= --format= -o= --out= -r= -I=
rspec filters .*(:\d+|\[[\d:,]+\])
sympy program bin/test
sympy tests -k= --split= --slow
sympy values --seed= --tb= --timeout= --types= -t= --rerun=
tape program tape(\.js)?
tape places -i= --ignore= --ignore-pattern=
unittest tests -k= -f --failfast -p= --pattern=
unittest values -s= --start-directory= -t= --top-level-directory=
unittest words (?!discover$)[^{{$`]+
vitest tests -t= --testNamePattern= --bail --tags-filter=
vitest places -r= --root= --dir= --project= --exclude= --shard= --changed
vitest values -c= --config=
vitest words (?!run$)[^{{$`]+
"""
BESIDE = frozenset({"cargo", "go", "googletest", "gradle", "jest", "maven", "node_test", "vitest"})
"""Runners whose tripwires need no name in the command: they are among the tests."""


def _read_table() -> Mapping[str, Options]:
    found = dict[str, dict[str, str]]()
    for runner, kind, text in (line.split(" ", 2) for line in _TABLE.strip().splitlines()):
        row = found.setdefault(runner, {"program": runner})
        row[kind] = text if kind == "program" else f"{row.get(kind, '')} {text}".strip()
    return {runner: Options(**row) for runner, row in found.items()}


OPTIONS = _read_table()
"""Runners by name; one that is not here is taken to run all tripwires."""


def read_choice(runner: str, commands: Iterable[Sequence[str]], *, names_tripwires: bool = True) -> Choice:
    """Read what some commands run; all if none of them starts the runner. Of two, nobody knows which runs a place."""
    options = OPTIONS.get(runner, Options(r"(?!)"))
    found = [choice for each in commands if (choice := options.choose(each))]
    return Choice(
        found[0].chosen if len(found) == 1 else (),
        runs_tripwires=all(each.runs_tripwires for each in found),
        sure=len(found) < 2 and (names_tripwires or runner in BESIDE) and all(each.sure for each in found),
    )
