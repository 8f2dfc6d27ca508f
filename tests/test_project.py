"""The files around the code: workflows, the changelog, issue forms, and what they promise of each other."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.version import __version__

ROOT = Path(__file__).parent.parent
ACTION = ROOT / "action.yml"
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
FORMS = sorted(path for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config")
BY_BRANCH = {"pypa/gh-action-pypi-publish@release/v1"}
"""Actions whose makers ask to be followed by a branch."""


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def steps(path: Path) -> Iterator[dict[str, Any]]:
    about = read(path)
    for job in about.get("jobs", {"": about.get("runs")}).values():
        yield from job["steps"]


@pytest.mark.parametrize("path", [ACTION, *WORKFLOWS], ids=lambda path: path.name)
def test_every_action_is_pinned_by_its_hash_and_names_its_version(path: Path) -> None:
    used = [each["uses"] for each in steps(path) if "uses" in each and each["uses"] not in BY_BRANCH]
    assert used
    assert [each for each in used if not re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}", each)] == []
    text = path.read_text(encoding="utf-8")
    assert [each for each in used if not re.search(rf"{each} # v\d", text)] == []


@pytest.mark.parametrize("path", [ACTION, *WORKFLOWS], ids=lambda path: path.name)
def test_no_value_from_outside_is_written_into_a_script(path: Path) -> None:
    """What stands in ``${{ }}`` would be run; values reach scripts as variables."""
    assert [each["run"] for each in steps(path) if "${{" in each.get("run", "")] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_may_read_and_only_publishing_may_ask_for_an_identity(path: Path) -> None:
    about = read(path)
    assert about["permissions"] == {"contents": "read"}
    granted = {name: job["permissions"] for name, job in about["jobs"].items() if "permissions" in job}
    assert granted == ({"publish": {"id-token": "write"}} if path.stem == "release" else {})
    assert all(job["timeout-minutes"] for job in about["jobs"].values())


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_call_targets_that_there_are(path: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    called = [
        word
        for each in steps(path)
        for line in re.findall(r"make ([a-z -]+)", each.get("run", ""))
        for word in line.split()
    ]
    assert called
    assert set(called) <= targets


def test_the_action_uses_the_inputs_and_steps_that_it_has() -> None:
    about, text = read(ACTION), ACTION.read_text(encoding="utf-8")
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(about["inputs"])
    ids = {each["id"]: each["run"] for each in about["runs"]["steps"] if "id" in each}
    used = set(re.findall(r"steps\.(\w+)\.outputs\.(\w+)", text))
    assert used
    assert [(step, name) for step, name in used if f"{name}=" not in ids[step]] == []


def test_the_workflow_that_the_page_shows_gives_the_action_what_it_takes() -> None:
    page = (ROOT / "docs/pull-requests.md").read_text(encoding="utf-8")
    shown = yaml.safe_load(page.partition("```text\n")[2].partition("```")[0])
    (ours,) = (each for each in shown["jobs"]["evaluate"]["steps"] if "/assay@" in each["uses"])
    action = read(ACTION)
    needed = {name for name, each in action["inputs"].items() if each.get("required")}
    assert needed <= set(ours["with"]) <= set(action["inputs"])
    assert set(re.findall(r"steps\.assay\.outputs\.(\w+)", page)) <= set(action["outputs"])
    assert ours["uses"] == "OWNER/assay@vX.Y.Z"
    named = set(re.findall(r"`([\w-]+)`", page.partition("| input |")[2].partition("The job ends")[0]))
    assert {*action["inputs"], *action["outputs"]} <= named


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_issue_forms_ask_for_what_is_needed(path: Path) -> None:
    form = read(path)
    assert form.keys() == {"name", "description", "labels", "body"}
    fields = [each for each in form["body"] if each["type"] != "markdown"]
    assert len({each["id"] for each in fields}) == len(fields)
    assert all(each["attributes"]["label"] for each in fields)
    assert any(each.get("validations", {}).get("required") for each in fields)


def test_the_version_is_in_one_place_and_has_a_heading_in_the_changelog() -> None:
    assert f"\n## {__version__}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "version" in project["dynamic"]
    citation = read(ROOT / "CITATION.cff")
    assert "version" not in citation
    assert (citation["license"], citation["abstract"]) == (project["license"], f"{project['description']}.")


def test_tests_of_a_group_run_in_one_process(tmp_path: Path) -> None:
    """Where they do not, tests that build and remove the same images meet each other."""
    (tmp_path / "test_group.py").write_text(
        "import os\nfrom pathlib import Path\nimport pytest\npytestmark = pytest.mark.xdist_group('one')\n"
        "@pytest.mark.parametrize('number', range(4))\n"
        "def test_it(number): Path(f'{number}.pid').write_text(str(os.getpid()))\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "xdist", "-n", "2", "--dist", "loadgroup", str(tmp_path)]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert len({path.read_text() for path in tmp_path.glob("*.pid")}) == 1
