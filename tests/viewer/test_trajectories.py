"""Trajectories and samples of a solver's run, from files that its own store wrote."""

import time
from pathlib import Path

import pytest

from assay.agents.contract import SolutionStatus
from assay.agents.trajectory import (
    AgentInfo,
    ContentPart,
    MediaSource,
    Metrics,
    Observation,
    ObservationResult,
    RecordedToolCall,
    Step,
    Trajectory,
    join_parts,
)
from assay.harness.runs.store import RunStore
from assay.viewer import trajectories
from assay.viewer.pages import Pages
from assay.viewer.runs import Viewer
from assay.viewer.solved import add_solvers, find_solver, load_sample
from assay.viewer.trajectories import (
    BUDGET,
    ShownStep,
    TrajectoryView,
    fair_length,
    pages,
    view,
    write_argument,
)
from markup import HOSTILE, PLAIN, structure, text
from solved_run import ID, MakeRun
from toy import GOLD

KEYS = {"run": "acme", "instance": ID, "sample": "0"}


def shown(viewer: Viewer) -> TrajectoryView:
    found = view(viewer, KEYS)
    assert found is not None
    return found


def steps_of(found: TrajectoryView) -> list[ShownStep]:
    return [step for turn in found.turns for step in turn.steps]


def replace_trajectory(store: RunStore, found: Trajectory) -> None:
    (store.root / "instances" / ID / "0" / "trajectory.json").write_text(found.model_dump_json(exclude_none=True))


def test_step_has_its_action_results_tokens_and_cost(solved: MakeRun) -> None:
    found = shown(Viewer([solved()]))
    user, agent = steps_of(found)
    assert (user.number, user.source, user.metrics, user.spent) == (1, "user", None, 0.0)
    assert (agent.number, agent.purpose, agent.spent) == (2, "word", 0.25)
    assert agent.seconds is not None
    assert agent.reasoning is not None
    (action,) = agent.actions
    assert [(name, each.head) for name, each in action.arguments] == [("word", "word"), ("list", '[\n "word",\n 2\n]')]
    assert [each.head for each in action.results] == ["word", "[image word]"]
    assert [each.head for each in agent.observations] == ["word"], "a result of no action of the step is shown apart"
    assert found.tools == (("word", 1),)
    assert found.sample is not None
    assert found.sample.status is SolutionStatus.SUBMITTED
    assert [picture.name for picture in found.pictures] == ["tokens"]


def test_unknown_price_makes_the_sum_unknown_from_there_on(solved: MakeRun) -> None:
    store = solved()
    priced, unpriced = Metrics(cost_usd=1.0), Metrics(prompt_tokens=1)
    found = [Step(source="agent", message="x", metrics=each) for each in (priced, unpriced, priced)]
    unasked = Step(source="agent", message="x", metrics=Metrics(), llm_call_count=0)
    replace_trajectory(store, Trajectory(agent=AgentInfo(name="a", version="1"), steps=(unasked, *found)))
    view_ = shown(Viewer([store]))
    assert [step.spent for step in steps_of(view_)] == [0.0, 1.0, None, None]
    assert view_.totals is not None
    assert (view_.totals.total_prompt_tokens, view_.totals.total_cost_usd) == (1, None), (
        "an unfinished file has no sums"
    )


def test_steps_of_a_foreign_record_are_numbered_anew(solved: MakeRun) -> None:
    store = solved()
    same = Step(step_id=1, source="agent", message="x", timestamp="yesterday")
    replace_trajectory(store, Trajectory(agent=AgentInfo(name="a", version="1"), steps=(same, same)))
    assert [(step.number, step.seconds) for step in steps_of(shown(Viewer([store])))] == [(1, None), (2, None)]


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"agent": {"name": "a", "version": "1"}, "steps": []}', "\ufeff{}"]
)
def test_file_that_is_no_trajectory_is_named(content: str, solved: MakeRun) -> None:
    store = solved()
    (store.root / "instances" / ID / "0" / "trajectory.json").write_text(content)
    viewer = Viewer([store])
    assert shown(viewer).problem.startswith("trajectory.json is no ATIF")
    html = Pages(viewer).find_html(f"acme/trajectories/{ID}/0.html") or ""
    assert "trajectory.json is no ATIF" in text(html)


