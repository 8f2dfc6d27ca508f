"""Tasks of Harbor and Terminal-Bench: an instruction, an image, and tests that write a reward.

The rows come from folders (``harbor_folder``). A solution is judged as a patch of the image's working folder; the only
test is the reward. ``tests/`` reaches the container with the tests, so the image does not hold it.
"""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from pydantic import ValidationError

from assay.harness.domain import UNKNOWN_TIME, Asset, DatasetRef, Instance, PublishedImage, Rule
from assay.harness.errors import DataError, brief, field_error
from assay.harness.reports import harbor_reward
from assay.harness.templates import read_program
from assay.instances.dataset.formats import columns
from assay.instances.dataset.formats.columns import Row, row_error, row_id

NAME = "harbor"
RULES: tuple[Rule, ...] = (Rule.HARBOR,)
COLUMNS = {"id": "instance_id", "problem_statement": "instruction", "assets": "tests"}
HELD = frozenset({"instance_id", "instruction", "gold_patch", "tests"})

STAGED = ".assay-harbor"  # folder in the working folder in which the tests arrive
WORKDIR = "/app"  # working folder of a task that names none
PREPARED = "mkdir -p /tests/ /logs/verifier/ /logs/agent/ /logs/artifacts/ && chmod -R 777 /tests/ /logs/"
RUN = read_program(__file__, "scripts/harbor.sh", STAGED=STAGED)
"""Puts the task's own tests (its arguments) in place, runs them and prints their reward.

Nothing that a patch has put beside them gets there. Every other line begins with a bar.
Only a file that the tests name is read: a patch that they run could write the other one.
"""

matches = columns.make_matcher("task_toml")
find_id = row_id


def to_instance(row: Row, dataset: DatasetRef) -> Instance:
    task = columns.mapping(row, "task_toml")
    _refuse_unsupported(row, task)
    name, tests = _table(row, task, "task").get("name"), _tests(row)
    return columns.build(
        COLUMNS,
        id=columns.text(row, "instance_id"),
        repo=name if isinstance(name, str) else f"harbor/{row_id(row)}",
        language="python",
        problem_statement=columns.text(row, "instruction"),
        gold_patch=columns.text(row, "gold_patch", required=False),
        test_patch="",
        fail_to_pass=(harbor_reward.TEST,),
        pass_to_pass=(),
        created_at=UNKNOWN_TIME,
        environment=_environment(row, task, tests),
        log_format=harbor_reward.NAME,
        rule=RULES[0],
        gpus=columns.read_card_count(row, "environment.gpus", _table(row, task, "environment").get("gpus")),
        assets=tests,
        origin=columns.origin(NAME, row, HELD),
        dataset=dataset,
    )


def from_instance(instance: Instance) -> dict[str, Any]:
    """Write an instance as a row; raises DataError if it was not read from a task."""
    kept = columns.read_origin(instance, NAME)
    if not kept:
        problem = "is missing: only tasks of Harbor have one; assay dataset convert --to harbor -o DIR writes folders"
        raise DataError(problem, instance=instance.id, field="environment")
    tests = [{**each.model_dump(), "path": each.path.removeprefix(f"{STAGED}/")} for each in instance.assets]
    return {
        **kept,
        "instance_id": instance.id,
        "instruction": instance.problem_statement,
        "gold_patch": instance.gold_patch,
        "tests": tests,
    }


