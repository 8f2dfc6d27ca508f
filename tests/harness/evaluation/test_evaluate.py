"""Evaluations on the engine without containers; ``test_evaluate_in_containers`` has real ones."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from assay.harness.domain import (
    ApplyStatus,
    Environment,
    Evidence,
    Instance,
    Limits,
    PublishedImage,
    Service,
    TestPlan,
    Timings,
)
from assay.harness.engines.base import SERVICE_LABEL, USER_LABEL, Box, BoxEnd, BoxSpec, ExecResult, ImageInfo, Sidecar
from assay.harness.engines.fake import FakeBox, FakeEngine, image_name
from assay.harness.errors import EnvironmentFailure, ImageMissing
from assay.harness.evaluation import evaluate as evaluate_module
from assay.harness.evaluation.delivery import APPLY, CONFLICT
from assay.harness.evaluation.evaluate import evaluate
from assay.harness.evaluation.supervising import PIPE, RESULTS, SUPERVISE, TEST
from benches import make_engine, make_task

PLAN = TestPlan(command="pytest", report_path="/tmp/r/report.json", report_format="status_json", test_id="node")


@pytest.fixture
def engine(instance: Instance) -> FakeEngine:
    return make_engine([instance])


def evaluated(engine: FakeEngine, instance: Instance, patch: str, plan: TestPlan = PLAN) -> Evidence:
    return evaluate(make_task(instance, patch, plan), image_name(instance), engine).evidence


def test_evidence_says_what_was_run_where(engine: FakeEngine, instance: Instance) -> None:
    evidence = evaluated(engine, instance, instance.gold_patch)
    assert (evidence.apply.status, evidence.exit_code) == (ApplyStatus.APPLIED, 0)
    assert set(evidence.report.tests) == {*instance.fail_to_pass, *instance.pass_to_pass}
    assert (evidence.image, evidence.engine) == (image_name(instance), "fake")
    assert evidence.image_digest == f"sha256:{image_name(instance)}"
    assert not engine.alive


@pytest.mark.parametrize(
    ("patch", "status"), [("", ApplyStatus.EMPTY), ("no diff", ApplyStatus.REJECTED)], ids=["empty", "malformed"]
)
def test_patch_that_cannot_be_applied_opens_no_container(
    engine: FakeEngine, instance: Instance, patch: str, status: ApplyStatus
) -> None:
    assert evaluated(engine, instance, patch).apply.status is status
    assert engine.opened == 0


def test_files_of_the_tests_that_cannot_be_had_open_no_container(engine: FakeEngine, instance: Instance) -> None:
    def assets() -> dict[str, bytes]:
        raise EnvironmentFailure("no such release")

    with pytest.raises(EnvironmentFailure):
        evaluate(make_task(instance, plan=PLAN, assets=assets), image_name(instance), engine)
    assert engine.opened == 0


def test_missing_image_is_an_error(instance: Instance) -> None:
    with pytest.raises(ImageMissing):
        evaluated(FakeEngine({}), instance, instance.gold_patch)


def test_plan_that_loosens_limits_is_flagged(engine: FakeEngine, instance: Instance) -> None:
    loose = {
        "services": (Service(name="web", command="serve", port=80),),
        "limits": Limits(network=True, capabilities=("SYS_ADMIN",)),
        "env": {"FAKETIME": "@2014-05-01 00:00:00"},
    }
    evidence = evaluated(engine, instance, instance.gold_patch, PLAN.model_copy(update=loose))
    assert evidence.flags == ("service:web", "network", "capability:SYS_ADMIN", "faketime")


def test_ordinary_plan_has_no_flags(engine: FakeEngine, instance: Instance) -> None:
    plan = PLAN.model_copy(update={"env": {"TZ": "UTC"}})
    assert evaluated(engine, instance, instance.gold_patch, plan).flags == ()


class ActedBox(FakeBox):
    """Answers every command with what the engine was given for it."""

    create_seconds, deliver_seconds, start_seconds = 0.25, 0.5, 0.75

    def __init__(self, engine: "ActedEngine") -> None:
        self._acted = engine

    def exec(
        self,
        command: Sequence[str],
        *,
        user: str = "root",
        workdir: str = "/",
        env: Mapping[str, str] | None = None,
        seconds: float = 60.0,
        output_bytes: int = 1024 * 1024,
        **_options: Any,
    ) -> ExecResult:
        self._acted.commands.append(([*command], user, workdir, seconds, output_bytes))
        return self._acted.results.get(command[1], ExecResult(0, b"", 0.0))

    def put(self, archive: bytes, to: str = "/") -> None:
        pass

    def get(self, path: str, max_bytes: int) -> dict[str, bytes]:
        assert max_bytes == 67108864
        self._acted.read.append(path)
        return {"report.json": json.dumps({"t": "passed"}).encode()}

    def end(self) -> BoxEnd:
        return self._acted.box_end


class ActedEngine(FakeEngine):
    """An engine with containers that act."""

    has_containers = True

    def __init__(
        self, results: Mapping[str, ExecResult] | None = None, labels: Mapping[str, str] | None = None
    ) -> None:
        super().__init__({})
        self.results = results or {}
        self.labels = labels or {}
        self.box_end = BoxEnd()
        self.commands: list[tuple[list[str], str, str, float, int]] = []
        self.read: list[str] = []
        self.opened_with: dict[str, Any] = {}

    @contextmanager
    def open(self, spec: BoxSpec) -> Iterator[Box]:
        self.opened_with = {"limits": spec.limits, "labels": spec.labels, "services": spec.services}
        yield ActedBox(self)

    def find_image(self, name: str) -> ImageInfo | None:
        return ImageInfo(name, "sha256:1", labels=self.labels)


LIMITED = PLAN.model_copy(update={"limits": Limits(seconds=7, output_bytes=9), "workdir": "/src", "user": "tests"})


def test_limit_that_the_engine_cannot_enforce_is_a_flag(instance: Instance) -> None:
    engine = ActedEngine()
    strong = evaluated(engine, instance, instance.gold_patch).flags
    engine.unenforced = frozenset({"process limit", "memory limit"})
    weak = evaluated(engine, instance, instance.gold_patch).flags
    assert weak == (*strong, "not_enforced:memory_limit", "not_enforced:process_limit")


def test_tests_run_under_a_supervisor_within_their_limits(instance: Instance) -> None:
    engine = ActedEngine()
    evidence = evaluated(engine, instance, instance.gold_patch, LIMITED)
    command, *about = engine.commands[-1]
    assert (command[:3], about) == (["sh", SUPERVISE, "tests"], ["root", "/src", 7, 9])
    assert (engine.opened_with["limits"], evidence.user, engine.read) == (
        LIMITED.limits,
        "tests",
        [RESULTS, "/tmp/r/report.json"],
    )


def test_tests_of_root_have_nobody_above_them(instance: Instance) -> None:
    engine = ActedEngine(labels={USER_LABEL: "root"})
    plan = LIMITED.model_copy(update={"report_path": PIPE})
    evidence = evaluated(engine, instance, instance.gold_patch, plan)
    assert (engine.commands[-1][0], evidence.user, engine.read) == (["bash", TEST], "root", [PIPE])
    assert "tests_ran_as_root" in evidence.flags


@pytest.mark.parametrize("labels", [{}, {USER_LABEL: "assay"}])
def test_report_that_goes_through_the_pipe_is_read_from_roots_folder(
    instance: Instance, labels: dict[str, str]
) -> None:
    engine = ActedEngine(labels=labels)
    evidence = evaluated(engine, instance, instance.gold_patch, PLAN.model_copy(update={"report_path": PIPE}))
    assert (engine.read, evidence.user) == ([RESULTS], "assay")


def test_plan_without_a_report_reads_none(instance: Instance) -> None:
    engine = ActedEngine()
    evaluated(engine, instance, instance.gold_patch, PLAN.model_copy(update={"report_path": ""}))
    assert engine.read == [RESULTS]


def test_services_run_in_the_images_that_the_instances_image_names(instance: Instance) -> None:
    engine = ActedEngine(labels={f"{SERVICE_LABEL}web": "web:1"})
    web, db = Service(name="web", command="serve", port=80), Service(name="db", command="serve", port=81)
    evaluated(engine, instance, instance.gold_patch, PLAN.model_copy(update={"services": (web, db)}))
    assert engine.opened_with["services"] == (Sidecar(web, "web:1"), Sidecar(db, ""))
    assert engine.opened_with["labels"] == {}


def test_evidence_has_everything_that_the_run_and_the_kernel_said(instance: Instance) -> None:
    plain = evaluated(ActedEngine(), instance, instance.gold_patch)
    ran = ExecResult(5, b"", 1.0, timed_out=True, truncated=True, disk_exceeded=True)
    engine = ActedEngine({SUPERVISE: ran})
    engine.box_end = BoxEnd(oom_killed=True, processes_limited=True)
    limited = evaluated(engine, instance, instance.gold_patch)
    names = ("exit_code", "timed_out", "output_truncated", "disk_exceeded", "oom_killed", "processes_limited")
    assert [getattr(limited, name) for name in names] == [5, *[True] * 5]
    assert [getattr(plain, name) for name in names] == [0, *[False] * 5]
    assert [*limited.report.tests] == ["t"]


def test_every_step_is_timed(instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0])
    monkeypatch.setattr(evaluate_module, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    steps = {"create": 0.25, "deliver": 0.5, "start": 0.75, "apply": 2.0, "test": 4.0, "collect": 8.0, "remove": 16.0}
    assert evaluated(ActedEngine(), instance, instance.gold_patch).timings == Timings(**steps, total=63.0)


def test_run_without_tripwires_is_flagged_unless_nothing_ran(instance: Instance) -> None:
    with_runner = PLAN.model_copy(update={"runner": "pytest"})
    places = ExecResult(0, b"tests\n", 0.0)

    def flagged(engine: FakeEngine, plan: TestPlan) -> bool:
        return "no_tripwires" in evaluated(engine, instance, instance.gold_patch, plan).flags

    assert not flagged(ActedEngine({"/assay/restore.sh": places}), with_runner)
    assert flagged(ActedEngine({"/assay/restore.sh": places}), with_runner.model_copy(update={"tripwires": False}))
    assert flagged(ActedEngine(), with_runner), "they could be put nowhere"
    assert flagged(ActedEngine(), PLAN)
    assert not flagged(ActedEngine({APPLY: ExecResult(CONFLICT, b"", 0.0)}), PLAN)
    assert not flagged(make_engine([instance]), PLAN)


def test_patch_that_does_not_apply_ends_before_the_tests(instance: Instance) -> None:
    engine = ActedEngine({APPLY: ExecResult(CONFLICT, b"does not apply", 0.0)})
    found = evaluate(make_task(instance, plan=PLAN), "image", engine, {"run": "1"})
    assert (found.evidence.apply.status, found.evidence.exit_code) == (ApplyStatus.CONFLICT, None)
    assert (found.output, len(engine.commands)) == (b"does not apply", 1)
    assert engine.opened_with["labels"] == {"run": "1"}
    assert found.evidence.timings.total > 0


def test_binary_data_are_accepted_if_the_fix_has_some(instance: Instance) -> None:
    patch = "diff --git a/y b/y\nindex 1..2 100644\nGIT binary patch\nliteral 0\nHcmV?d00001\n\n"
    assert evaluated(ActedEngine(), instance, patch).apply.status is ApplyStatus.REJECTED
    with_binary = instance.model_copy(update={"gold_patch": patch})
    assert evaluated(ActedEngine(), with_binary, patch).apply.status is ApplyStatus.APPLIED


def test_evidence_says_whose_image_it_was(instance: Instance) -> None:
    published = instance.model_copy(update={"environment": PublishedImage(image="acme/calc:1", eval_script="pytest")})
    for each, environment in ((instance, Environment.RECIPE), (published, Environment.PUBLISHED)):
        for patch in (each.gold_patch, ""):
            assert evaluated(ActedEngine(), each, patch).environment is environment