@pytest.mark.parametrize(
    "change",
    [{"instance": ".."}, {"instance": "nobody"}, {"sample": "1"}, {"sample": "x"}, {"sample": "..", "run": "nobody"}],
)
def test_trajectory_that_is_not_there_has_no_page(change: dict[str, str], solved: MakeRun) -> None:
    assert view(Viewer([solved()]), KEYS | change) is None


def test_sample_without_steps_has_a_page_that_says_so(solved: MakeRun) -> None:
    store = solved()
    (store.root / "instances" / ID / "0" / "trajectory.json").unlink()
    viewer = Viewer([store])
    assert [*pages(viewer)] == [KEYS]
    html = Pages(viewer).find_html(f"acme/trajectories/{ID}/0.html") or ""
    assert "This solver recorded no steps." in text(html)
    assert "submitted" in text(html)
    assert "raw" not in html


def test_trajectory_that_is_too_large_for_a_page_is_linked(solved: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trajectories, "LARGEST", 100)
    found = shown(Viewer([solved()]))
    assert found.problem == "The trajectory is too large for a page"
    assert found.raw.endswith("0/trajectory.json.txt")


def test_cost_that_is_no_number_is_unknown(solved: MakeRun) -> None:
    store = solved()
    path = store.root / "instances" / ID / "0" / "trajectory.json"
    path.write_text(path.read_text().replace('"cost_usd":0.25', '"cost_usd":NaN'))
    viewer = Viewer([store])
    assert len(steps_of(shown(viewer))) == 2
    assert "nan" not in text(Pages(viewer).find_html(f"acme/trajectories/{ID}/0.html") or "").lower()


def test_link_in_place_of_a_trajectory_is_not_followed(solved: MakeRun, tmp_path: Path) -> None:
    store = solved()
    path = store.root / "instances" / ID / "0" / "trajectory.json"
    path.rename(tmp_path / "elsewhere.json")
    path.symlink_to(tmp_path / "elsewhere.json")
    assert steps_of(shown(Viewer([store]))) == []


def test_short_texts_stay_whole_and_long_ones_share_the_rest() -> None:
    assert fair_length([10, 10], 100) == 100
    assert fair_length([10, 1000, 1000], 110) == 50
    assert fair_length([], 7) == 7


def test_large_trajectory_makes_a_small_page_soon(solved: MakeRun) -> None:
    store = solved()
    long = "a line of output\n" * 600
    call = RecordedToolCall(tool_call_id="1", function_name="bash", arguments={"command": "ls"})
    result = Observation(results=(ObservationResult(source_call_id="1", content=long),))
    many = tuple(Step(source="agent", message="look", tool_calls=(call,), observation=result) for _ in range(2000))
    replace_trajectory(store, Trajectory(agent=AgentInfo(name="a", version="1"), steps=many))
    assert (store.root / "instances" / ID / "0" / "trajectory.json").stat().st_size > 20_000_000
    viewer = Viewer([store])
    began = time.process_time()
    html = Pages(viewer).find_html(f"acme/trajectories/{ID}/0.html") or ""
    assert time.process_time() - began < 20
    assert len(html) < 3 * BUDGET
    found = shown(viewer)
    assert found.is_cut
    (cut,) = steps_of(found)[0].actions[0].results
    assert cut.is_long
    assert len(cut.head) + len(cut.tail) + cut.left_out == len(long)
    assert long.endswith(cut.tail)


def test_message_in_parts_names_pictures_and_loads_none() -> None:
    picture = ContentPart(type="image", source=MediaSource(media_type="image/png", path="http://there/x.png"))
    assert join_parts((ContentPart(type="text", text="see"), picture)) == "see\n[image http://there/x.png]"
    assert join_parts(None) == ""
    assert write_argument({"a": "ß"}) == '{\n "a": "ß"\n}'


def test_evaluated_run_brings_its_solver_with_it(solved: MakeRun, make_run: MakeRun) -> None:
    solver, judged = solved("acme", cost=0.5), make_run("acme.evaluated")
    make_run("nobody.evaluated")
    stores = add_solvers([judged])
    assert [store.root.name for store in stores] == ["acme.evaluated", "acme"]
    assert add_solvers([solver]) == [solver]
    viewer = Viewer(stores)
    assert find_solver(viewer, viewer.runs["acme"]) is None
    alone = Viewer([judged])
    assert find_solver(alone, alone.runs["acme.evaluated"]) is None
    (found,) = shown(viewer).judged
    assert (found.judgement.run.name, found.judgement.verdict.outcome, found.is_same) == (
        "acme.evaluated",
        "resolved",
        False,
    )


