"""Every native solver on three bundled instances, in containers, with an endpoint that answers like a competent model.

What a solver leaves is evaluated as any patch is; equal patches once.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assay.agents.contract import Solution, SolutionStatus
from assay.agents.llm.proxy.server import Proxy
from assay.agents.llm.scripted import Scripted
from assay.agents.registry import make_agent
from assay.agents.trajectory import Trajectory
from assay.harness.domain import Instance, Prediction, Verdict
from assay.instances.dataset.load import load
from assay.jobs.evaluate import EvaluationRun
from assay.jobs.solve import SolverRun
from assay.jobs.solver_settings import SolveSettings
from assay.jobs.workbench import make_sources
from assay.jobs.workplace import Workplace
from solving.competent import answer
from solving.known import FLASK, KNOWN, SLAB

pytestmark = [pytest.mark.docker, pytest.mark.network, pytest.mark.xdist_group("solving")]

MODEL = "competent"
SOLVERS: dict[str, tuple[str, ...]] = {
    "bash_loop": ("form=block",),
    "agentless": ("location_sets=1", "samples=2", "regression=false", "reproduction_tests=0"),
    "agentless_mini": ("location_sets=2", "samples=2", "regression=false", "reproduction_tests=0"),
    "ast_search": (),
    "retrieval": (),
    "best_of": ("samples=2", "tests=0", "rankings=1"),
    "staged": ("width=1", "beam=1", "tests=1"),
    "tree_search": ("nodes=6", "expansions=2"),
    "graph_search": ("visits=6",),
}
"""Each with settings that keep it short."""
WITH_TESTS: dict[str, tuple[str, ...]] = {
    "agentless": ("location_sets=1", "samples=2", "reproduction_tests=1"),
    "agentless_mini": ("location_sets=1", "samples=2", "reproduction_tests=1"),
    "ast_search": ("spectrum=true",),
    "best_of": ("samples=2", "tests=1", "rankings=1"),
}
"""Those whose papers run tests, doing so."""

Solve = Callable[[str, tuple[str, ...], tuple[str, ...]], dict[str, Solution]]
Judge = Callable[[Solution], Verdict]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Proxy]:
    """A real endpoint of the OpenAI-compatible interface."""
    with Proxy(Scripted(answer), [MODEL]) as proxy, pytest.MonkeyPatch.context() as patched:
        patched.setenv("OPENAI_API_KEY", proxy.token)
        yield proxy


@pytest.fixture(scope="module")
def instances() -> dict[str, Instance]:
    ids = [known.id for known in KNOWN]
    return {each.id: each for each in load("releases", ids=ids, sources=make_sources()).instances}


@pytest.fixture(scope="module")
def solve(instances: dict[str, Instance], endpoint: Proxy, folder: Path) -> Solve:
    """Return a function that runs a solver on instances, once for each way to ask."""
    known: dict[tuple[str, tuple[str, ...], tuple[str, ...]], dict[str, Solution]] = {}

    def run(name: str, settings: tuple[str, ...], ids: tuple[str, ...]) -> dict[str, Solution]:
        asked = name, settings, ids
        if asked not in known:
            choice = SolveSettings(name, settings, MODEL, endpoint.base_url)
            solving = SolverRun(choice, f"{name}-{len(known)}", folder, Workplace(jobs=2))
            solutions = solving.solve([instances[each] for each in ids], *make_agent(name, settings))
            known[asked] = {each.instance_id: each for each in solutions}
        return known[asked]

    return run


@pytest.fixture(scope="module")
def judge(instances: dict[str, Instance], folder: Path) -> Judge:
    """Return a function that evaluates a patch in a container, once for each patch."""
    known: dict[tuple[str, str], Verdict] = {}

    def run(solution: Solution) -> Verdict:
        asked = solution.instance_id, solution.patch
        if asked not in known:
            run = EvaluationRun(f"evaluated-{len(known)}", folder)
            prediction = Prediction(instance_id=solution.instance_id, model=MODEL, patch=solution.patch)
            _, (known[asked],) = run.evaluate([(instances[solution.instance_id], prediction)], [solution.instance_id])
        return known[asked]

    return run


@pytest.mark.parametrize(
    ("solver", "instance_id"),
    [
        pytest.param(solver, known.id, marks=[pytest.mark.exhaustive] * (known is not FLASK))
        for solver in SOLVERS
        for known in KNOWN
    ],
)
def test_every_solver_finds_the_fix(solver: str, instance_id: str, solve: Solve, judge: Judge) -> None:
    solution = solve(solver, SOLVERS[solver], (instance_id,))[instance_id]
    assert solution.status is SolutionStatus.SUBMITTED, solution.error
    assert judge(solution).resolved
    assert solution.usage.calls > 0
    assert solution.junk == ()
    assert solution.suspect_access == ()


@pytest.mark.parametrize("solver", WITH_TESTS)
def test_solvers_that_run_tests_find_the_fix(solver: str, solve: Solve, judge: Judge) -> None:
    solution = solve(solver, WITH_TESTS[solver], (FLASK.id,))[FLASK.id]
    assert solution.status is SolutionStatus.SUBMITTED, solution.error
    assert judge(solution).resolved
    assert solution.junk == ()


def test_test_results_change_the_choice(solve: Solve, folder: Path) -> None:
    """Each stage that runs tests reports its results in the candidates or in the trajectory."""
    agentless = solve("agentless", WITH_TESTS["agentless"], (FLASK.id,))[FLASK.id]
    assert [(each.scores["regression_failed"], each.scores["reproduction"]) for each in agentless.candidates] == [
        (0.0, 1.0)
    ] * 2
    best_of = solve("best_of", WITH_TESTS["best_of"], (FLASK.id,))[FLASK.id]
    assert all(each.votes for each in best_of.candidates)
    solve("ast_search", WITH_TESTS["ast_search"], (FLASK.id,))
    found = _steps(folder, "ast_search", "suspect methods")
    assert "save_session" in found


def _steps(folder: Path, solver: str, words: str) -> str:
    """Return the steps of a solver's runs that have some words."""
    files = folder.glob(f"{solver}-*/instances/{FLASK.id}/0/trajectory.json")
    steps = [step for file in files for step in Trajectory.model_validate_json(file.read_text()).steps]
    return "\n".join(str(step.message) for step in steps if words in str(step.message))


