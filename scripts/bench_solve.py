"""Prints the overhead of a solver's step, beside its model and its command: medians over the steps of one bash_loop.

Everything is as in a run: container, model behind recording and budget, trajectory on disk after each step.
"""

import os
import statistics
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from assay.agents.llm.cassette import Cassette, Mode
from assay.agents.llm.chat import Request
from assay.agents.llm.scripted import Scripted
from assay.agents.sampling.recorded_model import ModelDefaults
from assay.agents.sampling.run import mask_volatile
from assay.agents.sampling.solve import SolveJob, SolveSetup, solve
from assay.agents.sampling.store import SolveStore
from assay.agents.sampling.workspaces.agent_image import AgentImages
from assay.agents.sampling.workspaces.opener import WorkspaceOpener
from assay.agents.solvers.bash_loop import BashLoop
from assay.instances.dataset.load import load
from assay.jobs.workbench import make_sources
from assay.jobs.workplace import Workplace

INSTANCE = "pallets__flask-2.3.2"
STEPS = 60
COMMANDS = ("true", "ls -la src", "git diff", "grep -rn session src")
TARGET = 0.080


def main() -> None:
    """Let a scripted model take ``STEPS`` steps in a container; print milliseconds."""
    instance = load("releases", ids=[sys.argv[1] if len(sys.argv) > 1 else INSTANCE]).instances[0]
    bench = Workplace().bench
    images = AgentImages(bench.engine, make_sources().cache, print)
    asked: list[float] = []

    def answer(request: Request) -> str:
        asked.append(time.monotonic())
        turn = sum(message.role == "assistant" for message in request.messages)
        return f"Step {turn}.\n```bash\n{'submit' if turn == STEPS else COMMANDS[turn % len(COMMANDS)]}\n```"

    with (
        tempfile.TemporaryDirectory() as name,
        Cassette(Path(name) / "llm.jsonl", Mode.AUTO, Scripted(answer), normalise=mask_volatile) as model,
    ):
        store = SolveStore(Path(name) / "run")
        agent = BashLoop(BashLoop.Settings(form="block"))
        solver = SolveSetup(
            agent, WorkspaceOpener(bench, images), store, defaults=ModelDefaults(model="scripted"), llm=model
        )
        began = time.monotonic()
        solution = solve(SolveJob(bench.settle(instance)), solver).solution
        whole = time.monotonic() - began
    steps = [later - earlier for earlier, later in pairwise(asked)]
    commands = solution.usage.command_seconds / STEPS
    print(f"{instance.id}, {STEPS} steps of {', '.join(COMMANDS)}; {solution.status}; milliseconds\n")
    print(f"{'step':<34}{'median':>9}{'least':>9}{'most':>9}")
    _print_row("step without the model", steps)
    _print_row("  of it with the command true", steps[:: len(COMMANDS)])
    print(f"{'command and what starts it (mean)':<34}{commands * 1000:>9.1f}")
    print(f"{'all else of a step (mean)':<34}{(statistics.mean(steps) - commands) * 1000:>9.1f}")
    print(f"\nopening, checking and leaving the container: {whole - sum(steps):.1f} s")
    # A command that does nothing leaves the overhead alone: everything but the model and the command.
    overhead = statistics.median(steps[:: len(COMMANDS)])
    best = min(steps[:: len(COMMANDS)])
    print(f"overhead of a step: {overhead * 1000:.1f} ms, {best * 1000:.1f} at best (target {TARGET * 1000:.0f})")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def _print_row(name: str, seconds: list[float]) -> None:
    figures = (statistics.median(seconds), min(seconds), max(seconds))
    print(f"{name:<34}" + "".join(f"{figure * 1000:>9.1f}" for figure in figures))


main()
