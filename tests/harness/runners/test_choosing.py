"""For each runner every way in which a command selects: followed, not followed, or no tripwires at all."""

import pytest

from assay.harness.runners import RUNNERS
from assay.harness.runners.choosing import OPTIONS, Choice, read_choice

ALL: dict[str, str] = {
    "cargo": "cargo test --offline --no-fail-fast -F serde",
    "django": "python {adapter} runtests.py --settings=test_sqlite --parallel 1",
    "go": "go test -json -tags integration -count=1 ./...",
    "googletest": "ctest --test-dir build -V",
    "gradle": "./gradlew --offline --continue test",
    "jasmine": "node /opt/assay/jasmine.js jasmine.json",
    "jest": "node_modules/.bin/jest --ci --bail=0",
    "karma": "node_modules/.bin/karma start /opt/assay/karma.conf.js --grep",
    "maven": "mvn --offline -T 1C -DskipTests=false clean test",
    "minitest": "ruby /opt/assay/minitest.rb",
    "mocha": "node_modules/.bin/mocha --exit",
    "node_test": "node --test --test-concurrency=1",
    "phpunit": "vendor/bin/phpunit --configuration x.xml",
    "pytest": "/opt/venv/bin/python -m pytest -rfE -p no:cacheprovider --maxfail=0 -o addopts= .",
    "rspec": "bundle exec rspec --format documentation spec",
    "sympy": "python {adapter} bin/test --verbose",
    "tape": "node /opt/assay/tape.js",
    "unittest": "python -m unittest -v discover -s tests",
    "vitest": "npx vitest run --bail=0",
}
LEFT_OUT: dict[str, str] = {
    "cargo": "name|--skip x|--skip=x|-- --ignored|-- name --exact|--no-run|--partition count:1/2",
    "django": "-k x|--tag x|--exclude-tag=x|--start-at a|--start-after a|--failfast",
    "go": "-run X|-run=X|-test.run X|-skip X|-bench .|-failfast",
    "googletest": "--stop-on-failure",
    "gradle": "--tests X|--tests=X|--fail-fast",
    "jasmine": "--filter=x",
    "jest": "-t x|-tx|--testNamePattern=x|-b",
    "karma": "-- --grep=x",
    "maven": "-Dtest=X|-Dgroups=x|-Dit.test=X",
    "minitest": "-n x|--name=/x/|-e x|TESTOPTS=-nx|N=x",
    "mocha": "-g x|--grep=x|-f x|--invert|--bail|--forbid-only",
    "node_test": "--test-name-pattern=x|--test-skip-pattern x|--test-only",
    "phpunit": "--filter x|--group x|--exclude-group=x|--covers X|--stop-on-failure",
    "pytest": "-k x|-kx|-m x|-x|--maxfail=1|--deselect a::b|--lf|--stepwise|--splits 2 --group 1",
    "rspec": "-e x|--example=x|-t x|--tag ~x|-E x|spec/a_spec.rb:3|spec/a_spec.rb[1:2]|--fail-fast|--only-failures",
    "sympy": "-k x|--split=1/2|--slow",
    "tape": "",
    "unittest": "-k x|-f|-p x",
    "vitest": "-t x|--testNamePattern=x",
}
"""What leaves out single tests, by runner; each is one case."""
UNKNOWN: dict[str, str] = {
    "cargo": "--manifest-path a/Cargo.toml|-E package(a)",
    "go": "-C a",
    "googletest": "-R x|-E x|-L x|-LE x|-I 1,2|--rerun-failed",
    "gradle": "-x :a:test|-p a|--project-dir=a",
    "jest": "--testPathPattern x|--testPathIgnorePatterns=x|--projects a|--selectProjects a|--shard=1/2|-o|--roots a",
    "maven": "-f a/pom.xml|-rf :a",
    "mocha": "--ignore x|--exclude=x|--spec x|--config x",
    "node_test": "--test-shard=1/2",
    "phpunit": "--testsuite x|--exclude-testsuite=x|--test-suffix x",
    "pytest": "--ignore=a|--ignore-glob=a*|--pyargs a|-c x.ini",
    "rspec": "-P x|--pattern=x|--exclude-pattern x",
    "tape": "-i x",
    "vitest": "--project a|--dir a|-r a|--exclude x|--shard=1/2|--changed",
}
"""What leaves out files, programs or projects that nobody follows."""


