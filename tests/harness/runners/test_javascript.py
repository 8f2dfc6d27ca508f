"""Tripwires of the JavaScript runners: their sources, and where they are put."""

import json
import random
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from assay.harness.domain import Status, TestPlan
from assay.harness.reports import read
from assay.harness.runners import RUNNERS, Tripwires, adapt_commands
from assay.harness.runners.base import EXPECTED, LABELS
from changes import change
from placed_tripwires import adapt_lines

OWN = ("jasmine", "karma", "mocha", "tape")
APPENDED = ("ava", "jest", "node_test", "vitest")
GLOBAL = 'test("one", () => {});\n'
IMPORTED = 'import { it } from "vitest";\nit.each`a`("one", () => {});'


def place(
    tree: Path, runner: str, files: Mapping[str, str], *targets: str, patch: str = ""
) -> tuple[Tripwires, list[str]]:
    """Write a tree, put tripwires into it, and return them with the places that were printed."""
    made = RUNNERS[runner].tripwires(random.Random(1))
    kit = tree / "kit" / "tripwires"
    kit.mkdir(parents=True, exist_ok=True)
    (kit.parent / "tests.patch").write_text(patch)
    for name, text in made.files.items():
        (kit / name).write_text(text)
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    command = ["sh", "-u", "-c", RUNNERS[runner].PLACING, "sh", *targets]
    path = "/usr/bin:/bin"
    done = subprocess.run(command, cwd=tree, env={"TRIPWIRES": str(kit), "PATH": path}, capture_output=True, check=True)
    return made, done.stdout.decode().split()


@pytest.mark.parametrize("runner", [*OWN, *APPENDED])
@pytest.mark.parametrize("seed", range(5))
def test_tripwires_pass_and_fail_in_several_ways(runner: str, seed: int) -> None:
    made = RUNNERS[runner].tripwires(random.Random(seed))
    statuses = list(made.expected.values())
    assert statuses.count(Status.PASSED) >= 2
    assert statuses.count(Status.FAILED) >= 4
    for text in made.files.values():
        assert all(text.count(name) == 1 for name in made.expected)
        assert len(re.findall(r'"[a-z]{2,}(?: [a-z]+)* \w+@PLACE@(?: [a-z]+)*"', text)) == len(made.expected)


@pytest.mark.skipif(not shutil.which("node"), reason="needs node")
@pytest.mark.parametrize("runner", [*OWN, *APPENDED])
def test_sources_are_javascript(runner: str, tmp_path: Path) -> None:
    for name, text in RUNNERS[runner].tripwires(random.Random(7)).files.items():
        file = tmp_path / name.replace(".ts", ".mjs")
        file.write_text(text)
        subprocess.run(["node", "--check", str(file)], check=True)


@pytest.mark.parametrize("runner", OWN)
def test_file_of_its_own_is_put_into_the_root_folder(runner: str, tmp_path: Path) -> None:
    made, places = place(tmp_path, runner, {})
    assert places == ["root"]
    assert (tmp_path / made.argument).read_text() == made.files[made.argument].replace("@PLACE@", "root")


@pytest.mark.parametrize("runner", ["jasmine", "mocha"])
def test_files_of_one_process_have_tripwires_at_their_ends_too(runner: str, tmp_path: Path) -> None:
    made, places = place(tmp_path, runner, {"a.js": GLOBAL, "help.js": ""}, "a.js", "help.js")
    assert places == ["1", "root"]
    text = (tmp_path / "a.js").read_text()
    assert text.startswith(f"{GLOBAL}\n;\n// @ts-ignore\n(typeof describe")
    assert all(text.count(name.replace("@PLACE@", "1")) == 1 for name in made.expected)


@pytest.mark.parametrize("runner", APPENDED)
def test_every_target_has_tripwires_of_its_own_at_its_end(runner: str, tmp_path: Path) -> None:
    made, places = place(tmp_path, runner, {"a.test.ts": GLOBAL, "b c.js": IMPORTED}, "a.test.ts", "b c.js", "gone.js")
    assert places == ["1", "2"]
    for number, (file, before) in enumerate((("a.test.ts", GLOBAL), ("b c.js", IMPORTED)), 1):
        text = (tmp_path / file).read_text()
        assert text.startswith(f"{before}\n")
        assert all(text.count(name.replace("@PLACE@", str(number))) == 1 for name in made.expected)


@pytest.mark.parametrize("runner", APPENDED)
@pytest.mark.parametrize(
    "text", ["exports.help = () => {};\n", f"{GLOBAL}it.only('two', () => {{}});\n", "/x/.test('x')"]
)
def test_file_without_tests_or_with_chosen_ones_is_left_alone(runner: str, text: str, tmp_path: Path) -> None:
    _, places = place(tmp_path, runner, {"a.test.js": text}, "a.test.js")
    assert places == []
    assert (tmp_path / "a.test.js").read_text() == text


def test_without_targets_files_of_the_test_patch_have_tripwires(tmp_path: Path) -> None:
    files = dict.fromkeys(["src/a.test.js", "src/__tests__/b c.ts", "cypress/c.spec.js", "d.js"], GLOBAL)
    _, places = place(
        tmp_path, "jest", {**files, "other.test.js": GLOBAL}, patch="".join(change(file, adds=["x"]) for file in files)
    )
    assert places == ["1", "2"]
    assert [file for file in files if (tmp_path / file).read_text() != GLOBAL] == list(files)[:2]


