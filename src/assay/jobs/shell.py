"""A person in the container of an evaluation: patched through the same gate, with the test command at hand."""

import shlex
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType

from assay.agents.sampling.workspaces import scripts
from assay.agents.sampling.workspaces.checkout import LARGEST, PLUMBING_SECONDS
from assay.agents.sampling.workspaces.opener import LIFETIME, strip
from assay.harness.benchmarks import find_benchmark
from assay.harness.domain import ApplyStatus, Instance, Prediction, PublishedImage, TestPlan
from assay.harness.engines.base import Box
from assay.harness.engines.tars import pack_tar
from assay.harness.errors import EngineError, EnvironmentFailure, RunStopped, UserError
from assay.harness.evaluation.applying import make_evidence
from assay.harness.evaluation.delivery import INSTALL, Delivery
from assay.harness.evaluation.evaluate import Evaluation, Patched, Task, open_patched, replace_targets
from assay.harness.evaluation.protection import ROOT
from assay.harness.evaluation.supervising import HOME, MODEL, PIPE, TEST
from assay.harness.patches.gate import GatedPatch
from assay.jobs.workplace import Workplace

STORE = "/tmp/.assay-changes"
"""The second repository, by which the person's changes are found whatever becomes of the first."""
TARGETS = '"${targets[@]}"'
NEEDS_TESTS = "the script of a published image runs hidden tests; open the shell with --tests"
RUN_TESTS, DIFF = "run-tests", "diff"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Left:
    exit_code: int
    diff: bytes
    """Changes from the base commit to the tree, without those of hidden tests."""
    problem: str = ""
    """Why the diff is lost; empty if it is not."""


@dataclass(frozen=True, slots=True)
class Shell:
    """A shell, or one command, in the container that a patch of an instance is evaluated in."""

    place: Workplace
    instance: Instance
    prediction: Prediction
    has_tests: bool = False
    """Whether the hidden tests are there, as in an evaluation; without them nothing of them or of the labels is."""

    def run(self, command: Sequence[str], env: Mapping[str, str], say: Callable[[str], None]) -> Left:
        """Connect this process's input and output to a command, by default a shell, and remove the container.

        Raises:
            UserError: the engine cannot, or the patch is refused or does not apply.
            RunStopped: a signal ended it; nothing is left behind.
            EngineError, EnvironmentFailure: there is no container.
        """
        with _stopping(), self.place as place:
            bench = place.bench
            if not bench.engine.has_containers:
                raise UserError(f"the engine {bench.engine.name} has no containers to work in; choose another --engine")
            task, patch = self._plan()
            labels = {"assay.run": "shell", "assay.instance": task.instance.id}
            with (
                bench.image(task.instance, "" if patch.unread else patch.text) as image,
                open_patched(self._shape(task, patch), patch, image, bench.engine, labels) as opened,
            ):
                _refuse_unpatched(opened)
                _furnish(opened, task.plan)
                plan = opened.delivery.plan
                say(f"{task.instance.id} in {plan.workdir} as {plan.user}; ./{RUN_TESTS} and ./{DIFF} are there")
                return _enter(opened.box, plan, command or ["bash"], env)

    def _plan(self) -> tuple[Task, GatedPatch]:
        task = self.place.task(self.instance, self.prediction, runs_empty=True)
        benchmark = find_benchmark(task.instance.rule)
        if benchmark.patches_are_tests:
            raise UserError(
                f"{task.instance.id}: the rule {benchmark.name} judges tests; a shell needs a patch of a fix"
            )
        gated = benchmark.gate(task)
        if isinstance(gated, Evaluation):
            raise UserError(f"the patch is refused: {gated.evidence.apply.detail}")
        bench = self.place.bench
        plan = bench.aim(task.plan, task.instance) if self.has_tests else task.plan
        return replace(task, plan=plan, assets=bench.assets(task.instance), counters=None), gated

    def _shape(self, task: Task, patch: GatedPatch) -> Task:
        """Return the task as the container gets it: a command that takes targets, and hidden tests only if asked."""
        plan, bench = task.plan, self.place.bench
        command = replace_targets(plan.command, plan.targets or plan.chosen, [TARGETS])
        if command == plan.command and not self.has_tests:  # it names files of the hidden tests
            command = bench.plan_files(task.instance, ()).command
        command = f'targets=("$@")\n{command.replace(shlex.quote(TARGETS), TARGETS)}'
        limits = plan.limits.model_copy(update={"seconds": LIFETIME})
        plan = plan.model_copy(update={"command": command, "targets": (), "tripwires": False, "limits": limits})
        if self.has_tests:
            return replace(task, plan=plan)
        nothing = {"restore": (), "test_patch": "", "runner": ""}
        if isinstance(task.instance.environment, PublishedImage):
            nothing["command"] = f"echo {shlex.quote(NEEDS_TESTS)}\nexit 2\n"
        instance = strip(task.instance, patch.text)
        return replace(task, instance=instance, plan=plan.model_copy(update=nothing), assets=dict)


