from datetime import UTC, date, datetime

from assay.instances.collect.card import card
from assay.instances.collect.folder import CollectionSettings
from assay.instances.collect.funnel import FunnelPhase
from assay.instances.collect.steps import Phase
from toy import make_instance

SETTINGS = CollectionSettings(name="mine", repos=("acme/calc",), since=date(2024, 1, 1))
FUNNEL = [FunnelPhase(phase=Phase.FIND, taken=9, kept=2, dropped={"reference": 7})]


def test_the_card_names_repositories_licenses_dates_and_figures() -> None:
    days = (datetime(2024, 3, 9, tzinfo=UTC), datetime(2024, 2, 1, tzinfo=UTC))
    instances = [make_instance(id=f"acme__calc-{day.day}", repo="acme/calc", created_at=day) for day in days]
    text = card(SETTINGS, FUNNEL, instances, ["MIT", "MIT"], 3)
    assert "2 instances, collected by Assay from acme/calc, from 2024-01-01 to the newest commit." in text
    assert "Each was validated 3 times" in text
    assert "| acme/calc | MIT | 2 | 2024-02-01 | 2024-03-09 |" in text
    assert "| lines of the gold patch | 2 | 2 | 2 |" in text
    assert "| find | 9 | 2 | 7 reference |" in text


def test_a_card_without_instances_has_no_figures() -> None:
    assert "words of the statement" not in card(SETTINGS, FUNNEL, [], [], 3)
