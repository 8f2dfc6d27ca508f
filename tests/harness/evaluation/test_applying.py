"""What came of applying a patch, from what the scripts' runs say; the scripts themselves are in ``test_delivery``."""

import io
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from assay.harness.domain import ApplyStatus, FailedPart, Instance, TestPlan
from assay.harness.engines.base import Box, BoxEnd, ExecResult
from assay.harness.errors import EngineError
from assay.harness.evaluation.applying import Applied, apply_patch, make_evidence
from assay.harness.evaluation.delivery import (
    APPLY,
    CONFLICT,
    FIXED,
    KILLED_GIT,
    NOT_PUT_BACK,
    PATCHED,
    REPOSITORY,
    RESTORE,
    RESTORED,
    TESTS_DO_NOT_APPLY,
    WATCHED_INSTALL,
    make_delivery,
)
from assay.harness.evaluation.steering import FROM_GOLD
from assay.harness.patches.gate import gate
from assay.harness.runners import Tripwires
from corpus.model import diff

NONE = b"0" * 40
FINE = ExecResult(0, b"", 0.1)
PATCH = "--- a/calc.py\n+++ b/calc.py\n@@ -1 +1 @@\n-a\n+b\n"


def entry(path: str, old: str = "100644", new: str = "100644", status: str = "M") -> bytes:
    return f":{old} {new} {NONE.decode()} {NONE.decode()} {status}\0{path}\0".encode()


@dataclass(frozen=True)
class Call:
    """One command that a box was to run."""

    command: list[str]
    user: str
    workdir: str
    env: Mapping[str, str] | None
    seconds: float
    output_bytes: int


class ActedBox(Box):
    """Answers the two scripts with what it is given."""

    create_seconds = deliver_seconds = start_seconds = 0.0

    def __init__(
        self, results: Mapping[str, ExecResult], end: BoxEnd | None = None, files: Mapping[str, bytes] | None = None
    ) -> None:
        self.ran: list[str] = []
        self.calls: list[Call] = []
        self._files = files or {}
        self.put_files: dict[str, bytes] = {}
        self._results = results
        self._end = end

    def exec(
        self,
        command: Sequence[str],
        *,
        user: str = "root",
        workdir: str = "/",
        env: Mapping[str, str] | None = None,
        seconds: float = 60.0,
        output_bytes: int = 1024 * 1024,
    ) -> ExecResult:
        self.ran.append(command[1])
        self.calls.append(Call([*command], user, workdir, env, seconds, output_bytes))
        return self._results.get(command[1], FINE)

    def put(self, archive: bytes, to: str = "/") -> None:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            for member in tar:
                content = tar.extractfile(member)
                assert content is not None
                self.put_files[f"/{member.name}"] = content.read()

    def get(self, path: str, max_bytes: int) -> dict[str, bytes]:
        return {"x": self._files[path]} if path in self._files else {}

    def end(self) -> BoxEnd:
        if self._end is None:
            raise EngineError("somebody else ended the container")
        return self._end


def applied(instance: Instance, box: ActedBox, patch: str = PATCH) -> Applied:
    plan = TestPlan(command="true", restore=("tests/test_calc.py",))
    return apply_patch(box, instance, make_delivery(instance, plan, gate(patch)))


def status_of(instance: Instance, done: Applied, patch: str = PATCH) -> tuple[ApplyStatus, FailedPart, str]:
    delivery = make_delivery(instance, TestPlan(command="true"), gate(patch))
    evidence = make_evidence(instance, delivery, done)
    return evidence.apply.status, evidence.failed_part, evidence.apply.detail


LIMITS = [
    (ExecResult(137, b"", 120.0, timed_out=True), "took more than 120 seconds"),
    (ExecResult(None, b"", 120.0, timed_out=True), "took more than 120 seconds"),
    (ExecResult(137, b"", 9.0, disk_exceeded=True), "wrote more to the disk"),
    (ExecResult(137, b"x" * 9, 9.0, truncated=True), "printed more"),
    (ExecResult(KILLED_GIT, b"Killed", 9.0), "needed more memory"),
    (ExecResult(NOT_PUT_BACK, b"not there: x", 9.0), "cannot be put back\nnot there: x"),
]


