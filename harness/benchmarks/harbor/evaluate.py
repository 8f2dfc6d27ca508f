"""Evaluating a task whose tests run in a container of their own, on what is carried there from the patched one.

No code of the patch has run in the second container before its tests do, so its root reads the reward.
"""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from assay.harness.domain import Channel, FailedPart, PublishedImage, SeparateVerifier, TestReport
from assay.harness.engines.base import BoxSpec, Engine, ExecResult
from assay.harness.engines.tars import pack_tar
from assay.harness.errors import EnvironmentFailure, ImageMissing
from assay.harness.evaluation.applying import make_evidence
from assay.harness.evaluation.evaluate import (
    Evaluation,
    Patched,
    Task,
    describe_run,
    evaluate,
    gate_patch,
    open_patched,
)
from assay.harness.evaluation.protection import ROOT
from assay.harness.reports import harbor_reward

CARRIED_BYTES = 256 * 1024 * 1024
LOGS, REWARDS = "/logs/verifier", ("reward.json", "reward.txt")
"""Folder of the rewards, and their files; the first that is there counts."""
SCRIPT = "/assay/verify.sh"
COLLECT_SECONDS = 600.0
APART = "verified_in_another_container"
KILLED = 137  # 128 + SIGKILL
POWERS = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "NET_BIND_SERVICE", "SYS_CHROOT")
"""Capabilities of tests that a task wants to run as root: they may install packages."""
UNFORESEEN = "unforeseen.txt"
"""File beside the rewards in which a sealed verifier names downloads that nobody has foreseen."""
REFUSED = re.compile(rb"^unforeseen: (.+)$", re.MULTILINE)
NOT_FORESEEN = "not foreseen when the task was sealed: {}; seal it again"


def evaluate_task(task: Task, image: str, engine: Engine, labels: Mapping[str, str] | None = None) -> Evaluation:
    """Evaluate a task as ``evaluate`` does, in two containers if it asks for them; raises as ``evaluate``."""
    environment = task.instance.environment
    if not isinstance(environment, PublishedImage) or environment.verifier is None:
        found = evaluate(_grant_powers(task), image, engine, labels)
        return _blame_downloads(found, [each.decode(errors="replace") for each in REFUSED.findall(found.output)])
    patch = gate_patch(task)
    if isinstance(patch, Evaluation):
        return patch
    began, verifier, tests = time.monotonic(), environment.verifier, task.assets()
    _have_image(engine, verifier.image)
    untested = replace(task, assets=dict, plan=task.plan.model_copy(update={"restore": ()}))
    with open_patched(untested, patch, image, engine, labels) as opened:
        evidence = make_evidence(task.instance, opened.delivery, opened.applied)
        found = Evaluation(evidence, opened.delivery.patch.text, opened.applied.result.output)
        carried = {} if opened.applied.ended else _collect(opened, verifier)
    opened.clock.lap("collect")
    if not opened.applied.ended:
        found = _verify(found, opened, verifier, {**carried, **_place_tests(tests)}, engine, labels)
        opened.clock.lap("test")
    return describe_run(found, opened, image, engine, time.monotonic() - began)


def _grant_powers(task: Task) -> Task:
    """Return a task whose root can install packages, if its tests run as root."""
    if task.plan.user != ROOT:
        return task
    limits = task.plan.limits
    limits = limits.model_copy(update={"capabilities": tuple(dict.fromkeys((*limits.capabilities, *POWERS)))})
    return replace(task, plan=task.plan.model_copy(update={"limits": limits}))


def _blame_downloads(found: Evaluation, refused: Sequence[str]) -> Evaluation:
    """Return an evaluation, with the environment as what failed if a sealed verifier lacks a download."""
    if not refused or found.evidence.report.tests or found.evidence.exit_code is None:
        return found
    update = {"failed_part": FailedPart.ENVIRONMENT, "error": NOT_FORESEEN.format(refused[0])}
    return replace(found, evidence=found.evidence.model_copy(update=update))


def _have_image(engine: Engine, name: str) -> None:
    try:
        if engine.find_image(name) is None:
            engine.pull(name)
    except ImageMissing as error:
        raise EnvironmentFailure(f"the image of the task's verifier, {name}, is not to be had: {error}") from error


def _collect(opened: Patched, verifier: SeparateVerifier) -> dict[str, bytes]:
    """Run what prepares the artifacts, end the container, and return their files by path."""
    box, plan = opened.box, opened.delivery.plan
    for command in verifier.collect:
        box.exec(["bash", "-c", command], user=plan.user, workdir=plan.workdir, seconds=COLLECT_SECONDS)
    box.end()
    found = dict[str, bytes]()
    for path in verifier.artifacts:
        files, name = box.get(path, CARRIED_BYTES), path.rpartition("/")[2]
        is_file = [*files] == [name]
        found |= {(path if is_file else f"{path}/{inner}").strip("/"): content for inner, content in files.items()}
    return found


def _place_tests(assets: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the tests' files, which a row keeps below a folder of the tree, as they are in the second container."""
    return {f"tests/{path.partition('/')[2]}": content for path, content in assets.items()}


def _verify(
    found: Evaluation,
    opened: Patched,
    verifier: SeparateVerifier,
    files: Mapping[str, bytes],
    engine: Engine,
    labels: Mapping[str, str] | None,
) -> Evaluation:
    plan = opened.delivery.plan
    archive = pack_tar({**files, SCRIPT.strip("/"): verifier.script.encode()}, ["tests"])
    with engine.open(BoxSpec(verifier.image, plan.limits, labels or {}, archive=archive)) as box:
        run = box.exec(["bash", SCRIPT], user=ROOT, seconds=plan.limits.seconds, output_bytes=plan.limits.output_bytes)
        end, rewards = box.end(), box.get(LOGS, CARRIED_BYTES)
    results = {
        "exit_code": KILLED if run.exit_code == KILLED else 0,  # else the script's own status says nothing
        "timed_out": run.timed_out,
        "output_truncated": run.truncated,
        "disk_exceeded": run.disk_exceeded,
        "oom_killed": end.oom_killed,
        "processes_limited": end.processes_limited,
        "report": _read_reward(run, rewards),
        "flags": (*found.evidence.flags, APART),
    }
    evidence = found.evidence.model_copy(update=results)
    judged = replace(found, evidence=evidence, output=run.output, report_files=_keep(rewards))
    return _blame_downloads(judged, rewards.get(UNFORESEEN, b"").decode(errors="replace").splitlines())


def _read_reward(run: ExecResult, files: Mapping[str, bytes]) -> TestReport:
    """Read the reward; nothing without one, or if the tests did not end."""
    name = next((name for name in REWARDS if name in files), "")
    if run.timed_out or not name:
        return TestReport()
    tests = harbor_reward.read_file(name, files[name].decode(errors="replace"))
    return TestReport(channel=Channel.LOG, format=harbor_reward.NAME, tests=tests, suite_ran=bool(tests))


def _keep(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {name: files[name] for name in REWARDS if name in files}
