"""The tree search from the issue to the patch, with a scripted model."""

from pathlib import Path

import pytest

from assay.agents.contract import Budget, SolutionStatus
from assay.agents.llm.chat import Answer, ChatModel, Request, TokenUsage
from assay.agents.llm.errors import BudgetExceeded, ContextTooLong, RequestRefused
from assay.agents.solvers.tree_search.solver import TreeSearch
from solver_sessions import FIX, WORSE, Forgetful, edit, stage

pytestmark = pytest.mark.slow

SEARCH = '<search>search_method("total")</search>'
EDIT, WORSE_EDIT = f"<edit>\n{FIX}\n</edit>", f"<edit>\n{WORSE}\n</edit>"
TEST = "<test>tests/test_prices.py</test>"
FINISH = "<finish>it adds all prices</finish>"


def value(number: float) -> str:
    return f"Fair. <value>{number}</value>"


def solver(**settings: object) -> TreeSearch:
    given = {"discriminator": "mean_reward", **settings}
    return TreeSearch(TreeSearch.Settings.model_validate(given))


def test_first_path_leads_to_the_fix(tmp_path: Path) -> None:
    wrong = edit("shop/prices.py", "    return sum(items)", "    return 0")
    on = stage(
        tmp_path,
        [
            *(SEARCH, "Look. <view>shop/prices.py</view>", f"<edit>\n{wrong}\n</edit>"),
            *(EDIT, value(60), TEST, FINISH, value(95)),
        ],
    )
    outcome = solver(solutions=1).solve(on.session)
    assert outcome.status is SolutionStatus.SUBMITTED
    assert "+    return sum(prices)" in on.workspace.diff()
    assert [each.patch for each in outcome.candidates] == [on.workspace.diff()]
    assert [name for name, _ in on.actions()] == ["search", "view", "edit", "edit", "test", "finish"]
    assert on.actions()[2][1].startswith("Nothing was changed.")
    assert on.actions()[4][1] == "1 passed, 0 failed."
    # only what no rule can judge is put to the model
    assert on.purposes() == ["act", "act", "act", "act", "judge", "act", "act", "judge"]
    assert outcome.extra == {"ended": "there are enough solutions"}


def test_model_sees_the_observations_of_its_actions(tmp_path: Path) -> None:
    on = stage(tmp_path, [SEARCH, EDIT, value(60), FINISH, value(95)])
    solver(solutions=1).solve(on.session)
    heard = [str(message.content) for message in on.asked[1].messages]
    assert "return sum(prices[1:])" in heard[-1]
    assert heard[-2] == SEARCH
    judged = str(on.asked[2].messages[-1].content)
    assert "total() forgets the first price" in judged
    assert "+    return sum(prices)" in judged


def test_second_try_starts_from_the_same_state_with_feedback(tmp_path: Path) -> None:
    """The first way is a poor edit (-20) and a poor finish (-40); then the scores decide.

    Values are added upwards: root 2 visits, edit 2 visits. The root has no reward and one child: 0 + sqrt(ln 1 / 2).
    The edit: -20 + sqrt(ln 2 / 2) - 0.8 = -20.2. So the root is tried again, in the state of the base.
    """
    on = stage(
        tmp_path,
        [
            *(WORSE_EDIT, value(-20), FINISH, value(-40)),
            *("Return what the issue asks for, for all prices.", EDIT, value(80), FINISH, value(90)),
        ],
    )
    outcome = solver(solutions=2).solve(on.session)
    assert on.purposes() == ["act", "judge", "act", "judge", "feedback", "act", "judge", "act", "judge"]
    asked_again = str(on.asked[5].messages[-1].content)
    assert "Return what the issue asks for, for all prices." in asked_again
    feedback_on = str(on.asked[4].messages[-1].content)
    assert "(-20) edit" in feedback_on
    assert "judged: Fair." in feedback_on
    assert "return sum(prices)" in on.workspace.diff()
    assert len(outcome.candidates) == 2
    assert max(outcome.candidates, key=lambda each: each.scores["mean_reward"]).patch == on.workspace.diff()


def test_what_the_judge_said_reaches_the_next_step(tmp_path: Path) -> None:
    on = stage(tmp_path, [EDIT, "Other callers? <value>60</value>", FINISH, value(95)])
    solver(solutions=1).solve(on.session)
    assert str(on.asked[2].messages[-1].content).endswith("A judge said of your last step (60 of 100): Other callers?")


def test_each_kind_of_step_is_judged_for_what_it_is_worth(tmp_path: Path) -> None:
    on = stage(tmp_path, [SEARCH, value(20), EDIT, value(60), TEST, value(70), FINISH, value(95)])
    solver(solutions=1, value="model").solve(on.session)
    asked = [str(each.messages[-1].content) for each in on.asked[1::2]]
    wanted = ("A search is worth", "An edit is worth", "A test run is worth", "A finish is worth")
    assert [word for text in asked for word in wanted if word in text] == list(wanted)


def test_solutions_are_debated_by_default() -> None:
    assert TreeSearch.Settings().discriminator == "debate"


def test_feedback_can_be_turned_off(tmp_path: Path) -> None:
    on = stage(tmp_path, [WORSE_EDIT, value(-20), FINISH, value(-40), EDIT, value(80), FINISH, value(90)])
    solver(solutions=2, feedback=False).solve(on.session)
    assert "feedback" not in on.purposes()
    assert "return sum(prices)" in on.workspace.diff()