@pytest.mark.parametrize(("result", "why"), LIMITS)
@pytest.mark.parametrize("script", [APPLY, RESTORE])
def test_limit_that_a_patch_reaches_refuses_the_patch(
    instance: Instance, script: str, result: ExecResult, why: str
) -> None:
    done = applied(instance, ActedBox({script: result}))
    status, failed_part, detail = status_of(instance, done)
    assert (done.ended, status, failed_part) == (True, ApplyStatus.REJECTED, FailedPart.NONE)
    assert why in detail


@pytest.mark.parametrize("script", [APPLY, RESTORE])
def test_kill_for_lack_of_memory_refuses_the_patch_and_one_by_somebody_else_is_the_engines(
    instance: Instance, script: str
) -> None:
    done = applied(instance, ActedBox({script: ExecResult(137, b"", 1.0)}, BoxEnd(oom_killed=True)))
    assert status_of(instance, done)[0] is ApplyStatus.REJECTED
    with pytest.raises(EngineError, match="somebody else"):
        applied(instance, ActedBox({script: ExecResult(137, b"", 1.0)}))


@pytest.mark.parametrize("code", [1, 2, 127, -1, None])
@pytest.mark.parametrize(("script", "patch"), [(APPLY, PATCH), (RESTORE, PATCH), (APPLY, "")])
def test_other_failure_is_the_infrastructures(instance: Instance, script: str, patch: str, code: int | None) -> None:
    done = applied(instance, ActedBox({script: ExecResult(code, b"no git", 1.0)}), patch=patch)
    assert (done.ended, status_of(instance, done, patch)[1]) == (True, FailedPart.INFRASTRUCTURE)


@pytest.mark.parametrize("result", [result for result, _ in LIMITS if result.exit_code is not None])
def test_limit_without_a_patch_is_not_the_patchs(instance: Instance, result: ExecResult) -> None:
    box = ActedBox({RESTORE: result}, BoxEnd())
    done = applied(instance, box, patch="")
    assert not done.refused


def test_conflict_and_foreign_tests_keep_their_names(instance: Instance) -> None:
    done = applied(instance, ActedBox({APPLY: ExecResult(CONFLICT, b"does not apply", 1.0)}))
    delivery = make_delivery(instance, TestPlan(command="true", restore=("x",)), gate(PATCH))
    assert make_evidence(instance, delivery, done).restored == ()
    assert status_of(instance, done)[::2] == (ApplyStatus.CONFLICT, "does not apply")
    done = applied(instance, ActedBox({APPLY: ExecResult(TESTS_DO_NOT_APPLY, b"", 1.0)}))
    assert status_of(instance, done)[1] is FailedPart.ENVIRONMENT


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (entry("way", "000000", "120000", "A"), "symbolic link"),
        (entry("link", "120000", "000000", "D"), "symbolic link"),
        (entry("calc.py", "100644", "120000", "T"), "changed its type"),
        (entry("CONFTEST.py", "000000", "100644", "A"), "only by case"),
        (b":000000 100644 %s %s A\0\xff\0" % (NONE, NONE), "not UTF-8"),
    ],
)
def test_tree_that_shows_what_no_patch_may_do_refuses_it(instance: Instance, change: bytes, why: str) -> None:
    box = ActedBox({APPLY: ExecResult(0, b"\0" + change, 1.0)})
    done = applied(instance, box)
    assert why in done.refused
    assert box.ran == [APPLY]


def test_changes_are_put_back_from_what_the_tree_and_what_the_patch_says(instance: Instance) -> None:
    box = ActedBox(
        {APPLY: ExecResult(0, b"\0" + entry("conftest.py", "000000", "100644", "A") + entry("calc.py"), 1.0)}
    )
    patch = PATCH + PATCH.replace("calc.py", "setup.cfg")
    done = applied(instance, box, patch)
    evidence = make_evidence(instance, make_delivery(instance, TestPlan(command="true"), gate(patch)), done)
    assert evidence.restored == ("conftest.py", "setup.cfg")
    assert (done.ended, done.back.paths, box.ran) == (False, ("conftest.py", "setup.cfg"), [APPLY, RESTORE])
    assert (box.put_files[PATCHED], box.put_files[RESTORED]) == (b"conftest.py\0", b"tests/test_calc.py\0setup.cfg\0")


