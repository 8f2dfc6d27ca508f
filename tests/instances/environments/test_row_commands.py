"""Scripts of rows in environments of Assay's own."""

import pytest

from assay.harness.domain import PublishedImage, Recipe, RowScript
from assay.instances.environments.plan import WORKDIR, make_plan
from assay.instances.environments.row_commands import read_commands
from toy import make_instance

HEAD = "set -uxo pipefail\nsource /opt/miniconda3/bin/activate\nconda activate testbed\ncd /testbed\n"
SCRIPT = (
    HEAD + "apt-get install -y jq\npip install -e .\n{}\n: '>>>>> Start Test Output'\n{}\n: '>>>>> End Test Output'\n"
)
BIN = "node_modules/.bin"
SCRIPTS = {"test": "vitest --project unit", "build": "rollup -c", "both": "a && b", "lint": "eslint ."}


def row(command: str, build: str = "true", language: str = "python", **fields: object):
    script = RowScript(eval_script=SCRIPT.format(build, command), scripts=SCRIPTS)
    return make_instance(environment=script, language=language, **fields)


@pytest.mark.parametrize(
    ("language", "command", "runner", "program"),
    [
        ("rust", "(cargo test --package tokio --test net --features full) | cat", "cargo", "--test net"),
        ("java", "(mvnd test -B -pl core -Dtest=ATest && mvnd test -B -pl core -Dtest=BTest) | cat", "maven", "mvn"),
        ("java", "./mvnw test -Dtest=ATest", "maven", "\nmvn --offline "),
        ("javascript", "npx jest a.test.js --silent --json | jq -r '.x' | cat", "jest", f"exec {BIN}/jest a.test.js"),
        ("javascript", "yarn jest a.test.js", "jest", f"exec {BIN}/jest a.test.js"),
        ("typescript", "(pnpm run test a.spec.ts --no-watch) | cat", "vitest", f"exec {BIN}/vitest --project unit a"),
        ("typescript", "npm test -- a.spec.ts", "vitest", f"exec {BIN}/vitest --project unit a.spec.ts"),
        ("ruby", "bundle exec rspec spec/a_spec.rb --format json | tail -n +2 | jq .", "rspec", "rspec spec/a_spec.rb"),
        ("python", "pytest -rA tests/test_a.py", "pytest", "exec pytest -rA"),
        ("python", "tox --current-env -epy39 -v -- tests/test_a.py", "pytest", "exec pytest tests/test_a.py"),
        ("python", "poetry run pytest tests/test_a.py", "pytest", "exec pytest tests/test_a.py"),
    ],
)  # fmt: skip
def test_the_rows_command_runs_with_report_and_tripwires_by_the_programs_of_our_image(
    language: str, command: str, runner: str, program: str
) -> None:
    plan = make_plan(row(command, language=language), Recipe(language=language))
    assert (plan.runner, plan.tripwires, plan.workdir, plan.user) == (runner, True, WORKDIR, "assay")
    assert plan.report_format
    assert plan.report_path
    assert program in plan.command
    for foreign in ("npx", "yarn", "pnpm", "npm", "mvnd", "mvnw", "bundle", "jq", "conda", "pip ", "apt", "tox"):
        assert foreign not in plan.command


@pytest.mark.parametrize(
    ("language", "command", "build", "expected"),
    [
        ("c", "(TERM=dumb ./runtest --single x) | cat", "make", "make\nexport TERM=dumb\n./runtest --single x\n"),
        ("java", "(ant test.instance) | cat", "./mvnw -q compile", "mvn -o -q compile\nant test.instance\n"),
        ("javascript", "npm run both", "npm run build", "node_modules/.bin/rollup -c\nnpm run both\n"),
        ("ruby", "bundle exec ruby test/a.rb -v -n '/x/'", "export A=1", "export A=1\nruby test/a.rb -v -n /x/\n"),
        ("c", "for each in *; do ./$each; done", "make", "make\nset -o pipefail\nfor each in *; do ./$each; done\n"),
    ],
)  # fmt: skip
def test_a_runner_that_is_not_known_is_run_as_the_row_says_and_its_log_is_read(
    language: str, command: str, build: str, expected: str
) -> None:
    plan = make_plan(row(command, build, language, log_format="redis_text"), Recipe(language=language))
    assert plan.command == f"cd /testbed\n{expected}"
    assert (plan.runner, plan.report_path, plan.tripwires, plan.log_format) == ("", "", False, "redis_text")


@pytest.mark.parametrize(
    ("language", "command"), [("php", "vendor/bin/phpunit --testdox tests/ATest.php"), ("python", "echo nothing")]
)
def test_where_the_languages_own_command_prepares_the_runner_or_the_script_tests_nothing_that_is_run(
    language: str, command: str
) -> None:
    instance = row(command, language=language)
    recipe = Recipe(language=language)
    assert read_commands(instance) is None
    assert make_plan(instance, recipe) == make_plan(instance.model_copy(update={"environment": None}), recipe)


def test_files_of_the_tree_are_run_by_the_languages_own_command() -> None:
    instance = row("cargo test --package tokio hidden_test", language="rust")
    plan = make_plan(instance, Recipe(language="rust"), files=["tests/visible.rs"])
    assert plan == make_plan(
        instance.model_copy(update={"environment": None}), Recipe(language="rust"), ["tests/visible.rs"]
    )
    assert "hidden_test" not in plan.command


def test_another_folder_of_the_repository_is_ours() -> None:
    text = (
        "cd /app\nexport LIBS=/app/lib:/apples\nmake -C /app/sub\n: '>>>>> Start Test Output'\ncd /app/sub && ./run\n"
    )
    plan = make_plan(make_instance(environment=RowScript(eval_script=text), language="c"), Recipe(language="c"))
    assert (
        plan.command == "cd /testbed\nexport LIBS=/testbed/lib:/apples\nmake -C /testbed/sub\ncd /testbed/sub\n./run\n"
    )
    assert plan.folder == "/testbed/sub"


def test_in_the_rows_own_image_its_script_stays_as_it_is() -> None:
    text = SCRIPT.format("./mvnw -q compile", "npx jest a.test.js --json | jq .")
    instance = make_instance(environment=PublishedImage(image="a", eval_script=text), language="javascript")
    plan = make_plan(instance, Recipe(language="javascript"))
    assert plan.command.endswith("./mvnw -q compile\nnpx jest a.test.js --json | jq .\n")
    assert "pip install -e ." in plan.install
