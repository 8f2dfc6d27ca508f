"""The story of one evaluation: a patch and an instance's tests meet in a fresh container, and evidence comes out."""

import io
import secrets
import shlex
import tarfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from assay.harness import reports
from assay.harness.canary import PLACEHOLDER, Canary, make_canary
from assay.harness.domain import Apply, ApplyStatus, Evidence, FailedPart, Instance, Prediction, TestPlan, Timings
from assay.harness.engines.base import Box, Engine, ExecResult
from assay.harness.languages import LANGUAGES
from assay.harness.patch import GatedPatch, MalformedPatchError, gate, touched_paths

HOME = "/assay"
"""Folder in the container that holds what the harness delivers; only root can write there."""
APPLY_SECONDS = 120.0
REPORT_BYTES = 64 * 1024 * 1024
EVERYWHERE = (".gitattributes",)
"""Put back for every language: it changes what git writes when the tests are restored."""
CONFLICT, TESTS_DO_NOT_APPLY = 3, 4
"""Exit statuses of the apply script; everything else but 0 is a failure of the infrastructure."""


@dataclass(frozen=True, slots=True)
class Task:
    """One patch to evaluate: everything but the image, which is prepared when the task's turn comes."""

    instance: Instance
    prediction: Prediction
    plan: TestPlan
    runs_empty: bool = False
    """Run the tests even if the patch is empty: the null control."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Evidence together with the raw material it was read from."""

    evidence: Evidence
    patch: str = ""
    output: bytes = b""
    report_files: Mapping[str, bytes] = field(default_factory=dict)


def evaluate(task: Task, image: str, engine: Engine, labels: Mapping[str, str] | None = None) -> Evaluation:
    """Test a patch in a fresh container of ``image``.

    Args:
        task: the instance, the patch and how to test it.
        image: name of an image that is present on the engine.
        engine: where the container runs.
        labels: put on the container, so that a later process knows whose it is.

    Raises:
        EngineError: the engine failed; this says nothing about the patch.
    """
    try:
        patch = gate(task.prediction.patch, allow_binary="GIT binary patch" in task.instance.gold_patch)
    except MalformedPatchError as error:
        return without_container(task, ApplyStatus.REJECTED, str(error))
    if patch.is_empty and not task.runs_empty:
        return without_container(task, ApplyStatus.EMPTY, "")
    began = time.monotonic()
    with engine.open(image, task.plan.limits, labels or {}) as box:
        evaluation = _evaluate_in(box, task, patch)
        collected = time.monotonic()
    info = engine.find_image(image)
    ended = time.monotonic()
    timings = evaluation.evidence.timings.model_copy(update={"remove": ended - collected, "total": ended - began})
    evidence = evaluation.evidence.model_copy(
        update={
            "image": image,
            "image_digest": info.digest if info else "",
            "engine": engine.name,
            "timings": timings,
        }
    )
    return Evaluation(evidence, evaluation.patch, evaluation.output, evaluation.report_files)


def without_container(task: Task, status: ApplyStatus, detail: str) -> Evaluation:
    """Return the evidence of a patch that needs no container to be judged."""
    evidence = Evidence(instance_id=task.instance.id, apply=Apply(status=status, detail=detail))
    return Evaluation(evidence, task.prediction.patch)


def _evaluate_in(box: Box, task: Task, patch: GatedPatch) -> Evaluation:
    put_back = runner_configuration(task.instance, patch)
    plan = task.plan.model_copy(update={"restore": (*task.plan.restore, *put_back)})
    canary = make_canary(secrets.token_hex(16)) if plan.canary else None
    clock = _Clock(create=box.create_seconds, start=box.start_seconds)
    box.put(_delivery(task.instance, patch, plan, canary))
    clock.lap("deliver")
    applied = box.exec(["sh", f"{HOME}/apply.sh"], user=plan.user, workdir=plan.workdir, seconds=APPLY_SECONDS)
    clock.lap("apply")
    evidence = _applied_evidence(task, patch, applied).model_copy(
        update={"restored": plan.restore, "flags": _flags(task.instance, patch, plan, put_back)}
    )
    if evidence.apply.status is ApplyStatus.CONFLICT or evidence.failed_part:
        return Evaluation(evidence.model_copy(update={"timings": clock.timings()}), patch.text, applied.output)
    run = _run_tests(box, plan)
    clock.lap("test")
    end = box.end()
    files = box.get(plan.report_path, REPORT_BYTES) if plan.report_path else {}
    output = run.output.decode(errors="replace")
    evidence = evidence.model_copy(
        update={
            "exit_code": run.exit_code,
            "timed_out": run.timed_out,
            "output_truncated": run.truncated,
            "disk_exceeded": run.disk_exceeded,
            "oom_killed": end.oom_killed,
            "processes_limited": end.processes_limited,
            "canaries": canary.by_id(plan.test_id) if canary else {},
            "report": reports.read(plan, files, output),
        }
    )
    clock.lap("collect")
    return Evaluation(evidence.model_copy(update={"timings": clock.timings()}), patch.text, run.output, files)


def _run_tests(box: Box, plan: TestPlan) -> ExecResult:
    return box.exec(
        ["bash", f"{HOME}/test.sh"],
        user=plan.user,
        workdir=plan.workdir,
        env=plan.env,
        seconds=plan.limits.seconds,
        output_bytes=plan.limits.output_bytes,
    )