def test_build_product_that_is_not_applied_is_not_removed_either(instance: Instance) -> None:
    box = ActedBox({APPLY: ExecResult(0, b"\0" + entry("calc.py"), 1.0)})
    done = applied(instance, box, PATCH + PATCH.replace("calc.py", "src/a.egg-info/PKG-INFO"))
    assert done.back.paths == ()
    assert PATCHED not in box.put_files


def test_nothing_more_is_sent_or_run_than_there_is_to_put_back_or_to_deliver(instance: Instance) -> None:
    box = ActedBox({APPLY: ExecResult(0, b"\0" + entry("calc.py"), 1.0)})
    assert not applied(instance, box).ended
    assert (box.ran, PATCHED in box.put_files) == ([APPLY, RESTORE], False)
    done = apply_patch(box, instance, make_delivery(instance, TestPlan(command="true"), gate(PATCH)))
    assert (done.ended, box.ran[2:]) == (False, [APPLY])


@pytest.mark.parametrize(
    ("plan", "packed"),
    [
        ({"restore": ("tests/test_calc.py",)}, {}),
        ({"test_patch": PATCH}, {}),
        ({}, {"assets": {"a.png": b""}}),
        ({}, {"tripwires": Tripwires(files={}, expected={})}),
    ],
)
def test_second_script_runs_for_each_thing_that_it_delivers(
    instance: Instance, plan: dict[str, Any], packed: dict[str, Any]
) -> None:
    box = ActedBox({})
    delivery = make_delivery(instance, TestPlan(command="true", runner="pytest", **plan), gate(PATCH), **packed)
    apply_patch(box, instance, delivery)
    assert box.ran == [APPLY, RESTORE]


def test_scripts_run_as_the_tests_user_in_the_tree(instance: Instance) -> None:
    plan = TestPlan(command="true", restore=("x",), user="tests", workdir="/src")
    box = ActedBox({})
    apply_patch(box, instance, make_delivery(instance, plan, gate("")))
    assert [(call.command, call.user, call.workdir, call.seconds) for call in box.calls] == [
        (["bash", script], "tests", "/src", 120.0) for script in (APPLY, RESTORE)
    ]
    assert {call.output_bytes for call in box.calls} == {67108864}


def test_detail_is_the_end_of_what_a_script_printed(instance: Instance) -> None:
    done = applied(instance, ActedBox({APPLY: ExecResult(CONFLICT, b"x" * 100 + b"y" * 2000 + b"\n", 1.0)}))
    assert status_of(instance, done)[2] == "y" * 2000


def test_script_that_prints_as_it_should_has_no_detail(instance: Instance) -> None:
    done = applied(instance, ActedBox({RESTORE: ExecResult(0, b"tests/test_a.py\n", 1.0)}))
    assert status_of(instance, done) == (ApplyStatus.APPLIED, FailedPart.NONE, "")


INSTALLING = TestPlan(command="true", restore=("tests/test_calc.py",), install="pip install .", user="tests")


def test_what_an_installation_did_to_tests_and_to_what_steers_them_is_put_back(instance: Instance) -> None:
    listed = b"calc.so\0tests/test_a.py\0//\0new.py\0conftest.py\0"
    box = ActedBox(
        {
            APPLY: ExecResult(0, b"\0" + entry("setup.cfg") + entry("calc.py"), 1.0),
            WATCHED_INSTALL: ExecResult(0, listed, 1.0),
        }
    )
    done = apply_patch(box, instance, make_delivery(instance, INSTALLING, gate(PATCH)))
    assert (done.ended, done.back.paths) == (False, ("conftest.py", "setup.cfg", "tests/test_a.py"))
    assert box.put_files[PATCHED] == b"", "an installation may have removed what the patch made"
    assert box.put_files[RESTORED] == b"tests/test_calc.py\0conftest.py\0setup.cfg\0tests/test_a.py\0"