def _refuse_unpatched(opened: Patched) -> None:
    evidence = make_evidence(opened.task.instance, opened.delivery, opened.applied)
    if evidence.error:
        raise EnvironmentFailure(evidence.error)
    if evidence.apply.status not in {ApplyStatus.APPLIED, ApplyStatus.EMPTY}:
        raise UserError(f"the patch does not apply: {evidence.apply.detail}")


def _furnish(opened: Patched, plan: TestPlan) -> None:
    """Put the two commands into the container, and note the tree as it is now."""
    delivery, box = opened.delivery, opened.box
    texts = {RUN_TESTS: _run_tests(plan, delivery.plan), DIFF: _diff(delivery.plan)}
    box.put(pack_tar({f"{HOME}/{name}".strip("/"): f"#!/bin/bash\n{text}\n" for name, text in texts.items()}))
    tools = " ".join(f"{HOME}/{name}" for name in texts)
    _run(box, f"chmod 755 {tools} && rm -f {PIPE} && install -m 666 /dev/null {PIPE}", ROOT, delivery.plan.workdir)
    _run(box, _prepare(delivery), delivery.plan.user, delivery.plan.workdir)


def _run(box: Box, script: str, user: str, workdir: str) -> bytes:
    done = box.exec(
        ["bash", "-c", script],
        user=user,
        workdir=workdir,
        env={"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"},
        seconds=PLUMBING_SECONDS,
        output_bytes=LARGEST,
    )
    if done.exit_code != 0:
        raise EngineError(f"the tree cannot be read by git (status {done.exit_code})")
    return done.output


def _run_tests(plan: TestPlan, made: TestPlan) -> str:
    """Return the script that tests the tree as it is: some targets, by default those of the hidden tests, or all."""
    takes_targets = TARGETS in made.command
    mine = shlex.join(plan.targets if plan.targets and made.test_patch else plan.chosen)
    lines = [
        f"cd {shlex.quote(made.workdir)} || exit",
        f"[ $# -gt 0 ] || set -- {mine}"
        if takes_targets
        else '[ $# -eq 0 ] || { echo "the command takes no targets" >&2; exit 2; }',
        f"bash {INSTALL} > /tmp/install.log 2>&1" if made.install else "",
        f'exec timeout --foreground {plan.limits.seconds:.0f} bash {TEST} "$@"',
    ]
    return "\n".join(filter(None, lines))


def _prepare(delivery: Delivery) -> str:
    """Return the script that notes the trees before and after the hidden tests came, and links the two commands."""
    base, own = f"$(cat {STORE}/assay-base)", (f"/{RUN_TESTS}", f"/{DIFF}")
    without = [*own, *delivery.left_out]
    lines = [
        scripts.open_store(STORE, borrow=True),
        f"printf '%s\\n' {shlex.join(without)} >> {STORE}/info/exclude || exit 1",
        f"g read-tree --reset {base} || exit 1",
        "" if delivery.patch.is_empty else f"g apply --cached --whitespace=nowarn {MODEL} || exit 1",
        f"g write-tree > {STORE}/assay-patched || exit 1",
        scripts.stage(base),
        f"g write-tree > {STORE}/assay-begun || exit 1",
        f"printf '%s\\n' {shlex.join(own)} >> $(git rev-parse --git-path info/exclude)",
        f"for name in {RUN_TESTS} {DIFF}; do [ -e $name ] || ln -s {HOME}/$name $name; done",
    ]
    return "\n".join(lines)


def _diff(plan: TestPlan) -> str:
    """Return the script that prints the patch with what has been changed since: the hidden tests are no part of it."""
    base, patched, begun = (f"$(cat {STORE}/assay-{name})" for name in ("base", "patched", "begun"))
    changed = f"g diff-tree -r -z --name-only --no-renames {begun} $now"
    lines = [
        f"cd {shlex.quote(plan.workdir)} || exit",
        scripts.plumbing(STORE, scripts.stage(base), "now=$(g write-tree) || exit 1"),
        f"g read-tree --reset {patched} || exit 1",
        f"{changed} | g update-index --add --remove --replace -z --stdin || exit 1",
        scripts.diff(base),
    ]
    return "\n".join(lines)


def _enter(box: Box, plan: TestPlan, command: Sequence[str], env: Mapping[str, str]) -> Left:
    if box.attached is None:
        raise UserError("this engine connects no terminal to a container; choose another --engine")
    done = box.attached.attach(command, plan.user, plan.workdir, {**plan.env, **env})
    code = 1 if done.exit_code is None else done.exit_code
    try:
        return Left(code, _run(box, f"bash {HOME}/{DIFF}", plan.user, plan.workdir))
    except EngineError as error:
        over = f"it wrote more than {plan.limits.disk_mb:,} MB to the disk"
        return Left(code, b"", over if done.disk_exceeded else str(error))


@contextmanager
def _stopping() -> Iterator[None]:
    """Turn the first signal into RunStopped, and ignore the others while the container is removed."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in SIGNALS}
    try:
        yield
    except KeyboardInterrupt:
        raise RunStopped("interrupted; the container is removed, and so are its changes") from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