def _applied_evidence(task: Task, patch: GatedPatch, applied: ExecResult) -> Evidence:
    detail = applied.output.decode(errors="replace").strip()[-2000:]
    status, failed_part, error = ApplyStatus.APPLIED, FailedPart.NONE, ""
    if applied.exit_code == CONFLICT:
        status = ApplyStatus.CONFLICT
    elif applied.exit_code == TESTS_DO_NOT_APPLY:
        failed_part, error = FailedPart.ENVIRONMENT, f"the instance's own test patch does not apply: {detail}"
    elif applied.exit_code != 0:
        failed_part, error = (
            FailedPart.INFRASTRUCTURE,
            f"the patch could not be delivered ({applied.exit_code}): {detail}",
        )
    elif patch.is_empty:
        status = ApplyStatus.EMPTY
    return Evidence(
        instance_id=task.instance.id,
        user=task.plan.user,
        apply=Apply(status=status, detail=detail, normalized=patch.normalized),
        failed_part=failed_part,
        error=error,
    )


def runner_configuration(instance: Instance, patch: GatedPatch) -> tuple[str, ...]:
    """Return the files of a patch that could configure or hook the test runner: they are put back to the base commit.

    What the gold patch or the test patch touches stays as the patch has it, since the fix may need it.
    """
    language = LANGUAGES.get(instance.language)
    theirs = {*touched_paths(instance.gold_patch), *touched_paths(instance.test_patch)}

    def steers(path: str) -> bool:
        return path.rpartition("/")[2] in EVERYWHERE or (language is not None and language.runner_config(path))

    return tuple(path for path in patch.paths if path not in theirs and steers(path))


def _build_products(instance: Instance) -> tuple[str, ...]:
    language = LANGUAGES.get(instance.language)
    return language.BUILD_PRODUCTS if language else ()


def _flags(instance: Instance, patch: GatedPatch, plan: TestPlan, put_back: tuple[str, ...]) -> tuple[str, ...]:
    products = _build_products(instance)
    flags = {
        "tests_ran_as_root": plan.user == "root",
        "runner_configuration_put_back": bool(put_back),
        "build_products_left_out": any(fnmatchcase(path, each) for path in patch.paths for each in products),
    }
    return tuple(name for name, holds in flags.items() if holds)


def _delivery(instance: Instance, patch: GatedPatch, plan: TestPlan, canary: Canary | None) -> bytes:
    """Pack everything the container needs into one archive, owned by root."""
    home = HOME.strip("/")
    files = {
        f"{home}/model.patch": patch.text,
        f"{home}/tests.patch": plan.test_patch,
        f"{home}/restore": "".join(f"{path}\0" for path in plan.restore),
        f"{home}/apply.sh": apply_script(patch, plan, _build_products(instance)),
        f"{home}/test.sh": plan.command.replace(PLACEHOLDER, canary.path if canary else ""),
    }
    if canary:
        files[f"{plan.workdir.strip('/')}/{canary.path}"] = canary.text
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        folder = tarfile.TarInfo(home)
        folder.type, folder.mode = tarfile.DIRTYPE, 0o755
        tar.addfile(folder)
        for name, text in files.items():
            content = text.encode()
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o644
            tar.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def apply_script(patch: GatedPatch, plan: TestPlan, left_out: tuple[str, ...] = ()) -> str:
    """Return the shell text that applies the model's patch, then puts the test files back to base and patches them.

    It runs as the tests' user before any code of the patch has run. Restoring takes the paths that the base commit
    has from there and removes the others; what matches ``left_out`` is never applied.
    """
    git = "git -c core.hooksPath=/dev/null -c core.autocrlf=false -c safe.directory='*'"
    lines = ["set -u"]
    if not patch.is_empty:
        without = "".join(f" --exclude={shlex.quote(pattern)}" for pattern in left_out)
        lines.append(f"{git} apply --whitespace=nowarn{without} {HOME}/model.patch || exit {CONFLICT}")
    if plan.restore:
        lines += [
            f"xargs -0 {git} --literal-pathspecs ls-tree -r -z --name-only HEAD -- < {HOME}/restore > /tmp/at-base",
            f"xargs -0 rm -rf -- < {HOME}/restore",  # all of them first, so that no planted attributes steer git
            f"[ ! -s /tmp/at-base ] || {git} --literal-pathspecs checkout -q HEAD"
            f" --pathspec-from-file=/tmp/at-base --pathspec-file-nul || exit {TESTS_DO_NOT_APPLY}",
            "rm -f /tmp/at-base",
        ]
    if plan.test_patch:
        lines.append(f"{git} apply --whitespace=nowarn {HOME}/tests.patch || exit {TESTS_DO_NOT_APPLY}")
    if plan.report_path:
        lines.append(f"mkdir -p {shlex.quote(plan.report_path.rpartition('/')[0] or '/')}")
    return "\n".join([*lines, "exit 0", ""])


class _Clock:
    """Seconds since the last lap, by the name of the step that took them."""

    def __init__(self, **known: float) -> None:
        self._laps = dict(known)
        self._last = time.monotonic()

    def lap(self, step: str) -> None:
        now = time.monotonic()
        self._laps[step] = now - self._last
        self._last = now

    def timings(self) -> Timings:
        return Timings(**self._laps)
