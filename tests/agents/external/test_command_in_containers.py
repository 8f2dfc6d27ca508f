"""External programs in containers, and mini-swe-agent on a bundled instance."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from assay.agents.contract import Budget, Host, SolutionStatus
from assay.agents.external.adapter import load_adapter
from assay.agents.external.install import build_mounts, tool_folder
from assay.agents.llm.budget import BudgetLimits
from assay.agents.llm.chat import Answer, Finish, Request, Speaker, TokenUsage, ToolCall
from assay.agents.llm.proxy.server import Proxy
from assay.agents.llm.scripted import Scripted
from assay.agents.registry import make_agent
from assay.agents.sampling.workspaces.container import ContainerSpec
from assay.agents.trajectory import Trajectory
from assay.harness.domain import Prediction
from assay.harness.engines.base import BoxSpec
from assay.harness.files import default_cache
from assay.instances.dataset.load import load
from assay.jobs.evaluate import EvaluationRun
from assay.jobs.solve import SolverRun
from assay.jobs.solver_settings import SolveSettings
from assay.jobs.workbench import make_sources
from external_programs import OBEY, make_run
from leaky_image import World
from toolchains import toolchain_image

if TYPE_CHECKING:
    from assay.harness.engines.docker import DockerEngine

pytestmark = [pytest.mark.docker, pytest.mark.network]


@pytest.fixture
def host(docker_engine: "DockerEngine") -> Host:
    return Host(docker_engine, default_cache())


@pytest.fixture
def scratch() -> Iterator[Path]:
    """A folder with a short path that every user may enter."""
    with TemporaryDirectory(prefix="a-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_program_in_a_container_reaches_the_model_and_nothing_else(
    tmp_path: Path, world: World, host: Host, scratch: Path
) -> None:
    program = OBEY + "(exec 4<> /dev/tcp/172.17.0.1/80) 2> /dev/null && echo reached; id -un; touch $ASSAY_HOME/mine"
    asked: list[str] = []

    def answer(request: Request) -> str:
        asked.append(str(request.messages[0].content))
        return "RUN<echo fixed > fixed.txt>"

    run = make_run(tmp_path, program, answer, scratch=scratch)
    run.agent.prepare(host)
    plan = world.place.plan
    inside = ContainerSpec(
        host.engine, world.image, mounts=run.agent.mounts(scratch), user=plan.user, root=plan.workdir
    )
    with inside.open() as workspace:
        outcome = run.agent.solve(replace(run.session, workspace=workspace))
        assert outcome.status is SolutionStatus.SUBMITTED, outcome.error
        assert "+fixed" in workspace.diff()
        assert workspace.exec("find /opt/agents /run/model -writable").output == ""
    assert asked == ["add subtracts"]
    assert run.output().splitlines() == ["assay"]


MINI, MORE = "mini-swe-agent", "more-itertools__more-itertools-8.14.0"
WRITE = r"""cat >> more_itertools/more.py <<'END'


def longest_common_prefix(iterables):
    for items in zip(*iterables):
        if any(item != items[0] for item in items):
            return
        yield items[0]


def iequals(*iterables):
    rows = zip_longest(*iterables, fillvalue=object())
    return all(item == row[0] for row in rows for item in row)


__all__ += ["iequals", "longest_common_prefix"]
END"""
"""Implements the release notes, in other code than the release."""
COMMANDS = ("grep -n __all__ more_itertools/more.py", WRITE, "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")
PRICES = "models: {toy: {input: 3, output: 15}}\n"


def competent(request: Request) -> Answer:
    """Answer with the next command; the length of the conversation says which."""
    number = sum(message.role is Speaker.ASSISTANT for message in request.messages)
    call = ToolCall(id=f"call_{number}", name="bash", arguments=json.dumps({"command": COMMANDS[number]}))
    usage = TokenUsage(prompt_tokens=1000, completion_tokens=100)
    return Answer(content="So.", finish=Finish.TOOL_CALLS, tool_calls=(call,), usage=usage, model=request.model)


@pytest.fixture
def mini(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Budget], SolverRun]]:
    """Return a function that makes a run of mini-swe-agent with an OpenAI-compatible endpoint."""
    prices = tmp_path / "prices.yaml"
    prices.write_text(PRICES)
    with Proxy(Scripted(competent), ["toy"]) as endpoint:
        monkeypatch.setenv("OPENAI_API_KEY", endpoint.token)

        def make(budget: Budget) -> SolverRun:
            choice = SolveSettings(MINI, (), "toy", endpoint.base_url, prices=prices, budget=budget)
            return SolverRun(choice, f"mini-{budget.llm.calls}", tmp_path / "runs")

        yield make


def test_mini_swe_agent_resolves_a_bundled_instance_and_stops_at_the_budget(
    mini: Callable[[Budget], SolverRun], tmp_path: Path
) -> None:
    (instance,) = load("releases", ids=[MORE], sources=make_sources()).instances
    agent, settings = make_agent(MINI)

    (solution,) = mini(Budget()).solve([instance], agent, settings)
    assert solution.status is SolutionStatus.SUBMITTED, solution.error
    assert solution.usage.calls == 3
    # 3 answers of 1000 tokens at 3 dollars a million and 100 at 15: 3 * (0.003 + 0.0015)
    assert solution.usage.cost == pytest.approx(0.0135)
    assert solution.trajectory is not None
    actions = [call.arguments["command"] for step in solution.trajectory.steps for call in step.tool_calls or ()]
    assert actions == list(COMMANDS)
    logs = tmp_path / "runs" / "mini-None" / "instances" / MORE / "0" / "logs"
    own = Trajectory.model_validate_json((logs / "own-trajectory.json").read_bytes())
    assert own.agent.version == agent.version.split()[0]
    assert own.extra is not None
    assert own.extra["exit_status"] == "Submitted"
    prediction = Prediction(instance_id=MORE, model=MINI, patch=solution.patch)
    report, _ = EvaluationRun("evaluated", tmp_path / "runs").evaluate([(instance, prediction)], [MORE])
    assert report.resolved_ids == [MORE]

    (stopped,) = mini(Budget(llm=BudgetLimits(calls=2))).solve([instance], agent, settings)
    assert stopped.status is SolutionStatus.LIMIT_CALLS
    assert stopped.usage.calls == 2
    assert "def iequals" in stopped.patch, "its changes until then count"


@pytest.mark.toolchain("python", "3.7")
def test_mini_swe_agent_runs_in_an_older_image(docker_engine: "DockerEngine", host: Host) -> None:
    old = toolchain_image(docker_engine, "python", "3.7")
    adapter = load_adapter(MINI)
    with docker_engine.open(BoxSpec(old, mounts=build_mounts(adapter, host))) as box:
        env = {"ASSAY_TOOL": tool_folder(MINI), "PYTHONPATH": "/nowhere", "PYTHONHOME": "/nowhere"}
        done = box.exec(["bash", "-c", adapter.version_command], env=env, user="nobody")
        libc = box.exec(["ldd", "--version"])
    assert done.output.decode().strip() == adapter.install.version
    assert b"2.31" in libc.output
