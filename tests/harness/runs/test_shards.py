"""Parts of a run: every process cuts in the same way, nothing is left out, and the parts are about equally long."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.domain import Prediction
from assay.harness.errors import DataError, UserError
from assay.harness.runs.shards import Shard, cut, estimate_seconds, missing_numbers, read_durations

NAMES = st.text("abcd-_1", min_size=1, max_size=6)
SECONDS = st.dictionaries(NAMES, st.sampled_from([0.0, 1.0, 2.5]) | st.floats(0, 1e6), max_size=30)


@given(seconds=SECONDS, of=st.integers(1, 40))
def test_every_id_is_in_exactly_one_part(seconds: dict[str, float], of: int) -> None:
    parts = [Shard(number=number, of=of).select_ids(seconds)[1] for number in range(1, of + 1)]
    assert sorted(name for part in parts for name in part) == sorted(seconds)


@given(seconds=SECONDS, of=st.integers(1, 40), dice=st.randoms())
def test_the_order_of_the_ids_changes_nothing(seconds: dict[str, float], of: int, dice: object) -> None:
    mixed = list(seconds.items())
    dice.shuffle(mixed)  # type: ignore[attr-defined]
    shard = Shard(number=1, of=of)
    assert shard.select_ids(dict(mixed)) == shard.select_ids(seconds)


@given(seconds=SECONDS, of=st.integers(1, 10))
def test_no_part_is_longer_than_another_by_more_than_one_item(seconds: dict[str, float], of: int) -> None:
    loads = [sum(seconds[name] for name in part) for part in cut(seconds, of)]
    loads += [0.0] * (of - len(loads))
    assert max(loads) - min(loads) <= max(seconds.values(), default=0) * (1 + 1e-9)


def test_equally_long_ids_are_dealt_in_their_order() -> None:
    seconds = estimate_seconds("edcba", "", {})
    assert cut(seconds, 2) == [["a", "c", "e"], ["b", "d"]]


def test_ids_that_do_nothing_are_dealt_after_those_that_work() -> None:
    seconds = estimate_seconds(["b", "d"], ["a", "b", "c", "d"], {"d": 3.0})
    assert seconds == {"a": 0.0, "b": 3.0, "c": 0.0, "d": 3.0}
    assert [sorted(part) for part in cut(seconds, 2)] == [["a", "b"], ["c", "d"]]


def test_ids_of_unknown_length_take_the_usual_time() -> None:
    known = {"a": 10.0, "b": 20.0, "elsewhere": 900.0}
    assert estimate_seconds(["a", "b", "c"], (), known) == {"a": 10.0, "b": 20.0, "c": 15.0}


def test_the_cut_is_the_same_in_another_process() -> None:
    seconds = {f"acme__calc-{number}": number / 7 for number in range(50)}
    code = (
        "import json, sys; from assay.harness.runs.shards import Shard; "
        "part, ids = Shard(number=2, of=3).select_ids(json.load(sys.stdin)); print(part.cut, *sorted(ids))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(seconds), capture_output=True, text=True, check=True
    )
    part, ids = Shard(number=2, of=3).select_ids(seconds)
    assert done.stdout.split() == [part.cut, *sorted(ids)]


def test_another_cut_has_another_hash() -> None:
    base = Shard(number=1, of=2).select_ids({"a": 1.0, "b": 1.0, "c": 1.0})[0].cut
    for of, seconds in ((3, {"a": 1.0, "b": 1.0, "c": 1.0}), (2, {"a": 1.0, "b": 1.0}), (2, {"a": 1, "b": 1, "c": 9})):
        assert Shard(number=1, of=of).select_ids(seconds)[0].cut != base
    assert Shard(number=2, of=2).select_ids({"a": 1.0, "b": 1.0, "c": 1.0})[0].cut == base


def test_other_predictions_make_another_cut() -> None:
    shard, seconds = Shard(number=1, of=2), {"a": 1.0, "b": 1.0}
    a, b, other = (Prediction(instance_id=name, model="m", patch=patch) for name, patch in ("ax", "b\ud800", "by"))
    base, mine = shard.select_ids(seconds, [a, b])
    assert shard.select_ids(seconds, [b, a]) == (base, mine)
    for predictions in ([a], [a, other]):
        assert shard.select_ids(seconds, predictions)[0].cut != base.cut


@pytest.mark.parametrize(
    "text", ["", "1", "0/4", "5/4", "-1/4", "1/0", "1/4/2", "a/b", "1.0/4", " 1/4", "1/", "/4", "٣/4"]
)
def test_what_is_no_shard_gets_one_line(text: str) -> None:
    with pytest.raises(UserError, match="--shard") as caught:
        Shard.parse(text)
    assert "such as 1/4" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_shard_has_a_folder_of_its_own_and_only_one() -> None:
    shard = Shard.parse("2/4")
    assert shard.folder("mine") == "mine.shard-2-of-4"
    assert shard.folder("mine.shard-2-of-4") == "mine.shard-2-of-4"
    assert str(shard) == "2/4"


def test_missing_numbers_are_those_that_nobody_has() -> None:
    shards = [Shard(number=number, of=4) for number in (1, 3, 3)]
    assert missing_numbers(shards) == [2, 4]
    assert missing_numbers([]) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "must be an object of seconds"),
        ("{", "is no JSON"),
        ('{"a": "x"}', "field a: is 'x'; write seconds"),
        ('{"a": -1}', "field a: is -1"),
        ('{"a": true}', "field a: is True"),
        ('{"a": NaN}', "field a: is nan"),
        ('{"a": Infinity}', "field a: is inf"),
    ],
)
def test_wrong_durations_are_named(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "durations.json"
    file.write_text(text)
    with pytest.raises(DataError, match=words):
        read_durations(file)


def test_missing_durations_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nothing\.json: there is no such file"):
        read_durations(tmp_path / "nothing.json")
