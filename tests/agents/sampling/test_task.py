"""Nothing of the answer reaches a solver."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.agents.contract import AgentTask, Capabilities, Oracle
from assay.agents.sampling.task import make_task, select_oracles
from assay.agents.sampling.workspaces.container import ContainerWorkspace
from assay.agents.sampling.workspaces.opener import agent_container
from assay.harness.domain import Asset, DatasetRef, Instance, Origin, Stages, Status
from leaky_image import World
from toy import make_instance

TOLD = {"repo", "language", "problem_statement"}
"""Fields of an instance that a solver may know."""
MARKS = st.text(alphabet="abcdefghijkmnpqrstuvwxyz", min_size=12, max_size=16)


def marked(mark: str) -> tuple[Instance, set[str]]:
    """Return an instance with a mark of its own in every field, and the marks of the forbidden fields."""
    names = [name for name in Instance.model_fields if name not in {"created_at", "rule", "environment", "archive"}]
    marks = {name: f"{mark}-{number:02d}-x" for number, name in enumerate(names)}
    test = Status.PASSED
    fields = {
        "id": marks["id"],
        "repo": f"{marks['repo']}/name",
        "base_commit": marks["base_commit"],
        "language": "python",
        "problem_statement": f"It fails. {marks['problem_statement']}",
        "gold_patch": f"--- a/{marks['gold_patch']}\n",
        "test_patch": f"--- a/{marks['test_patch']}\n",
        "fail_to_pass": (f"{marks['fail_to_pass']}::t",),
        "pass_to_pass": (f"{marks['pass_to_pass']}::t",),
        "quarantined": (f"{marks['quarantined']}::t",),
        "version": marks["version"],
        "hints": marks["hints"],
        "log_format": marks["log_format"],
        "test_id": marks["test_id"],
        "stages": Stages(run={f"{marks['stages']}::t": test}),
        "assets": (Asset(path=marks["assets"], url=f"https://example.invalid/pull/{marks['assets']}"),),
        "origin": Origin(dialect="x", columns=(("pull_number", f'"{marks["origin"]}"'),)),
        "dataset": DatasetRef(name=marks["dataset"], revision=marks["dataset"]),
    }
    return make_instance(**fields), {value for name, value in marks.items() if name not in TOLD | {"base"}}


@settings(max_examples=25, deadline=None)
@given(mark=MARKS, oracle=st.frozensets(st.sampled_from(Oracle)))
def test_task_holds_only_allowed_fields(mark: str, oracle: frozenset[Oracle]) -> None:
    instance, forbidden = marked(mark)
    capabilities = Capabilities(oracle=oracle)
    task = make_task(instance, capabilities, "/testbed")
    text = task.model_dump_json()
    if Oracle.HINTS in oracle:
        forbidden = forbidden - {instance.hints}
    assert not [each for each in forbidden if each in text]
    assert instance.problem_statement in task.problem_statement
    answer = json.loads(select_oracles(instance, capabilities).model_dump_json())
    declared = {"gold_patch", "fail_to_pass", "pass_to_pass", "instance_id"} & {each.value for each in oracle}
    assert {name for name, value in answer.items() if value} == declared


def test_every_field_of_an_instance_is_allowed_or_forbidden() -> None:
    """A new field of the task or of the instance is a decision about leakage: it is made here as well."""
    assert set(AgentTask.model_fields) == {"repo", "language", "problem_statement", "root", "hints"}
    unmarked = {"created_at", "rule", "environment", "archive", "language", "base"}
    instance, forbidden = marked("abcdefghijkl")
    assert len(forbidden) == len(Instance.model_fields) - len(TOLD | unmarked)
    assert instance.hints not in make_task(instance, Capabilities(), "/testbed").model_dump_json()


@pytest.mark.docker
def test_container_holds_nothing_of_the_answer(world: World, tmp_path: Path) -> None:
    place = world.place
    marks = {"id": "acme__python-qqzzyyxx", "version": "9.8.7-qqzzyyxx", "hints": "qqzzyyxx hint"}
    instance = place.instance.model_copy(update=marks)
    labels = {"assay.run": "run-qqzzyyxx", "assay.instance": instance.id}
    where = agent_container(world.engine, world.image, place.plan, labels, {str(tmp_path): "/run/assay"})
    with where.open() as workspace:
        text = _everything_about_the_container(workspace)
    forbidden = (
        *marks.values(),
        *labels.values(),
        "qqzzyyxx",
        instance.base_commit,
        *instance.fail_to_pass,
        instance.test_patch,
        instance.gold_patch,
        "assay.instance",
    )
    assert "HOME=/home/assay" in text
    assert not [each for each in forbidden if each in text]


def _everything_about_the_container(workspace: ContainerWorkspace) -> str:
    command = (
        "env; hostname; cat /etc/hostname /etc/hosts /proc/*/environ /proc/*/cmdline /proc/self/mountinfo "
        "/proc/self/cgroup 2> /dev/null | tr '\\0' '\\n'; git log --format=full; cat .git/config;"
        " ls -laR /run /home /tmp"
    )
    return workspace.exec(command).output