def test_file_without_an_expected_test_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "kit" / "tripwires").mkdir(parents=True)
    (tmp_path / "kit" / "tripwires" / EXPECTED).write_text("adds\n")
    (tmp_path / "kit" / "tripwires" / LABELS).write_text("c.test.js:others\n")
    files = {"a.test.js": GLOBAL, "b.test.js": 'it("adds nothing", () => {});\n', "c.test.js": GLOBAL}
    _, places = place(tmp_path, "jest", files, *files)
    assert places == ["1", "2"]
    assert (tmp_path / "a.test.js").read_text() == GLOBAL


def test_summary_of_jest_makes_no_failure_of_a_file_that_only_tripwires_failed_in() -> None:
    report = {
        "name": "/testbed/a.test.js",
        "status": "failed",
        "assertionResults": [
            {"ancestorTitles": [], "title": "adds", "status": "passed"},
            {"ancestorTitles": [], "title": "one_two_1", "status": "failed"},
        ],
    }
    output = (
        "FAIL a.test.js\n  ✓ adds (1ms)\n  ✕ one_two_1\n\nSummary of all failing tests\nFAIL a.test.js\n  ● one_two_1\n"
    )
    plan = TestPlan(
        command="", report_path="r", report_format="jest_json", log_format="jest_text", test_id="file_title"
    )
    files, expected = {"r": json.dumps({"testResults": [report]}).encode()}, {"one_two_1": Status.FAILED}
    read_back, seen = read(plan, files, output, expected, RUNNERS["jest"].PRINTS)
    assert read_back.tests == dict.fromkeys(["a.test.js", "a.test.js:adds"], Status.PASSED)
    assert (read_back.disagreements, read_back.unprinted) == ((), ())
    assert (seen["one_two_1"].reported, seen["one_two_1"].printed) == (Status.FAILED, Status.FAILED)


@pytest.mark.parametrize("runner", ["ava", "node_test"])
def test_node_files_that_import_get_imports(runner: str, tmp_path: Path) -> None:
    files = {"a.mjs": 'import test from "node:test";\n', "b.cjs": 'const { test } = require("node:test");\n'}
    files = {name: text + GLOBAL for name, text in files.items()}
    _, places = place(tmp_path, runner, files, *files)
    assert places == ["1", "2"]
    assert "\nimport " in (tmp_path / "a.mjs").read_text().removeprefix(files["a.mjs"])
    assert "import " not in (tmp_path / "b.cjs").read_text()


def test_command_of_jasmine_is_started_by_the_reporting_program() -> None:
    found = adapt_lines("jasmine", "./node_modules/.bin/jasmine --no-color --config=jasmine.json spec/a-spec.js")
    assert found.command.endswith(" exec node /opt/assay/jasmine.js {report} jasmine.json spec/a-spec.js")


def test_command_of_karma_gets_a_configuration_over_its_own() -> None:
    found = adapt_lines("karma", "npx karma start karma.conf.cjs --single-run --grep=a.test.js")
    assert " ASSAY_KARMA=karma.conf.cjs exec npx karma start /opt/assay/karma.conf.js " in found.command
    assert found.command.endswith(" --single-run --grep=a.test.js")


@pytest.mark.parametrize(
    ("runner", "line", "parts"),
    [
        ("mocha", "npx mocha -R dot -r tsx --bail a.js", ["{tripwires} exec npx mocha --reporter ", ".js -r tsx a.js"]),
        ("mocha", "ts-mocha -p tsconfig.json 'a/*.ts'", ["/opt/assay/mocha.js -p tsconfig.json 'a/*.ts'"]),
        ("tape", "tape -r esm test/*.js", ["{tripwires} exec node -r esm /opt/assay/tape.js {report} test/*.js"]),
        ("node_test", "node --test --test-reporter x a/*.js", ["node --test --test-", "{reports}/junit.xml a/*.js"]),
        ("ava", "ava --verbose -c 2 a.js", ["exec ava --tap -c 2 a.js"]),
        ("jest", "react-scripts test --watchAll=false --env=jsdom", ["exec react-scripts test --env=jsdom --ci"]),
        ("vitest", "vitest --watch=false --coverage", ["exec vitest --bail=0"]),
    ],
)  # fmt: skip
def test_commands_are_adapted(runner: str, line: str, parts: list[str]) -> None:
    found = adapt_lines(runner, line)
    assert all(part in found.command for part in parts), found.command


@pytest.mark.parametrize(
    "line", ["mocha --watch", "ava --watch", "tape --only a.js", "node a.js", "react-scripts build", "vitest bench"]
)
def test_other_work_is_not_adapted(line: str) -> None:
    assert adapt_commands([line.split()]) is None


@pytest.mark.parametrize("line", ["jasmine --filter=x", "jasmine init --stop", "karma run", "karma start a b c"])
def test_commands_that_do_other_work_are_not_adapted(line: str) -> None:
    assert adapt_commands([line.split()]) is None
