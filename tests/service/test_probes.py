"""An engine, or an instance, that lies: found by the next probe, and nothing of what it answered counts."""

from collections.abc import Callable

import pytest

from lying import NAMES, Liar, report, reward
from served import WRONG, Served, until, wrong
from toy import GOLD

pytestmark = pytest.mark.slow


def wait_for_probe(here: Served, number: int = 1) -> None:
    until(lambda: here.figure("assay_probes_total") >= number)


@pytest.mark.parametrize(("kind", "lies"), [("lost", True), ("clock", True), ("full", False), ("exchanged", True)])
def test_an_engine_that_lies_is_found_and_what_it_answered_is_evaluated_again(
    serve_lying: Callable[..., Served], liar: Liar, kind: str, lies: bool
) -> None:
    here = serve_lying(probe=0.0001)  # one at once, and the next one on request
    proven = reward(here, NAMES[0], GOLD)
    for name in NAMES:  # each image is seen to work
        reward(here, name, WRONG)
    wait_for_probe(here)
    prober = here.server.queue.probes
    until(lambda: prober._check is None)
    liar.lie(kind)
    lied = [reward(here, name, GOLD) for name in NAMES[1:]]
    assert [each["reward"] for each in lied] == [0.0 if lies else None] * 2
    prober.share = 1000.0
    reward(here, NAMES[2], wrong(7))
    until(lambda: "engine" in report(here)["quarantine"])
    refused = reward(here, NAMES[0], wrong(5))
    assert (refused["reward"], refused["outcome"]) == (None, "infra_error")
    assert "in quarantine: fake on" in refused["reason"]
    found = report(here)
    assert not lies or {each["id"] for each in lied} <= {each["id"] for each in found["withdrawn"]}
    assert proven["id"] not in {each["id"] for each in found["withdrawn"]}
    assert refused.get("withdrawals", 0) == found["withdrawals"] == here.figure("assay_withdrawn_total") >= 2 * lies
    assert [reward(here, NAMES[1], GOLD)["reward"], reward(here, NAMES[0], GOLD)["reward"]] == [None, 1.0]
    liar.be_honest()
    until(lambda: not report(here)["quarantine"])
    with here.client() as client:
        for each in lied if lies else ():  # nobody asked again
            until(lambda each=each: client.get(f"/v1/evaluations/{each['id']}").json().get("reward") == 1.0)
    assert [reward(here, name, GOLD)["reward"] for name in NAMES] == [1.0, 1.0, 1.0]


def test_an_instance_that_is_wrong_alone_is_quarantined_alone_until_it_is_right(
    serve_lying: Callable[..., Served],
) -> None:
    here = serve_lying(probe=1000.0)
    prober = here.server.queue.probes
    for name in NAMES:
        reward(here, name, WRONG)
        until(lambda: prober._check is None)
    here.engine.flaky = {"tests/test_1.py::test_add": [False]}
    prober._candidates.move_to_end(NAMES[1], last=False)
    lied, other = reward(here, NAMES[1], GOLD), reward(here, NAMES[0], wrong(3))
    until(lambda: report(here)["quarantine"])
    assert (lied["reward"], other["reward"]) == (0.0, 0.0)
    assert [*report(here)["quarantine"]] == [NAMES[1]]
    assert report(here)["withdrawn"] == [{"id": lied["id"], "instance_id": NAMES[1], "was": 0.0}]
    assert f"the gold patch of {NAMES[1]} was unresolved" in report(here)["quarantine"][NAMES[1]]
    assert [reward(here, name, GOLD)["reward"] for name in NAMES] == [1.0, None, 1.0]
    here.engine.flaky = {}
    for number in range(3):  # it is probed again in its turn
        until(lambda: prober._check is None)
        reward(here, NAMES[0], wrong(10 + number))
    until(lambda: not report(here)["quarantine"])
    until(lambda: reward(here, NAMES[1], GOLD)["reward"] == 1.0)


def test_a_right_probe_of_another_instance_does_not_prove_what_an_exchanged_image_answered(
    serve_lying: Callable[..., Served],
) -> None:
    here = serve_lying(probe=0.0001)
    prober = here.server.queue.probes
    for name in NAMES:
        reward(here, name, WRONG)
        until(lambda: prober._check is None)
    prober.share = 1000.0
    here.engine.flaky = {"tests/test_1.py::test_add": [False]}
    prober._candidates.move_to_end(NAMES[1])
    lied = reward(here, NAMES[1], GOLD)  # a probe of another instance follows, and is right
    until(lambda: prober._check is None)
    assert report(here)["quarantine"] == {}
    for number in range(3):
        reward(here, NAMES[0], wrong(20 + number))
        until(lambda: prober._check is None)
    assert [*report(here)["quarantine"]] == [NAMES[1]]
    assert lied["id"] in {each["id"] for each in report(here)["withdrawn"]}


def test_what_an_earlier_process_answered_is_withdrawn_too(serve_lying: Callable[..., Served], liar: Liar) -> None:
    here = serve_lying(probe=0.0001)
    for name in NAMES:
        reward(here, name, WRONG)
    wait_for_probe(here)
    liar.lie("lost")
    lied = reward(here, NAMES[0], GOLD)
    here.stop()
    until(lambda: here.drained)
    liar.be_honest()
    again = serve_lying(probe=0.0001)
    assert reward(again, NAMES[0], GOLD)["reward"] == 0.0  # nothing is known against it yet
    liar.lie("lost")
    again.server.queue.probes.share = 1000.0
    reward(again, NAMES[2], wrong(8))
    until(lambda: report(again)["quarantine"])
    assert lied["id"] in {each["id"] for each in report(again)["withdrawn"]}
    assert reward(again, NAMES[0], GOLD)["reward"] is None


def test_a_service_without_probes_evaluates_nothing_of_its_own(serve_lying: Callable[..., Served]) -> None:
    here = serve_lying()
    assert reward(here, NAMES[0], GOLD)["reward"] == 1.0
    assert (here.engine.opened, report(here)["quarantine"], (here.folder / ".unproven").exists()) == (1, {}, False)
