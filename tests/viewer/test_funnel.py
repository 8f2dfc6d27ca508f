"""The picture of a collection's funnel."""

import pytest

from assay.instances.collect.funnel import FunnelPhase
from assay.instances.collect.steps import Phase
from assay.viewer.charts import WIDTH
from assay.viewer.funnel import funnel_page, funnel_picture

PHASES = (
    FunnelPhase(phase=Phase.FIND, taken=40, kept=10, dropped={"reference": 29, "root": 1}),
    FunnelPhase(phase=Phase.PAIR, taken=10, kept=10),
)


def test_every_phase_and_every_rule_has_a_bar() -> None:
    picture = funnel_picture(PHASES)
    assert [bar.hint for bar in picture.boxes] == [
        "find: 10 kept",
        "reference: 29 fell out",
        "root: 1 fell out",
        "pair: 10 kept",
    ]
    assert picture.table.rows[0] == ("find", "40", "10", "29 reference, 1 root")


def test_bars_are_as_long_as_their_numbers_and_stay_in_the_picture() -> None:
    boxes = funnel_picture(PHASES).boxes
    assert boxes[1].width == pytest.approx(2.9 * boxes[0].width, abs=0.5)
    assert all(bar.x + bar.width <= WIDTH and bar.y + bar.height <= funnel_picture(PHASES).height for bar in boxes)


def test_the_page_needs_no_other_file_and_escapes_names() -> None:
    page = funnel_page("<mine>", PHASES)
    assert "<h1>&lt;mine&gt;</h1>" in page
    assert "font: 16px/1.6 var(--sans)" in page
    assert "src=" not in page
    assert "<link" not in page


def test_a_collection_without_candidates_has_a_picture() -> None:
    assert not funnel_picture([FunnelPhase(phase=Phase.FIND, taken=0, kept=0)]).boxes[0].width