def test_judged_patch_is_the_one_of_the_sample(solved: MakeRun, make_run: MakeRun) -> None:
    judged = make_run("acme.evaluated")
    patch = (judged.root / "instances" / ID / "patch.diff").read_text().rstrip("\n")
    (found,) = shown(Viewer([solved(patch=patch), judged])).judged
    assert found.is_same


def test_solution_that_cannot_be_read_leaves_the_trajectory(solved: MakeRun) -> None:
    store = solved()
    (store.root / "instances" / ID / "0" / "solution.json").write_text("{")
    viewer = Viewer([store])
    assert load_sample(viewer.runs["acme"], ID, "0") is None
    assert len(steps_of(shown(viewer))) == 2


def test_row_of_a_solvers_table_leads_to_its_trajectory(solved: MakeRun) -> None:
    viewer = Viewer([solved()])
    html = Pages(viewer).find_html("acme/instances.html") or ""
    assert '"page":"trajectories/ID/0.html"' in html
    assert Pages(viewer).find_html(f"acme/trajectories/{ID}/0.html")


def test_page_of_an_instance_leads_to_the_trajectory_of_its_patch(solved: MakeRun, make_run: MakeRun) -> None:
    link = f'href="../../acme/trajectories/{ID}/0.html"'
    judged = make_run("acme.evaluated")
    path = f"acme.evaluated/instances/{ID}.html"
    assert link not in (Pages(Viewer([judged])).find_html(path) or "")
    assert link in (Pages(Viewer([judged, solved()])).find_html(path) or "")


@pytest.mark.parametrize("path", [f"acme/trajectories/{ID}/0.html", "acme/index.html", "index.html"])
def test_hostile_text_of_a_solver_changes_nothing_of_the_page(path: str, solved: MakeRun) -> None:
    def page(word: str) -> str:
        html = Pages(Viewer([solved(word=word)])).find_html(path)
        assert html is not None
        return html

    plain, hostile = page(PLAIN), page(HOSTILE)
    assert structure(hostile) == structure(plain)
    assert HOSTILE in text(hostile)


def test_turn_is_an_answer_of_the_model_with_all_that_followed(solved: MakeRun) -> None:
    store = solved()
    call = RecordedToolCall(tool_call_id="1", function_name="bash", arguments={"command": "cd /testbed && ls\nsecond"})
    steps = (
        Step(source="system", message="rules"),
        Step(source="user", message="the issue"),
        Step(source="agent", message="I look", tool_calls=(call,)),
        Step(source="agent", message="", tool_calls=(call,), llm_call_count=0),
        Step(source="user", message="your answer has no command"),
        Step(source="agent", message="", reasoning_content="done now"),
    )
    replace_trajectory(store, Trajectory(agent=AgentInfo(name="a", version="1"), steps=steps))
    viewer = Viewer([store])
    assert [(turn.number, len(turn.steps), turn.title) for turn in shown(viewer).turns] == [
        (1, 1, "rules"),
        (2, 1, "the issue"),
        (3, 3, "bash ls"),
        (6, 1, "done now"),
    ]
    html = Pages(viewer).find_html(f"acme/trajectories/{ID}/0.html") or ""
    assert html.count('<li class="step ') == 4
    assert all(f'id="step-{number}"' in html for number in range(1, 7)), "every step keeps its address"
    assert 'href="#step-6"><span class="quiet">6</span> done now</a>' in html


def test_page_ends_with_the_patch_and_the_verdict_of_its_tests(solved: MakeRun, make_run: MakeRun) -> None:
    store = solved("acme", patch=GOLD)
    (store.root / "instances" / ID / "0/patch.diff").write_text(GOLD)
    viewer = Viewer([store, make_run("acme.evaluated")])
    page = " ".join(text(Pages(viewer).find_html(f"acme/trajectories/{ID}/0.html") or "").split())
    end = page.rpartition("The patch and its tests")[2]
    assert end.strip().startswith("resolved")
    assert "calc.py +1 \u22121" in end
    assert "of another patch" not in page
