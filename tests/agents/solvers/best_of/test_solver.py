"""Best of several samples, end to end in a folder, with a scripted model."""

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from assay.agents.contract import (
    AgentTask,
    Candidate,
    Capabilities,
    InstallableAgent,
    Oracle,
    SolutionStatus,
    SolveOutcome,
    SolveSession,
)
from assay.agents.llm.chat import Message, Speaker
from assay.agents.llm.errors import BudgetExceeded
from assay.agents.roles import ROLES
from assay.agents.solvers.best_of.solver import BestOf
from assay.harness.domain import Model
from assay.harness.errors import PluginError, UserError
from solver_sessions import FIX, SHOP, WORSE, edit, stage

pytestmark = pytest.mark.slow

TEST = """<test>
import sys
from shop.prices import total
sys.exit(0 if total([1, 2]) == 3 else 2)
</test>"""
STRICT = """<test>
import sys
from shop.prices import total
sys.exit(0 if total([1, 2]) == 3 and total([5]) == 5 else 2)
</test>"""
BLIND = "<test>\nraise SystemExit(0)\n</test>"
DONE = "It is right. <done/>"
LONG_FIX = edit("shop/prices.py", "    return sum(prices[1:])", "    result = sum(prices)\n    return result")


@pytest.fixture(autouse=True)
def quick_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``python`` be the one that runs the tests, without whatever chooses one for each command."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


def solver(**settings: object) -> BestOf:
    return BestOf(BestOf.Settings.model_validate({"rankings": 0, **settings}))


def choice(number: object) -> str:
    return f"<chosen_candidate_fix_id>{number}</chosen_candidate_fix_id>"


def test_default_settings_find_the_fix(tmp_path: Path) -> None:
    """Two samples. Both tests pass the fix; the lenient one passes the wrong edit too: 2 votes against 1."""
    on = stage(
        tmp_path,
        [
            *("shop/prices.py\nshop/till.py", "1. `shop/prices.py`"),  # two rankings
            *(TEST, DONE, BLIND, STRICT, DONE),  # the first draft of the second test sees no fault
            *(WORSE, DONE),
            *("I need more code.", edit("shop/prices.py", "nothing", "else"), FIX, DONE),
            *("Let me see.\n" + STRICT, choice(0)),
        ],
    )
    outcome = solver(samples=2, rankings=2).solve(on.session)
    assert outcome.status is SolutionStatus.SUBMITTED
    assert outcome.patch == on.workspace.diff()
    assert "+    return sum(prices)" in on.workspace.diff()
    assert [each.votes for each in outcome.candidates] == [1, 2]
    matrix = outcome.extra["generated_tests"]
    assert matrix["test_outputs_per_edit"] == [[0, 2], [0, 0]]
    assert matrix["unedited"] == [2, 2]
    assert outcome.extra["selection"] == {"finalists": ["sample 1", "sample 0"], "choice": "0"}
    assert on.purposes() == ["rank files"] * 2 + ["test"] * 5 + ["edit"] * 6 + ["select"] * 2


def heard(messages: tuple[Message, ...]) -> list[str]:
    return [str(each.content) for each in messages if each.role is Speaker.USER]


def test_prompts_of_each_machine(tmp_path: Path) -> None:
    on = stage(tmp_path, [BLIND, TEST, DONE, FIX, DONE])
    solver(samples=1).solve(on.session)
    testing = heard(on.asked[2].messages)
    assert "total() forgets the first price" in testing[0]
    assert "### shop/prices.py\ndef total(prices):" in testing[0]
    assert "test_prices.py" not in testing[0]
    assert "exit status 0" in testing[1]
    assert "should end with status 2" in testing[1]
    assert "exit status 2" in testing[2]
    editing = heard(on.asked[4].messages)
    assert "total([1, 2]) == 3" in editing[0]
    assert "On the original code it came to exit status 2" in editing[0]
    assert "shop/prices.py: applied at line 2 (exact)" in editing[1]
    assert "On the changed code it came to exit status 0" in editing[1]


def test_selection_machine_may_overrule_the_votes(tmp_path: Path) -> None:
    on = stage(tmp_path, [TEST, DONE, STRICT, DONE, WORSE, DONE, FIX, DONE, choice(1)])
    outcome = solver(samples=2).solve(on.session)
    assert [each.votes for each in outcome.candidates] == [1, 2]
    assert "+    return 3" in on.workspace.diff()


def test_equal_votes_rank_the_shorter_patch_first(tmp_path: Path) -> None:
    on = stage(tmp_path, [TEST, DONE, STRICT, DONE, LONG_FIX, DONE, FIX, DONE])
    outcome = solver(samples=2, selector="vote").solve(on.session)
    assert [each.votes for each in outcome.candidates] == [2, 2]
    assert "+    return sum(prices)" in on.workspace.diff()


