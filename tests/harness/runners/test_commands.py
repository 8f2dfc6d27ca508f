"""Test commands of somebody else, and how the runners of JavaScript, PHP and Ruby adapt them."""

import pytest

from assay.harness.runners import adapt, commands
from placed_tripwires import adapt_lines

JEST = "--ci --json --verbose --bail=0 --outputFile={report} --reporters=default"
VITEST = "--bail=0 --reporter=json --reporter=verbose --outputFile={report}"
RSPEC = "--no-color --no-fail-fast --format documentation --format json --out {report}"
PHPUNIT = "--testdox --colors=never --log-junit {report}"


def test_command_is_its_start_its_options_with_values_and_its_targets() -> None:
    command = commands.part(["npx", "jest", "-t", "name", "a.test.js", "--bail=2", "b.test.js"], "jest", {"-t"})
    assert command is not None
    assert command.start == ("npx", "jest")
    assert command.targets == ("a.test.js", "b.test.js")
    assert command.has({"--bail"})
    assert not command.has({"name"})
    assert command.without({"-t", "--bail"}) == ("npx", "jest", "a.test.js", "b.test.js")


@pytest.mark.parametrize(
    ("words", "runner", "command", "targets"),
    [
        ("npx jest --silent a.test.js --json", "jest", f"exec npx jest a.test.js {JEST}", ("a.test.js",)),
        ("yarn run jest --reporters=x", "jest", f"exec yarn run jest {JEST}", ()),
        ("node_modules/.bin/jest a", "jest", f"exec node_modules/.bin/jest a {JEST}", ("a",)),
        ("pnpm exec vitest run a --reporter=dot", "vitest", f"exec pnpm exec vitest run a {VITEST}", ("a",)),
        ("bundle exec rspec -f json spec", "rspec", f"exec bundle exec rspec spec {RSPEC} {{tripwires}}", ("spec",)),
        ("./bin/phpunit --testdox ATest.php", "phpunit", f"exec ./bin/phpunit ATest.php {PHPUNIT}", ("ATest.php",)),
    ],
)  # fmt: skip
def test_adapted_command_reports_and_prints_every_test(
    words: str, runner: str, command: str, targets: tuple[str, ...]
) -> None:
    found = adapt_lines(runner, words)
    assert found.command.removeprefix("CI=true NO_COLOR=1 ") == command
    assert (found.targets, found.runs_tripwires) == (targets, True)


@pytest.mark.parametrize(
    "words",
    [
        *(
            "npx jest -t 'a b' a.test.js",
            "npx vitest run -t x",
            "bundle exec rspec a_spec.rb:3",
            "rspec a_spec.rb[1:2]",
        ),
        *("rspec -e name a_spec.rb", "rspec", "vendor/bin/phpunit --filter 'one two' ATest.php"),
    ],
)
def test_command_that_chooses_tests_by_name_has_a_report_alone(words: str) -> None:
    found = adapt_lines(next(name for name in ("jest", "vitest", "rspec", "phpunit") if name in words), words)
    assert "{report}" in found.command
    assert "{tripwires}" not in found.command
    assert not found.runs_tripwires
    quoted = words.split("'")[1:2]
    assert all(f"'{each}'" in found.command for each in quoted)


@pytest.mark.parametrize(
    "words",
    [
        *(
            "npx jest --watch a",
            "npx jest --listTests",
            "npx vitest bench",
            "rspec --dry-run a",
            "phpunit --list-tests",
        ),
        *("yarn test a.test.js", "npm test", "jestx a", "npx", "", "bundle exec ruby a_test.rb"),
    ],
)
def test_any_other_command_is_not_adapted(words: str) -> None:
    assert adapt(words.split()) is None