def cases(table: dict[str, str]) -> list[tuple[str, str]]:
    return [(runner, option) for runner, options in table.items() for option in options.split("|") if option]


def read(runner: str, line: str) -> Choice:
    return read_choice(runner, [["echo", "x"], ["exec", *line.split()]], names_tripwires=True)


def test_each_runner_is_read() -> None:
    assert OPTIONS.keys() == ALL.keys() == LEFT_OUT.keys() == RUNNERS.keys()


@pytest.mark.parametrize("runner", ALL)
def test_command_of_all_tests_has_tripwires_in_all_places(runner: str) -> None:
    found = read(runner, ALL[runner])
    assert (found.runs_tripwires, found.sure) == (True, True)


@pytest.mark.parametrize(("runner", "option"), cases(LEFT_OUT))
def test_choice_of_single_tests_has_no_tripwires(runner: str, option: str) -> None:
    assert not read(runner, f"{ALL[runner]} {option}").runs_tripwires


@pytest.mark.parametrize(("runner", "option"), cases(UNKNOWN))
def test_choice_that_nobody_follows_makes_no_place_sure(runner: str, option: str) -> None:
    found = read(runner, f"{ALL[runner]} {option}")
    assert (found.runs_tripwires, found.sure) == (True, False)


@pytest.mark.parametrize(
    ("runner", "line", "chosen"),
    [
        (
            "cargo",
            "cargo test -p a --package=b --test it --lib {tripwires}",
            ("-p=a", "--package=b", "--test=it", "--lib"),
        ),
        ("cargo", "cargo nextest run --workspace --exclude a -pb", ("--workspace", "--exclude=a", "-p=b")),
        ("django", "runtests.py --tag=x auth_tests.test_forms {tripwires}", ("auth_tests.test_forms",)),
        ("go", "go test", (".",)),
        ("go", "go test -timeout 9s -coverpkg ./... ./a acme.org/calc/b", ("./a", "acme.org/calc/b")),
        ("gradle", "gradle :a:test b:test clean", (":a:test", "b:test")),
        ("jest", "jest src/a -c jest.json $files", ("src/a",)),
        ("maven", "mvn -pl a,:b -am test", ("-pl=a,:b", "-am")),
        ("pytest", "pytest -n 2 --tb short tests a.py::test_x {tripwires}", ("tests", "a.py::test_x")),
        ("unittest", "python -m unittest tests.test_a.ATest", ("tests.test_a.ATest",)),
        ("vitest", "vitest run src/a.test.ts", ("src/a.test.ts",)),
    ],
)
def test_other_choices_are_followed(runner: str, line: str, chosen: tuple[str, ...]) -> None:
    found = read(runner, line)
    assert (found.chosen, found.sure) == (chosen, True)


def test_filter_that_lets_the_tripwires_pass_leaves_none_out() -> None:
    lines = ("cargo test x {tripwires}", "mvn test -Dtest=A,{tripwires}", "go test -run A|{tripwires} .")
    found = [read(runner, line) for runner, line in zip(("cargo", "maven", "go"), lines, strict=True)]
    assert all(each.runs_tripwires for each in found)


def test_tripwires_of_a_file_that_the_command_does_not_name_are_not_sure() -> None:
    assert [read_choice(each, [ALL[each].split()], names_tripwires=False).sure for each in ("pytest", "go")] == [
        False,
        True,
    ]


def test_of_two_commands_nobody_knows_which_runs_a_place() -> None:
    lines = ("cargo test --lib", "cargo test --test it")
    assert read_choice("cargo", [line.split() for line in lines], names_tripwires=True) == Choice(sure=False)
