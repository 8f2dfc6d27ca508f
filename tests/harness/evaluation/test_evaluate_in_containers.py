"""Evaluations of a small project written here, in real containers."""

import os
from collections.abc import Callable

import pytest

from assay.harness.domain import Channel, Instance, Outcome, Prediction, Status, TestPlan, Verdict
from assay.harness.engines.base import BoxSpec
from assay.harness.engines.docker import DockerEngine
from assay.harness.evaluation.evaluate import Evaluation, Task, evaluate
from assay.harness.grading.grade import grade

RUN = f"test-evaluate-{os.getpid()}"
"""Label of this process's containers: others may run the same tests."""

pytestmark = [pytest.mark.docker, pytest.mark.network]


@pytest.fixture
def judge(
    docker_engine: DockerEngine, prepared: tuple[str, TestPlan], module_instance: Instance
) -> Callable[..., tuple[Evaluation, Verdict]]:
    """Evaluate a patch; keyword arguments change the plan's limits."""

    def run(patch: str, **limits: float) -> tuple[Evaluation, Verdict]:
        image, plan = prepared
        plan = plan.model_copy(update={"limits": plan.limits.model_copy(update=limits)})
        prediction = Prediction(instance_id=module_instance.id, patch=patch)
        task = Task(module_instance, prediction, plan, runs_empty=True)
        done = evaluate(task, image, docker_engine, {"assay.run": RUN})
        left = docker_engine._client.containers(all=True, filters={"label": f"assay.run={RUN}"})
        assert not left
        return done, grade(module_instance, done.evidence)

    return run


def new_file(path: str, text: str) -> str:
    lines = text.splitlines()
    body = "".join(f"+{line}\n" for line in lines)
    header = f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
    return f"{header}@@ -0,0 +1,{len(lines)} @@\n{body}"


def calc(body: str) -> str:
    """A patch that replaces the body of ``add``."""
    return (
        "diff --git a/calc.py b/calc.py\n--- a/calc.py\n+++ b/calc.py\n@@ -1,2 +1,2 @@\n"
        f" def add(a, b):\n-    return a - b\n+    {body}\n"
    )


def test_gold_patch_is_resolved(judge: Callable, module_instance: Instance) -> None:
    done, verdict = judge(module_instance.gold_patch)
    assert verdict.resolved
    assert verdict.flags == ()
    evidence = done.evidence
    assert evidence.report.channel is Channel.REPORT
    assert set(evidence.report.tests.values()) == {Status.PASSED}
    assert len(evidence.tripwires) == 13  # nine in a file of their own, four beside the expected tests
    assert all(each.reported is each.printed is each.expected for each in evidence.tripwires.values())
    # The tripwires make the runner end with 1.
    assert (evidence.user, evidence.exit_code, evidence.restored) == ("assay", 1, ("tests/test_calc.py",))
    assert evidence.image_digest.startswith("sha256:")
    assert evidence.timings.total >= evidence.timings.test > 0


def test_empty_patch_is_unresolved(judge: Callable) -> None:
    _, verdict = judge("")
    assert (verdict.outcome, verdict.unfixed) == (Outcome.UNRESOLVED, ("tests/test_calc.py::test_add",))


def test_wrong_patch_is_unresolved(judge: Callable) -> None:
    assert judge(calc("return 3"))[1].broken == ("tests/test_calc.py::test_same",)


@pytest.mark.parametrize(
    ("patch", "outcome"),
    [
        (calc("return a + b").replace("a - b", "a / b"), Outcome.PATCH_CONFLICT),
        (new_file("../x", "1"), Outcome.PATCH_REJECTED),
        (calc("while True: pass"), Outcome.TIMED_OUT),
        (calc("return len(bytearray(10**9))"), Outcome.OUT_OF_MEMORY),
        (calc("import os; [os.write(1, b'x' * 9999) for _ in range(9999)]; os._exit(0)"), Outcome.NOT_RUN),
        (calc("import os; os._exit(0)"), Outcome.NOT_RUN),
        (calc("import os; os.kill(os.getpid(), 9)"), Outcome.TAMPERED),
    ],
    ids=["conflict", "rejected", "endless", "memory", "captured output", "exit", "killed"],
)
def test_failure_has_the_outcome_of_its_cause(judge: Callable, patch: str, outcome: Outcome) -> None:
    assert judge(patch, seconds=10, memory_mb=256)[1].outcome is outcome


def test_endless_output_is_output_limit(judge: Callable) -> None:
    # pytest captures descriptors 1 and 2; the pipe they led to is still open under another number.
    text = (
        "import os\nfds = range(3, 30)\n"
        "links = {fd: f'/proc/self/fd/{fd}' for fd in fds if os.path.exists(f'/proc/self/fd/{fd}')}\n"
        "pipes = [fd for fd, link in links.items() if 'pipe' in os.readlink(link)]\n"
        "while True:\n    [os.write(fd, b'x' * 65536) for fd in pipes]\n"
    )
    flood = calc("import flood") + new_file("flood.py", text)
    assert judge(flood, output_bytes=1_000_000)[1].outcome is Outcome.OUTPUT_LIMIT


