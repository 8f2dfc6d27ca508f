from collections.abc import Collection, Sequence
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from assay.harness.patchdiff.reproduction.confirm import DraftVariant, Looks, decoded, fewest_changes
from assay.harness.patchdiff.reproduction.writing import Check


@dataclass(frozen=True)
class Puzzle:
    """A draft whose file shows the difference as long as it holds some of its changes."""

    changes: int
    folder: str = "."

    def write(self, without: Collection[int], check: Check) -> str:
        return f"{sorted(without)} {check}"


def looks(candidate: str, kind: str = "value") -> Looks:
    return Looks(((kind, "str", "one"),), ((kind, "str", candidate),))


@given(st.integers(1, 8), st.sets(st.integers(0, 7)))
def test_changes_that_matter_are_all_that_is_left(count: int, wanted: set[int]) -> None:
    needed = {each for each in wanted if each < count}
    rounds: list[int] = []

    def explore(variants: Sequence[DraftVariant]) -> list[Looks]:
        rounds.append(len(variants))
        return [looks("one" if needed & each.without else "two") for each in variants]

    variant, seen = fewest_changes({"it": Puzzle(count)}, explore)["it"]
    assert set(range(count)) - variant.without == needed
    assert seen.check.expected == (("value", "str", "one"),)
    assert len(rounds) <= 2


def test_changes_of_which_one_is_enough_keep_one() -> None:
    def explore(variants: Sequence[DraftVariant]) -> list[Looks]:
        return [looks("one" if len(each.without) == 2 else "two") for each in variants]

    variant, _ = fewest_changes({"it": Puzzle(2)}, explore)["it"]
    assert len(variant.without) == 1


def test_difference_of_another_type_is_another_difference() -> None:
    def explore(variants: Sequence[DraftVariant]) -> list[Looks]:
        return [looks("two", "error" if 0 in each.without else "value") for each in variants]

    variant, _ = fewest_changes({"it": Puzzle(2)}, explore)["it"]
    assert variant.without == {1}


def test_draft_that_shows_no_difference_gives_nothing() -> None:
    assert fewest_changes({"it": Puzzle(1)}, lambda found: [looks("one") for _ in found]) == {}
    assert fewest_changes({}, lambda _: []) == {}


def test_source_is_read_by_its_own_encoding() -> None:
    assert decoded("# coding: latin-1\nNAME = 'é'\n".encode("latin-1")) == "# coding: latin-1\nNAME = 'é'\n"
    assert decoded(b"\xff\xfe") == decoded(b"# coding: none\n") == ""