def test_discriminator_setting_chooses_the_result(tmp_path: Path) -> None:
    """Way 1: edit -10, finish 70. Way 2: edit -90, finish 75; in between, way 1 tries to finish again, in vain.

    The root has value -10 + 70 - 90 + 75 = 45 by 4 visits, 11.25. The means along the trajectories are
    (11.25 + 60 / 2 + 70) / 3 = 37.08 and (11.25 - 15 / 2 + 75) / 3 = 26.25; the best reward is that of way 2.
    """
    lines = [EDIT, value(-10), FINISH, value(70), WORSE_EDIT, value(-90), FINISH, FINISH, value(75)]
    for discriminator, expected in (("mean_reward", "return sum(prices)"), ("best_reward", "return 3")):
        on = stage(tmp_path / discriminator, list(lines))
        outcome = solver(solutions=2, feedback=False, discriminator=discriminator, expansions=2).solve(on.session)
        assert outcome.status is SolutionStatus.SUBMITTED
        assert f"+    {expected}" in on.workspace.diff()
        assert [round(each.scores["mean_reward"], 2) for each in outcome.candidates] == [37.08, 26.25]


def test_debate_chooses_the_result(tmp_path: Path) -> None:
    """The mean reward prefers the first solution; the judge names the second."""
    ways = [EDIT, value(-10), FINISH, value(70), WORSE_EDIT, value(-90), FINISH, FINISH, value(75)]
    words = ["Number 0. <solution>0</solution>", "Rather 1. <solution>1</solution>"]
    for judged, expected in (("<solution>1</solution>", "return 3"), ("I cannot say.", "return sum(prices)")):
        on = stage(tmp_path / expected[:8], [*ways, *words, judged])
        settings = {"discriminator": "debate", "debaters": 2, "rounds": 1}
        solver(solutions=2, feedback=False, expansions=2, **settings).solve(on.session)
        assert f"+    {expected}" in on.workspace.diff()
        assert on.purposes()[-3:] == ["debate", "debate", "decide"]
        assert "Debater 1: Number 0." in str(on.asked[-2].messages[-1].content)


def test_repeated_action_is_not_run_again(tmp_path: Path) -> None:
    on = stage(tmp_path, [EDIT, value(-20), FINISH, value(-40), EDIT, SEARCH])
    solver(nodes=5, feedback=False).solve(on.session)
    assert [heard for name, heard in on.actions() if name == "edit"][1] == "This was tried before."
    assert on.purposes() == ["act", "judge", "act", "judge", "act", "act"]


def test_malformed_answers_end_a_path(tmp_path: Path) -> None:
    on = stage(tmp_path, lambda _: "I would look at the code.")
    outcome = solver(nodes=4, expansions=1).solve(on.session)
    assert outcome.status is SolutionStatus.EMPTY
    assert outcome.extra == {"ended": "no node can be expanded"}
    assert len(on.asked) == 3
    assert [name for name, _ in on.actions()] == ["none"]


def test_budget_of_steps_limits_the_tree_and_keeps_the_change(tmp_path: Path) -> None:
    on = stage(tmp_path, [EDIT, value(60), SEARCH], budget=Budget(steps=2))
    outcome = solver().solve(on.session)
    assert outcome.status is SolutionStatus.LIMIT_STEPS
    assert "return sum(prices)" in on.workspace.diff()


def test_own_limit_of_cost_ends_with_the_best_state(tmp_path: Path) -> None:
    dear = [Answer(content=line, usage=TokenUsage(cost=0.4)) for line in (EDIT, value(60), SEARCH)]
    on = stage(tmp_path, dear)
    outcome = solver(cost=1.0).solve(on.session)
    assert outcome.status is SolutionStatus.LIMIT_COST
    assert outcome.extra == {"ended": "it has cost enough"}
    assert "return sum(prices)" in on.workspace.diff()


def test_best_state_is_left_after_the_run_s_limit(tmp_path: Path) -> None:
    class Short:
        def __init__(self, model: ChatModel) -> None:
            self.model, self.left = model, 6

        def complete(self, request: Request) -> Answer:
            self.left -= 1
            if self.left < 0:
                raise BudgetExceeded("no call is left", limit="calls")
            return self.model.complete(request)

    on = stage(tmp_path, [EDIT, value(80), FINISH, value(-10), WORSE_EDIT, value(-90)], around=Short)
    with pytest.raises(BudgetExceeded):
        solver(feedback=False).solve(on.session)
    assert "return sum(prices)" in on.workspace.diff()


def test_path_beyond_the_context_is_abandoned(tmp_path: Path) -> None:
    # an edit, a search below it, and nothing can follow that; the scores then lead back to the edit
    on = stage(tmp_path, [EDIT, value(60), SEARCH, FINISH, value(90)], around=lambda model: Forgetful(model, 4))
    outcome = solver(expansions=2, solutions=1, feedback=False).solve(on.session)
    assert [name for name, _ in on.actions()] == ["edit", "search", "none", "none", "finish"]
    assert on.actions()[2][1] == "The way here is longer than the model can read."
    assert outcome.status is SolutionStatus.SUBMITTED


def test_issue_beyond_the_context_raises(tmp_path: Path) -> None:
    with pytest.raises(ContextTooLong):
        solver().solve(stage(tmp_path, [], around=lambda model: Forgetful(model, 0)).session)


def test_model_error_passes_through(tmp_path: Path) -> None:
    with pytest.raises(RequestRefused):
        solver().solve(stage(tmp_path, []).session)


def test_softmax_uses_the_session_s_seed(tmp_path: Path) -> None:
    lines = [EDIT, value(1), FINISH, value(1), *[SEARCH] * 2, WORSE_EDIT, value(2), *[SEARCH] * 9]
    diffs = []
    for again in range(2):
        on = stage(tmp_path / str(again), list(lines))
        solver(nodes=7, selector="softmax", feedback=False).solve(on.session)
        diffs.append((on.actions(), on.workspace.diff()))
    assert diffs[0] == diffs[1]