def _environment(row: Row, task: Mapping[str, Any], tests: Sequence[Asset]) -> PublishedImage:
    environment = _table(row, task, "environment")
    image = environment.get("docker_image")
    if not isinstance(image, str) or not image:
        problem = "is missing; build environment/ with docker build -t NAME, and write the name here"
        raise row_error(row, "environment.docker_image", problem)
    workdir = str(environment.get("workdir") or columns.text(row, "workdir", required=False) or WORKDIR)
    if not workdir.startswith("/") or len(PurePosixPath(workdir).parts) < 2:
        problem = f"is {workdir!r}; only the content of a folder below the root can be judged as a patch"
        raise row_error(row, "environment.workdir", problem)
    _refuse_other_verifier(row, task, tests, PurePosixPath(workdir))
    exported = {**_variables(row, task, "environment"), **_variables(row, task, "verifier")}
    lines = [
        PREPARED,
        f"cd {shlex.quote(workdir)}",
        *(f"export {name}={shlex.quote(value)}" for name, value in exported.items()),
        ": '>>>>> Start Test Output'",
        shlex.join(["bash", "-c", RUN, "assay", *(each.path.removeprefix(f"{STAGED}/") for each in tests)]),
        ": '>>>>> End Test Output'",
        "",
    ]
    return PublishedImage(image=image, eval_script="\n".join(lines))


def _refuse_unsupported(row: Row, task: Mapping[str, Any]) -> None:
    """Raise DataError for what a single container without a network cannot be."""
    environment = _table(row, task, "environment")
    found = {
        "steps": task.get("steps"),
        "environment.os": str(environment.get("os", "linux")).lower() != "linux",
        "environment.docker-compose.yaml": row.get("composed"),
    }
    wrong = next((field for field, value in found.items() if value), "")
    if wrong:
        raise row_error(row, wrong, "is not supported: Assay judges tasks of one step in one Linux container")


def _refuse_other_verifier(row: Row, task: Mapping[str, Any], tests: Sequence[Asset], workdir: PurePosixPath) -> None:
    """Raise DataError if the tests run in a container of their own, where other things are than in the agent's."""
    verifier = _table(row, task, "verifier")
    if not verifier.get("environment") and verifier.get("environment_mode") != "separate":
        return
    named = {each.path.removeprefix(f"{STAGED}/") for each in tests} & {"Dockerfile", "docker-compose.yaml"}
    wrong = next((name for name in ("environment", "collect") if verifier.get(name)), "environment" if named else "")
    if wrong:
        problem = "is not supported: Assay runs the tests in the task's own image, on what a patch changes there"
        raise row_error(row, f"verifier.{wrong}", problem)
    artifacts = task.get("artifacts")
    listed = artifacts if isinstance(artifacts, list) else []
    carried = [each.get("source") if isinstance(each, Mapping) else each for each in listed]
    if not any(isinstance(each, str) and workdir.is_relative_to(each) for each in carried):
        problem = f"do not hold {workdir}, so the verifier gets other files than a patch changes; add it"
        raise row_error(row, "artifacts", problem)


def _variables(row: Row, task: Mapping[str, Any], table: str) -> dict[str, str]:
    found = _table(row, task, table).get("env") or {}
    if not isinstance(found, Mapping):
        raise row_error(row, f"{table}.env", f"is {brief(found)}; write a table of variables")
    wrong = next((name for name, value in found.items() if "${" in str(value)), None)
    if wrong is not None:
        problem = f"is {brief(found[wrong])}; write a plain value, no variable of the host"
        raise row_error(row, f"{table}.env.{wrong}", problem)
    return {str(name): str(value) for name, value in found.items()}


def _table(row: Row, task: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = task.get(name) or {}
    if not isinstance(value, Mapping):
        raise row_error(row, name, f"is {brief(value)}; write a table")
    return value


def _tests(row: Row) -> tuple[Asset, ...]:
    tests = row.get("tests")
    if not isinstance(tests, list) or not any(isinstance(t, Mapping) and t.get("path") == "test.sh" for t in tests):
        raise row_error(row, "tests", "has no test.sh, which writes the reward")
    try:
        return tuple(Asset(**{**each, "path": f"{STAGED}/{each['path']}"}) for each in tests)
    except (ValidationError, TypeError, KeyError) as error:
        wrong = field_error(error, instance=row_id(row)) if isinstance(error, ValidationError) else None
        raise row_error(row, "tests", wrong.problem if wrong else "is no list of objects with path and url") from None
