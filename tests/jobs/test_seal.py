"""Sealed verifiers in containers: twelve tasks that download, half from made-up hosts, half from public indexes."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import front_door
from assay import Evaluator
from assay.choices import EnvironmentChoice
from assay.harness.domain import Outcome, Verdict
from assay.instances.dataset.load import load
from downloading_tasks import MADE_UP, REAL, make_fix, make_tasks, write_hosts
from other_tools import run_with

if TYPE_CHECKING:
    from assay.harness.engines.docker import DockerEngine

pytestmark = [pytest.mark.docker, pytest.mark.xdist_group("sealed-verifiers")]
READER = Path(__file__).parents[1] / "instances/dataset/read_tasks_with_harbor.py"
TROJAN = """\
diff --git a/bin/python3 b/bin/python3
new file mode 100755
--- /dev/null
+++ b/bin/python3
@@ -0,0 +1,2 @@
+#!/bin/sh
+echo 1 > /logs/verifier/reward.txt; kill -9 $PPID
"""
MORE = {"python-index", "python-installer"}
LOOKUP = "a - b; require('dns').lookup('elsewhere.example', () => 0)"


@pytest.fixture(scope="module")
def seal(docker_engine: "DockerEngine", tmp_path_factory: pytest.TempPathFactory) -> Callable[..., front_door.Done]:
    """Make tasks by name in the folder ``tasks``, and seal them into ``sealed``; gives the command's end."""
    folder = tmp_path_factory.mktemp("seal")
    write_hosts(folder / "hosts")

    def run(*names: str, dockerfile: str = "", where: str = "tasks") -> front_door.Done:
        make_tasks(docker_engine, folder / where, names, dockerfile)
        chosen = [word for name in names for word in ("-i", name)]
        places = (str(folder / where), "-o", str(folder / "sealed"), "--files", str(folder / "hosts"))
        return front_door.run(folder, "dataset", "seal", *places, "--json", *chosen, ASSAY_ENGINE="docker")

    return run


def judge(done: front_door.Done, name: str, patch: str) -> Verdict:
    folder = Path(done.json["folder"]) / name
    (instance,) = load(str(folder), published_images=True).instances
    with Evaluator([instance], environment=EnvironmentChoice.PUBLISHED) as evaluator:
        return evaluator.evaluate(instance, patch)


def check(done: front_door.Done, name: str) -> None:
    assert done.code == 0, done.err
    assert judge(done, name, make_fix(name)).outcome is Outcome.RESOLVED
    assert judge(done, name, make_fix(name, right="b - a")).outcome is Outcome.UNRESOLVED


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.exhaustive] * (name in MORE)) for name in MADE_UP]
)
def test_a_sealed_verifier_needs_no_network(seal: Callable[..., front_door.Done], name: str) -> None:
    check(seal(name), name)


@pytest.mark.network
@pytest.mark.exhaustive
@pytest.mark.parametrize("name", REAL)
def test_what_public_indexes_have_is_answered_without_a_network(
    seal: Callable[..., front_door.Done], name: str
) -> None:
    check(seal(name), name)


def test_a_download_that_is_not_there_is_no_reward(seal: Callable[..., front_door.Done]) -> None:
    done = seal("python-file")
    answers = Path(done.json["folder"]) / "python-file/tests/sealed/answers.zip"
    with zipfile.ZipFile(answers, "w") as archive:
        archive.writestr("index.json", "[]")
    verdict = judge(done, "python-file", make_fix("python-file"))
    assert verdict.outcome is Outcome.ENV_ERROR
    assert "GET http://files.example/expected.txt" in verdict.reason


def test_a_sealed_task_is_known_until_it_changes(seal: Callable[..., front_door.Done]) -> None:
    seal("python-file")
    assert "sealed already" in seal("python-file").err


def test_a_name_that_is_looked_up_past_the_proxy_is_no_reward(seal: Callable[..., front_door.Done]) -> None:
    name = "javascript-tarball"
    verdict = judge(seal(name), name, make_fix(name, right=LOOKUP))
    assert (verdict.outcome, "lookup elsewhere.example" in verdict.reason) == (Outcome.ENV_ERROR, True)


def test_a_program_that_a_patch_leaves_decides_nothing(seal: Callable[..., front_door.Done]) -> None:
    name, line = "python-file", "ENV PATH=/app/bin:$PATH\n"
    done = seal(name, dockerfile=line, where="shadowed")
    assert done.code == 0, done.err
    assert judge(done, name, TROJAN).outcome is Outcome.UNRESOLVED
    script = Path(done.json["folder"]) / name / "tests/test.sh"
    script.write_text(script.read_text().replace("-carried=/app", ""))
    assert judge(done, name, TROJAN).outcome is Outcome.RESOLVED, "the program of this test does nothing"


def test_a_task_whose_verifier_cannot_be_seen_to_work_is_not_sealed(
    seal: Callable[..., front_door.Done], tmp_path: Path
) -> None:
    done = seal("python-file")
    tasks = Path(done.json["folder"]).parent / "tasks"
    script = tasks / "python-file/tests/test.sh"
    script.write_text(script.read_text().replace("files.example", "gone.example"))
    words = ("dataset", "seal", str(tasks), "-i", "python-file", "-o", str(tmp_path / "no"))
    again = front_door.run(tmp_path, *words, ASSAY_ENGINE="docker")
    assert (again.code, "http://gone.example/expected.txt" in again.err) == (4, True)
    assert not (tmp_path / "no").exists()


@pytest.mark.network
def test_harbor_reads_sealed_tasks(seal: Callable[..., front_door.Done]) -> None:
    done = seal("go-proxy")
    seen = json.loads(run_with(["harbor==0.24.0"], "python", str(READER), done.json["folder"], python=(3, 12)))
    task = seen["assay/go-proxy"]
    assert (task["mode"], task["tests_are_uploaded"], task["instance"]) == ("separate", False, "go-proxy")