def test_command_line_solves_and_evaluates(endpoint: Proxy, folder: Path, tmp_path: Path) -> None:
    """The prices are 1 USD for a million tokens of a prompt and 2 for those of an answer."""
    (tmp_path / "prices.yaml").write_text(f"models: {{{MODEL}: {{input: 1, output: 2}}}}")
    command = [sys.executable, "-m", "assay", "solve", "releases", "-i", SLAB.id, "--agent", "bash_loop"]
    asking = ["--model", MODEL, "--base-url", endpoint.base_url, "--prices", "prices.yaml"]
    keeping = ["--runs-dir", str(folder), "--run-id", "slab", "--evaluate", "--json"]
    done = subprocess.run(
        [*command, *asking, *keeping], capture_output=True, text=True, cwd=tmp_path, env=dict(os.environ), check=False
    )
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert shown["evaluations"][0]["resolved_ids"] == [SLAB.id]
    solution = shown["solutions"][0]
    assert json.loads((folder / "slab" / "preds.jsonl").read_text())["model_patch"] == solution["patch"]
    file = folder / "slab" / "instances" / SLAB.id / "0" / "trajectory.json"
    total = Trajectory.model_validate_json(file.read_text()).final_metrics
    assert total is not None
    assert total.total_prompt_tokens == solution["usage"]["prompt_tokens"] > 0
    cost = (solution["usage"]["prompt_tokens"] + 2 * solution["usage"]["completion_tokens"]) / 1e6
    assert solution["usage"]["cost"] == total.total_cost_usd == pytest.approx(cost)
