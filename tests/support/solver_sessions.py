"""Sessions for tests of solvers: a checkout in a folder, a scripted model, and a trajectory in memory."""

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.agents.contract import AgentTask, Budget, SolveSession
from assay.agents.llm.budget import BudgetLimits
from assay.agents.llm.chat import Answer, ChatModel, Request
from assay.agents.llm.errors import ContextTooLong
from assay.agents.llm.scripted import Scripted
from assay.agents.sampling.recorded_model import ModelDefaults, RecordedModel
from assay.agents.sampling.workspaces.folder import FolderWorkspace, folder_workspace
from assay.agents.trajectory import AgentInfo, Step, TrajectoryRecorder
from assay.harness.domain import Status

SHOP = {
    "shop/__init__.py": "",
    "shop/prices.py": (
        "def total(prices):\n    return sum(prices[1:])\n\n\ndef cheapest(prices):\n    return min(prices)\n"
    ),
    "shop/till.py": (
        "from shop.prices import total\n\n\nclass Till:\n    def __init__(self):\n        self.prices = []\n\n"
        "    def close(self):\n        return total(self.prices)\n"
    ),
    "tests/__init__.py": "",
    "tests/test_prices.py": (
        "import unittest\n\nfrom shop.prices import cheapest\n\n\nclass Prices(unittest.TestCase):\n"
        "    def test_cheapest(self):\n        self.assertEqual(cheapest([3, 2]), 2)\n"
    ),
}
STATEMENT = "total() forgets the first price: total([1, 2]) gives 2 and should give 3."
_RESULT = re.compile(r"^(?P<name>\w+) \(.*?\) \.\.\. (?P<word>ok|FAIL|ERROR)$", re.MULTILINE)
_WORDS = {"ok": Status.PASSED, "FAIL": Status.FAILED, "ERROR": Status.ERROR}


def run_unittests(workspace: FolderWorkspace, files: Sequence[str], extra: Mapping[str, bytes]) -> dict[str, Status]:
    """Run test modules, or all there are, and read what the runner prints."""
    modules = " ".join(path.removesuffix(".py").replace("/", ".") for path in files) or "discover"
    output = workspace.exec(f"{sys.executable} -m unittest {modules} -v").output
    return {each["name"]: _WORDS[each["word"]] for each in _RESULT.finditer(output)}


@dataclass
class Stage:
    """A session and what its model was asked."""

    session: SolveSession
    asked: list[Request]
    recorder: TrajectoryRecorder

    @property
    def workspace(self) -> FolderWorkspace:
        assert isinstance(self.session.workspace, FolderWorkspace)
        return self.session.workspace

    def actions(self) -> list[tuple[str, str]]:
        """The actions that were recorded: name and what came of it."""
        trajectory = self.recorder.trajectory()
        steps: tuple[Step, ...] = trajectory.steps if trajectory else ()
        return [
            (step.tool_calls[0].function_name, str(step.observation.results[0].content))
            for step in steps
            if step.tool_calls and step.observation
        ]

    def purposes(self) -> list[str]:
        """What the model was asked for, in order."""
        trajectory = self.recorder.trajectory()
        return [
            str(step.extra["purpose"])
            for step in (trajectory.steps if trajectory else ())
            if step.llm_call_count and step.extra
        ]


def stage(
    folder: Path,
    lines: Iterable[str | Answer] | Callable[[Request], str | Answer],
    *,
    files: Mapping[str, str] = SHOP,
    language: str = "python",
    budget: Budget | None = None,
    around: Callable[[ChatModel], ChatModel] = lambda model: model,
) -> Stage:
    """Set a session up: the model plays its lines in order, or is a function of what it is asked."""
    asked: list[Request] = []
    model = around(Scripted(lines))

    class Listening:
        def complete(self, request: Request) -> Answer:
            asked.append(request)
            return model.complete(request)

    recorder = TrajectoryRecorder(None, AgentInfo(name="test", version="1"))
    session = SolveSession(
        AgentTask(repo="town/shop", language=language, problem_statement=STATEMENT, root=str(folder / "repo")),
        folder_workspace(folder / "repo", files, run_tests=run_unittests),
        RecordedModel(Listening(), recorder, ModelDefaults(model="scripted")),
        recorder,
        budget or Budget(llm=BudgetLimits()),
    )
    return Stage(session, asked, recorder)


class Forgetful:
    """A model that can read so many messages."""

    def __init__(self, model: ChatModel, most: int) -> None:
        self.model, self.most = model, most

    def complete(self, request: Request) -> Answer:
        if len(request.messages) > self.most:
            raise ContextTooLong("too many tokens")
        return self.model.complete(request)


def edit(path: str, search: str, replace: str) -> str:
    """Write a search-and-replace edit as models do."""
    return f"### {path}\n<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE"


FIX = edit("shop/prices.py", "    return sum(prices[1:])", "    return sum(prices)")
WORSE = edit("shop/prices.py", "    return sum(prices[1:])", "    return 3")