def test_lines_on_both_streams_stay_whole(
    docker_engine: DockerEngine, prepared: tuple[str, TestPlan], module_instance: Instance
) -> None:
    image, plan = prepared
    printing = (
        "import os\nfor _ in range(500): os.write(1, b'test x ... '), os.write(2, b'warning '), os.write(1, b'ok\\n')"
    )
    plan = plan.model_copy(update={"command": f'python3 -c "{printing}"'})
    task = Task(module_instance, Prediction(instance_id=module_instance.id, patch=""), plan, runs_empty=True)
    done = evaluate(task, image, docker_engine, {"assay.run": RUN})
    assert done.output.count(b"test x ... warning ok\n") == 500


def test_full_disk_is_output_limit(judge: Callable) -> None:
    one = calc("open('/tmp/big', 'wb').write(bytes(40 * 2**20)); __import__('time').sleep(60)")
    many = calc("[open(f'/tmp/big{n}', 'wb').write(bytes(2**20)) for n in range(99)]; __import__('time').sleep(60)")
    for patch in (one, many):
        verdict = judge(patch, disk_mb=32)[1]
        assert verdict.outcome is Outcome.OUTPUT_LIMIT
        assert "disk" in verdict.reason


def test_process_limit_is_flagged(judge: Callable) -> None:
    bomb = calc("import os; [os.fork() or __import__('time').sleep(1) for _ in range(99)]")
    assert "process_limit_hit" in judge(bomb, pids=20)[1].flags


def test_weakened_and_deleted_tests_are_put_back(judge: Callable) -> None:
    weak = (
        "diff --git a/tests/test_calc.py b/tests/test_calc.py\n--- a/tests/test_calc.py\n+++ b/tests/test_calc.py\n"
        "@@ -3,2 +3,6 @@\n def test_same():\n     assert calc.add(0, 0) == 0\n+\n+\n+def test_add():\n+    pass\n"
    )
    gone = (
        "diff --git a/tests/test_calc.py b/tests/test_calc.py\ndeleted file mode 100644\n--- a/tests/test_calc.py\n"
        "+++ /dev/null\n@@ -1,4 +0,0 @@\n-import calc\n-\n-def test_same():\n-    assert calc.add(0, 0) == 0\n"
    )
    for patch in (weak, gone):
        verdict = judge(patch)[1]
        assert (verdict.outcome, verdict.broken) == (Outcome.UNRESOLVED, ())


def test_patch_without_final_newline_is_normalised(judge: Callable, module_instance: Instance) -> None:
    done, verdict = judge(module_instance.gold_patch.rstrip("\n"))
    assert verdict.resolved
    assert done.evidence.apply.normalized == ("final newline",)


def test_image_holds_one_commit_and_neither_fix_nor_hidden_tests(
    docker_engine: DockerEngine, prepared: tuple[str, TestPlan]
) -> None:
    image, plan = prepared
    with docker_engine.open(BoxSpec(image, plan.limits)) as box:

        def run(command: str) -> str:
            done = box.exec(["sh", "-c", command], user="assay", workdir="/testbed")
            assert done.exit_code == 0, done.output
            return done.output.decode().strip()

        assert run("git rev-list --all --count") == "1"
        assert run("git tag; git remote; git reflog | wc -l") in {"0", "1"}
        assert run("git status --porcelain") == ""
        objects = run("git cat-file --batch-all-objects --batch-check | wc -l")
        assert objects == run("git rev-list --objects --all | wc -l")
        assert run("grep -rl 'the later fix' / --include=* -s --exclude-dir=proc --exclude-dir=sys || true") == ""
        assert run("grep -rl 'def test_add' / -s --exclude-dir=proc --exclude-dir=sys || true") == ""
        assert run("ls /run/secrets /uv /assay 2>/dev/null || true") == ""
        assert run("id -un; test -w /opt/venv && echo writable || echo read-only").split() == ["assay", "read-only"]


def test_files_that_steer_the_runner_are_put_back(judge: Callable) -> None:
    hook = (
        "import pytest\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n"
        "    outcome = yield\n    outcome.get_result().outcome = 'passed'\n"
    )
    done, verdict = judge(new_file("conftest.py", hook) + new_file("tests/pytest.ini", "[pytest]\naddopts = --co\n"))
    assert verdict.outcome is Outcome.UNRESOLVED
    assert verdict.unfixed == ("tests/test_calc.py::test_add",)
    assert verdict.flags == ("runner_configuration_put_back", "files_named_like_tests_left_out")
    assert {"conftest.py", "tests/pytest.ini"} <= set(done.evidence.restored)