def test_identical_edits_need_no_selection(tmp_path: Path) -> None:
    on = stage(tmp_path, [TEST, DONE, STRICT, DONE, FIX, DONE, FIX, DONE])
    outcome = solver(samples=2).solve(on.session)
    assert outcome.status is SolutionStatus.SUBMITTED
    assert "selection" not in outcome.extra


def test_fewer_tests_are_shared_and_further_tests_vote(tmp_path: Path) -> None:
    on = stage(tmp_path / "fewer", [TEST, DONE, FIX, DONE, WORSE, DONE])
    outcome = solver(samples=2, tests=1, selector="vote").solve(on.session)
    assert outcome.extra["generated_tests"]["test_outputs_per_edit"] == [[0, 0], [0, 0]]
    on = stage(tmp_path / "more", [TEST, DONE, STRICT, DONE, WORSE, DONE])
    outcome = solver(samples=1, tests=2, selector="vote").solve(on.session)
    assert outcome.extra["generated_tests"]["test_outputs_per_edit"] == [[0, 2]]


def test_edit_without_any_test_is_a_candidate(tmp_path: Path) -> None:
    on = stage(tmp_path, [FIX, DONE])
    outcome = solver(samples=1, tests=0).solve(on.session)
    assert "+    return sum(prices)" in (outcome.patch or "")
    assert [each.votes for each in outcome.candidates] == [1]


def test_tests_of_other_languages_are_shell_scripts(tmp_path: Path) -> None:
    files = {"sum.c": "int sum(int a, int b) {\n    return a - b;\n}\n"}
    test = "<test>\ngrep -q 'a + b' sum.c && exit 0\nexit 2\n</test>"
    on = stage(
        tmp_path, [test, DONE, edit("sum.c", "    return a - b;", "    return a + b;"), DONE], files=files, language="c"
    )
    outcome = solver(samples=1).solve(on.session)
    assert [each.votes for each in outcome.candidates] == [1]
    assert "+    return a + b;" in on.workspace.diff()
    assert "Bash scripts" in str(on.asked[0].messages[0].content)


def test_repository_tests_select(tmp_path: Path) -> None:
    """The first edit breaks the one test of the repository, the second none."""
    breaking = edit("shop/prices.py", "    return min(prices)", "    return 0")
    on = stage(tmp_path, [breaking, DONE, LONG_FIX, DONE])
    outcome = solver(samples=2, tests=0, selector="tests").solve(on.session)
    assert [each.scores["regression_failed"] for each in outcome.candidates] == [1, 0]
    assert "+    result = sum(prices)" in on.workspace.diff()


def test_reward_model_selects(tmp_path: Path) -> None:
    on = stage(tmp_path, [WORSE, DONE, LONG_FIX, DONE, "No. <value>20</value>", "Yes. <value>80.5</value>"])
    outcome = solver(samples=2, tests=0, selector="score").solve(on.session)
    assert [each.scores["score"] for each in outcome.candidates] == [20, 80.5]
    assert "+    result = sum(prices)" in on.workspace.diff()


class Longest:
    """A scorer of one's own."""

    def __init__(self, talk: object) -> None:
        pass

    def score(self, task: AgentTask, candidate: Candidate) -> float:
        return len(candidate.patch)


def test_custom_scorer_selects(tmp_path: Path) -> None:
    on = stage(tmp_path, [FIX, DONE, LONG_FIX, DONE])
    solver(samples=2, tests=0, selector="score", scorer=f"{__name__}:Longest").solve(on.session)
    assert "+    result = sum(prices)" in on.workspace.diff()


def test_unknown_scorer_is_an_error(tmp_path: Path) -> None:
    on = stage(tmp_path, [FIX, DONE])
    with pytest.raises(PluginError, match="reward_model"):
        solver(samples=1, tests=0, selector="score", scorer="oracle").solve(on.session)
    assert "+    return sum(prices)" in on.workspace.diff()  # what was sampled is not lost


class Seeded:
    """An inner solver that asks its model for an edit and notes its seed."""

    class Settings(Model):
        suffix: str = ""

    name = "seeded"
    version = "1"
    capabilities = Capabilities(oracle=frozenset({Oracle.HINTS}))

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def solve(self, session: SolveSession) -> SolveOutcome:
        said = session.model.ask([Message(role=Speaker.USER, content="body of total")], purpose="inner").content
        text = (session.workspace.read("shop/prices.py") or b"").decode()
        body = said + self.settings.suffix
        session.workspace.write("shop/prices.py", text.replace("return sum(prices[1:])", body).encode())
        if said == "stop":
            return SolveOutcome(status=SolutionStatus.LIMIT_STEPS)
        session.workspace.exec(f"echo {session.seed} > seed.txt")
        session.workspace.exec("rm seed.txt" if said.startswith("return") else "true")
        return SolveOutcome()


INNER = f"{__name__}:Seeded"


