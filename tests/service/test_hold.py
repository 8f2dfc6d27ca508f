"""Answers that wait for a right probe: none of an engine that lies is given."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assay.api.evaluator import Evaluator
from assay.choices import HoldChoice
from assay.harness.errors import UserError
from assay.service.serve import ServiceOptions, open_server
from lying import NAMES, Liar, report, reward
from served import WRONG, Served, ask, until, wrong
from toy import GOLD, make_instance

Serve = Callable[..., Served]
pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("kind", "hold"),
    [
        ("lost", HoldChoice.ENGINE),
        ("clock", HoldChoice.ENGINE),
        ("full", HoldChoice.INSTANCE),
        ("exchanged", HoldChoice.INSTANCE),
    ],
)
def test_nothing_that_an_engine_answered_since_it_lies_is_given(
    serve_lying: Serve,
    liar: Liar,
    kind: str,
    hold: HoldChoice,
) -> None:
    here = serve_lying(probe=0.0001, hold=hold)
    assert [reward(here, name, WRONG)["reward"] for name in NAMES] == [0.0] * 3  # each after a probe
    assert here.figure("assay_probes_total") >= 3
    liar.lie(kind)
    lied = [reward(here, name, GOLD) for name in NAMES]
    assert [each["reward"] for each in lied] == [None] * 3
    assert not {each["id"] for each in lied} & {each["id"] for each in report(here)["withdrawn"]}
    liar.be_honest()
    until(lambda: not report(here)["quarantine"])
    assert [reward(here, name, GOLD)["reward"] for name in NAMES] == [1.0] * 3


@pytest.mark.parametrize(("hold", "expected"), [(HoldChoice.ENGINE, 0.0), (HoldChoice.INSTANCE, None)])
def test_an_answer_of_an_exchanged_image_waits_for_a_probe_of_its_own(
    serve_lying: Serve,
    hold: HoldChoice,
    expected: float | None,
) -> None:
    here = serve_lying(probe=0.0001, hold=hold)
    for name in NAMES:
        reward(here, name, WRONG)
    here.engine.flaky = {"tests/test_1.py::test_add": [False]}
    prober = here.server.queue.probes
    prober._candidates.move_to_end(NAMES[1])  # its turn comes last
    assert reward(here, NAMES[1], GOLD)["reward"] == expected


def test_answers_of_one_batch_share_a_probe_and_same_trees_wait_too(serve_lying: Serve) -> None:
    here = serve_lying(probe=0.0001, hold=HoldChoice.ENGINE)
    reward(here, NAMES[0], WRONG)
    before = here.figure("assay_probes_total")
    with here.client() as client:
        questions = [ask(NAMES[0], wrong(number)) for number in range(5)]
        found = client.post("/v1/rewards:batch", json={"rewards": questions}).json()["results"]
    assert [each["reward"] for each in found] == [0.0] * 5
    assert here.figure("assay_probes_total") - before <= 2
    stages = report(here)["stages"]
    assert stages["hold"]["samples"] == 6


def test_a_held_answer_outlives_a_client_that_leaves_and_is_given_before_the_service_ends(
    serve_lying: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = serve_lying(probe=0.0001, hold=HoldChoice.ENGINE)
    reward(here, NAMES[2], WRONG)
    queue = here.server.queue
    with monkeypatch.context() as paused, here.client() as client:
        paused.setattr(queue.probes, "begin_if_idle", lambda: None)
        asked = client.post("/v1/rewards", json={**ask(NAMES[0], GOLD), "wait": 0}).json()
        until(lambda: queue.probes.is_held(asked["id"]))
        assert client.delete(f"/v1/evaluations/{asked['id']}").json()["status"] == "running"
        opened = here.engine.opened
        again = client.post("/v1/rewards", json={**ask(NAMES[0], GOLD), "wait": 0}).json()
        assert (again["id"], again.get("reward"), here.engine.opened) == (asked["id"], None, opened)
    with ThreadPoolExecutor() as pool:
        waits = pool.submit(reward, here, NAMES[0], GOLD)
        until(lambda: len(queue._open[asked["id"]].holders) > 1)
        here.stop()
        assert waits.result()["reward"] == 1.0
    until(lambda: here.drained)
    assert here.drained == [True]


@pytest.mark.parametrize(
    ("share", "patch", "problem"),
    [(0.0, GOLD, "leave out --probe 0"), (0.1, "", "needs an instance with a gold patch")],
)
def test_holding_what_no_probe_can_prove_is_refused(tmp_path: Path, share: float, patch: str, problem: str) -> None:
    evaluator = Evaluator([make_instance(gold_patch=patch)], engine="fake")
    options = ServiceOptions(probe=share, hold=HoldChoice.ENGINE)
    with evaluator, pytest.raises(UserError, match=problem), open_server(evaluator, tmp_path / "verdicts", options):
        pass