def test_installation_runs_as_root_who_restores_with_a_copy_of_the_repository(instance: Instance) -> None:
    box = ActedBox({})
    apply_patch(box, instance, make_delivery(instance, INSTALLING, gate(PATCH)))
    _, install, restore = box.calls
    assert (install.command, install.user) == (["sh", WATCHED_INSTALL, "tests"], "root")
    assert (install.seconds, install.workdir) == (INSTALLING.limits.seconds, INSTALLING.workdir)
    assert restore.env is not None
    assert (restore.env["GIT_DIR"], restore.env["GIT_WORK_TREE"]) == (REPOSITORY, INSTALLING.workdir)


@pytest.mark.parametrize(
    ("result", "failed_part"),
    [
        (ExecResult(125, b"cannot copy", 1.0), FailedPart.INFRASTRUCTURE),
        (ExecResult(1, b"", 1.0), FailedPart.INFRASTRUCTURE),
        (ExecResult(None, b"", 1.0), FailedPart.INFRASTRUCTURE),
        (ExecResult(137, b"", 1.0, timed_out=True), FailedPart.NONE),
        (ExecResult(137, b"", 1.0, truncated=True), FailedPart.NONE),
        (ExecResult(137, b"", 1.0, disk_exceeded=True), FailedPart.NONE),
    ],
)
def test_installation_that_does_not_end_well_is_the_end(
    instance: Instance, result: ExecResult, failed_part: FailedPart
) -> None:
    box = ActedBox({WATCHED_INSTALL: result})
    delivery = make_delivery(instance, INSTALLING, gate(PATCH))
    done = apply_patch(box, instance, delivery)
    evidence = make_evidence(instance, delivery, done)
    assert (done.ended, box.ran[-1], evidence.failed_part) == (True, WATCHED_INSTALL, failed_part)
    limits = (evidence.timed_out, evidence.output_truncated, evidence.disk_exceeded)
    assert limits == (result.timed_out, result.truncated, result.disk_exceeded)


BASE = {"Cargo.toml": '[package]\nname = "a"\nversion = "1.0.0"\n', "src/lib.rs": "fn a() {}\n"}
FIX = {"Cargo.toml": BASE["Cargo.toml"].replace("1.0.0", "1.1.0"), "src/lib.rs": "fn a() { }\n"}
EVIL = BASE["Cargo.toml"] + '[[test]]\nname = "a"\npath = "x.rs"\n'


@pytest.mark.parametrize(
    ("at_base", "in_tree", "given"),
    [
        (ExecResult(0, BASE["Cargo.toml"].encode(), 0.1), EVIL, FIX["Cargo.toml"]),
        (ExecResult(0, BASE["Cargo.toml"].encode(), 0.1), None, FIX["Cargo.toml"]),
        (ExecResult(0, BASE["Cargo.toml"].encode(), 0.1), BASE["Cargo.toml"], None),
        (ExecResult(128, BASE["Cargo.toml"].encode(), 0.1), EVIL, None),
        (ExecResult(None, BASE["Cargo.toml"].encode(), 0.1), EVIL, None),
    ],
)
def test_file_that_steers_and_that_fix_and_patch_change_is_read_and_settled(
    instance: Instance, at_base: ExecResult, in_tree: str | None, given: str | None
) -> None:
    rust = instance.model_copy(update={"language": "rust", "gold_patch": diff(BASE, FIX), "test_patch": ""})
    changed = ExecResult(0, b"\0" + entry("Cargo.toml"), 1.0)
    files = {} if in_tree is None else {"/testbed/Cargo.toml": in_tree.encode()}
    box = ActedBox({APPLY: changed, "-c": at_base}, files=files)
    delivery = make_delivery(
        rust,
        TestPlan(command="true", workdir="/testbed"),
        gate(diff(BASE, {**FIX, "Cargo.toml": FIX["Cargo.toml"] + "# own\n"})),
    )
    done = apply_patch(box, rust, delivery)
    fixed = box.put_files.get(f"{FIXED}/Cargo.toml")
    assert (fixed.decode() if fixed else None) == given
    assert (FROM_GOLD in done.back.flags) == (given is not None)
    assert box.calls[1].command[2:] == [box.calls[1].command[2], "sh", "Cargo.toml"]