def test_inner_solver_is_sampled_and_equal_patches_vote(tmp_path: Path) -> None:
    """Three samples: a fix, something else, the fix again with a comment. Two equal ones are the majority."""
    lines = ["return sum(prices)", "return 3", "return sum(prices)  # all"]
    on = stage(tmp_path, lines)
    outcome = solver(inner=INNER, samples=3, selector="vote").solve(on.session)
    assert [each.votes for each in outcome.candidates] == [2, 1, 2]
    assert on.purposes() == ["inner"] * 3
    assert outcome.patch == on.workspace.diff()
    assert "+    return sum(prices)\n" in on.workspace.diff()


def test_inner_samples_are_isolated_and_have_their_own_seeds(tmp_path: Path) -> None:
    on = stage(tmp_path, ["pass", "pass"])
    outcome = solver(inner=INNER, samples=2, selector="vote").solve(on.session)
    assert [each.patch.count("+0\n") for each in outcome.candidates] == [1, 0]
    assert [each.patch.count("+1\n") for each in outcome.candidates] == [0, 1]


def test_generated_tests_vote_on_inner_samples(tmp_path: Path) -> None:
    lines = ["return 3", "return sum(prices)", STRICT, DONE]
    on = stage(tmp_path, lines)
    outcome = solver(inner=INNER, samples=2, tests=1, selector="vote").solve(on.session)
    assert [each.votes for each in outcome.candidates] == [0, 1]
    assert "+    return sum(prices)" in on.workspace.diff()


def test_inner_settings_reach_the_inner_solver(tmp_path: Path) -> None:
    on = stage(tmp_path, ["return sum(prices)"])
    solver(inner=INNER, inner_settings={"suffix": "  # x"}, samples=1).solve(on.session)
    assert "+    return sum(prices)  # x" in on.workspace.diff()
    with pytest.raises(UserError, match="suffix"):
        solver(inner=INNER, inner_settings={"prefix": 1})
    with pytest.raises(PluginError, match="nobody"):
        solver(inner="nobody")


def test_capabilities_are_those_of_the_inner_solver() -> None:
    assert solver(inner=INNER).capabilities.oracle == {Oracle.HINTS}
    assert solver().capabilities == Capabilities(roles=ROLES["best_of"])
    assert set(solver(inner="retrieval").capabilities.roles) == {*ROLES["best_of"], *ROLES["retrieval"]}


def test_unfinished_inner_sample_has_its_status_as_reason(tmp_path: Path) -> None:
    on = stage(tmp_path, ["stop"])
    outcome = solver(inner=INNER, samples=1).solve(on.session)
    assert [each.reason for each in outcome.candidates] == ["limit_steps"]
    assert "+    stop" in on.workspace.diff()


def test_best_sample_is_left_after_a_limit(tmp_path: Path) -> None:
    said = iter(["return sum(prices)", "x", "return sum(prices)  # all"])

    def answer(_: object) -> str:
        try:
            return next(said)
        except StopIteration:
            raise BudgetExceeded("no call is left", limit="calls") from None

    on = stage(tmp_path, answer)
    with pytest.raises(BudgetExceeded):
        solver(inner=INNER, samples=4).solve(on.session)
    assert "+    return sum(prices)\n" in on.workspace.diff()


class Installed:
    """Is installed on the host and mounted into its container."""

    class Settings(Model):
        pass

    name, version, capabilities = "installed", "1", Capabilities(needs_model=False)

    def __init__(self, settings: Settings) -> None:
        self.prepared: list[object] = []

    def solve(self, session: SolveSession) -> SolveOutcome:
        assert session.logs is not None
        session.logs.mkdir(parents=True)
        (session.logs / "output.txt").write_text("seen")
        session.workspace.write("shop/prices.py", b"total = sum\n")
        return SolveOutcome()

    def prepare(self, host: object) -> None:
        self.prepared.append(host)

    def mounts(self, scratch: Path) -> Mapping[str, str]:
        return {str(scratch): "/run/tool"}


def test_an_inner_solver_is_installed_and_mounted_and_keeps_the_files_of_each_sample(tmp_path: Path) -> None:
    wrapped = solver(inner=f"{__name__}:Installed", samples=2, selector="vote")
    assert isinstance(wrapped, InstallableAgent)
    assert wrapped.mounts(tmp_path) == {str(tmp_path): "/run/tool"}
    on = stage(tmp_path, [])
    outcome = wrapped.solve(replace(on.session, logs=tmp_path / "logs"))
    assert [each.votes for each in outcome.candidates] == [2, 2]
    assert sorted(path.name for path in (tmp_path / "logs").iterdir()) == ["sample-0", "sample-1"]
    assert not isinstance(solver(), InstallableAgent)


def test_files_beyond_the_context_are_left_out(tmp_path: Path) -> None:
    on = stage(tmp_path, [FIX, DONE], files=SHOP)
    solver(samples=1, tests=0, context=200).solve(on.session)
    prompt = heard(on.asked[0].messages)[0]
    assert "### shop/prices.py" in prompt
    assert "### shop/till.py" not in prompt
