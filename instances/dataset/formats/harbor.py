"""Tasks of Harbor and Terminal-Bench: an instruction, an image, and tests that write a reward.

The rows come from folders (``harbor_folder``). A solution is judged as a patch of the image's working folder; the only
test is the reward. ``tests/`` reaches the container with the tests, so the image does not hold it. Tests that have a
container of their own get what the task carries there.
"""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from pydantic import ValidationError

from assay.harness.domain import UNKNOWN_TIME, Asset, DatasetRef, Instance, PublishedImage, Rule, SeparateVerifier
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
ROOT = "root"
REMOVE = ["RUN", "rm", "-rf"]
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
    exported = {**_variables(row, task, "environment"), **_variables(row, task, "verifier")}
    exports = [f"export {name}={shlex.quote(value)}" for name, value in exported.items()]
    lines = [
        PREPARED,
        f"cd {shlex.quote(workdir)}",
        *exports,
        ": '>>>>> Start Test Output'",
        shlex.join(["bash", "-c", RUN, "assay", *(each.path.removeprefix(f"{STAGED}/") for each in tests)]),
        ": '>>>>> End Test Output'",
        "",
    ]
    return PublishedImage(
        image=image,
        eval_script="\n".join(lines),
        verifier=_read_verifier(row, task, image, PurePosixPath(workdir), exports),
        user=ROOT if _table(row, task, "verifier").get("user") in {ROOT, 0} else "",
    )


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


def _read_verifier(
    row: Row, task: Mapping[str, Any], image: str, workdir: PurePosixPath, exports: Sequence[str]
) -> SeparateVerifier | None:
    """Return the container in which the tests run for themselves; None if they run in the patched one.

    They run there, too, if the other would be the same image with the same working folder.
    """
    verifier = _table(row, task, "verifier")
    if not verifier.get("environment") and verifier.get("environment_mode") != "separate":
        return None
    artifacts, collect = _read_artifacts(row, task), _read_hooks(row, verifier)
    other = _find_verifier_image(row, task, image, artifacts)
    if other == image and not collect and any(workdir.is_relative_to(each) for each in artifacts):
        return None
    if not artifacts:
        problem = "is empty, so the verifier gets nothing of what a patch changes; list the paths that it needs"
        raise row_error(row, "artifacts", problem)
    started = ["mkdir -p /logs/verifier /logs/agent /logs/artifacts", f"mkdir -p {workdir} && cd {workdir}"]
    script = "\n".join([*started, *exports, "chmod -R a+rx /tests", "exec bash /tests/test.sh 2>&1", ""])
    return SeparateVerifier(image=other, collect=collect, artifacts=artifacts, script=script)


def _find_verifier_image(row: Row, task: Mapping[str, Any], image: str, artifacts: Sequence[str]) -> str:
    """Return the image that a task names or, if its Dockerfile only adds the tests, the one below them.

    Over the task's own image, it may also remove what is carried there.
    """
    named = _table(row, _table(row, task, "verifier"), "environment").get("docker_image")
    if isinstance(named, str) and named:
        return named
    text = columns.text(row, "verifier_dockerfile", required=False)
    steps = [line.split() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    bases = [words[1] for words in steps if words[0].upper() == "FROM" and len(words) == 2]
    rests = [words for words in steps if bases != [image] or words[:3] != REMOVE or not {*words[3:]} <= {*artifacts}]
    adds = all(words[0].upper() in {"FROM", "COPY"} or " ".join(words).startswith("RUN chmod ") for words in rests)
    to_tests = all(words[-1].startswith("/tests") for words in steps if words[0].upper() == "COPY")
    if steps and not (len(bases) == 1 and adds and to_tests):
        problem = "is missing; build tests/ with docker build -t NAME, and write the name here"
        raise row_error(row, "verifier.environment.docker_image", problem)
    return bases[0] if bases else image


def _read_artifacts(row: Row, task: Mapping[str, Any]) -> tuple[str, ...]:
    listed = task.get("artifacts") or []
    if not isinstance(listed, list):
        raise row_error(row, "artifacts", f"is {brief(listed)}; write a list of paths")
    found = [each.get("source") if isinstance(each, Mapping) else each for each in listed]
    wrong = next((each for each in found if not isinstance(each, str) or not _is_path(each)), None)
    if wrong is not None or None in found:
        raise row_error(row, "artifacts", f"has {brief(wrong)}; write absolute paths below the root")
    return tuple(dict.fromkeys(str(PurePosixPath(str(each))) for each in found))


def _is_path(text: str) -> bool:
    path = PurePosixPath(text)
    return path.is_absolute() and len(path.parts) > 1 and ".." not in path.parts


def _read_hooks(row: Row, verifier: Mapping[str, Any]) -> tuple[str, ...]:
    hooks = verifier.get("collect") or []
    found = [each.get("command") if isinstance(each, Mapping) else None for each in hooks] if hooks else []
    if not isinstance(hooks, list) or not all(isinstance(each, str) and each for each in found):
        raise row_error(row, "verifier.collect", f"is {brief(hooks)}; write tables with a command")
    other = next((each["service"] for each in hooks if each.get("service") not in {None, "main"}), None)
    if other is not None:
        raise row_error(row, "verifier.collect", f"is for the service {brief(other)}; Assay runs one container")
    return tuple(map(str, found))


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
