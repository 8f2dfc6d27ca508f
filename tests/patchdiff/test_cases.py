"""The cases say what they must, and their patches can be made; an edit that does not fit is reported with its case."""

import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from assay.harness.errors import UserError
from assay.instances.dataset.load import load
from assay.instances.trees.sources import Sources
from patchdiff.model import Case, RightKind, WrongKind, load_cases, load_trees, make_patch

BASE = {"src/calc.py": "def add(a, b):\n    return a - b\n\n\ndef sub(a, b):\n    return a - b\n", "LICENSE": "free\n"}
GOLD = BASE | {"src/calc.py": BASE["src/calc.py"].replace("a - b", "a + b", 1)}
ROW: dict[str, Any] = {
    "name": "swapped",
    "instance": "acme__calc-1",
    "label": "right",
    "kind": "reordered",
    "phase": "development",
    "why": "sums do not depend on the order",
    "from": "gold",
    "edits": [{"path": "src/calc.py", "find": "return a + b", "replace": "return b + a"}],
}


def case(**changes: object) -> Case:
    return Case.model_validate(ROW | changes)


def edited(**changes: object) -> Case:
    return case(edits=[ROW["edits"][0] | changes])


def test_every_case_has_a_name_of_its_own_and_says_why():
    names = Counter(each.name for each in load_cases())
    assert [name for name, times in names.items() if times > 1] == []
    assert [each.name for each in load_cases() if len(each.why.split()) < 10] == []


def test_the_development_set_has_twelve_wrong_patches_of_all_kinds_and_six_right_ones_over_six_instances():
    seen = [each for each in load_cases() if each.phase == "development"]
    wrong = [each for each in seen if each.label == "wrong"]
    assert (len(wrong), len(seen) - len(wrong)) == (12, 6)
    kinds = Counter(each.kind for each in wrong)
    assert {kind for kind in get_args(WrongKind) if kinds[kind] < 2} == set()
    instances = {each.instance for each in seen}
    assert len(instances) == 6
    assert {each.instance for each in wrong} == instances
    assert any(each.dataset != "releases" for each in seen)


TWELVE = ("fifth", "sixth", "eighth", "ninth", "tenth", "eleventh")
LATER = [(phase, "") for phase in ("first", "second", "third", "fourth")]
LATER += [(phase, dataset) for phase in TWELVE for dataset in ("releases", "lite")]


@pytest.mark.parametrize(("phase", "dataset"), LATER)
def test_a_later_set_has_a_wrong_patch_and_a_right_one_for_each_of_six_instances(phase: str, dataset: str) -> None:
    seen = [each for each in load_cases() if each.phase == phase and each.dataset == (dataset or each.dataset)]
    wrong, right = ([each.instance for each in seen if each.label == label] for label in ("wrong", "right"))
    assert len(set(wrong)) == len(wrong) == 6
    assert sorted(right) == sorted(wrong)
    if not dataset:
        assert {each.kind for each in seen if each.label == "wrong"} == set(get_args(WrongKind))
        assert {*wrong} == {each.instance for each in load_cases() if each.phase == "development"}


@pytest.mark.parametrize("phase", TWELVE)
def test_a_set_of_twelve_has_all_kinds_of_wrong_patch_twice_and_leans_on_no_kind_of_right_one(phase: str) -> None:
    kinds = Counter(each.kind for each in load_cases() if each.phase == phase)
    assert {kind for kind in get_args(WrongKind) if kinds[kind] < 2} == set()
    assert {kind for kind in get_args(RightKind) if kinds[kind] > 4} == set()


@pytest.mark.parametrize("instance", ["masterminds__semver-3.3.1", "mholt__papaparse-5.4.1"])
def test_another_language_than_python_has_two_wrong_patches_and_two_right_ones(instance: str) -> None:
    seen = [each.label for each in load_cases() if each.phase == "languages" and each.instance == instance]
    assert sorted(seen) == ["right", "right", "wrong", "wrong"]


def test_shows_of_a_wrong_patch_is_a_program():
    prints = re.compile(r"\bprint\(|fmt\.Println\(|console\.log\(")
    for each in load_cases():
        if each.phase != "languages":
            compile(each.shows, each.name, "exec")
        assert bool(prints.search(each.shows)) is (each.label == "wrong"), each.name


def test_no_anchor_is_longer_than_a_few_lines():
    long = [each.name for each in load_cases() for edit in each.edits if len(edit.find) + len(edit.until) > 160]
    assert long == []


def test_patch_from_gold_holds_the_fix_as_well():
    patch = make_patch(case(), BASE, GOLD)
    assert patch.startswith("diff --git a/src/calc.py b/src/calc.py\n")
    assert "-    return a - b\n+    return b + a\n" in patch
    assert "LICENSE" not in patch


def test_patch_from_base_holds_only_its_own_edits():
    own = case(**{"from": "base", "edits": [{"path": "LICENSE", "find": "free", "replace": "paid"}]})
    patch = make_patch(own, BASE, GOLD)
    assert "calc.py" not in patch
    assert "-free\n+paid\n" in patch


def test_edit_ends_at_the_first_until_after_find():
    patch = make_patch(edited(find="def sub", until="- b", replace="def sub(b, a):\n    return a"), BASE, GOLD)
    assert "+def sub(b, a):\n+    return a\n" in patch


def test_edit_with_count_is_made_in_several_places():
    patch = make_patch(edited(find="(a, b)", replace="(a, b=0)", count=2), BASE, GOLD)
    assert patch.count("(a, b=0)") == 2


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"find": "(a, b)"}, "2 times"),
        ({"find": "return a * b"}, "0 times"),
        ({"find": "def sub", "until": "while"}, "no 'while' after 'def sub'"),
        ({"path": "src/other.py"}, "has no src/other.py"),
        ({"replace": "return a + b"}, "change nothing"),
    ],
)
def test_edit_that_does_not_fit_names_the_case(changes: dict[str, str], says: str):
    with pytest.raises(UserError, match="swapped") as caught:
        make_patch(edited(**changes), BASE, GOLD)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "regression"},
        {"label": "wrong", "shows": "print(1)"},
        {"label": "wrong", "kind": "regression"},
        {"shows": "print(1)"},
        {"edits": []},
    ],
)
def test_contradictory_case_is_rejected(changes: dict[str, object]):
    with pytest.raises(ValidationError):
        case(**changes)


BUNDLED = sorted({each.instance for each in load_cases() if each.dataset == "releases"})


@pytest.mark.network
@pytest.mark.parametrize("instance", BUNDLED)
def test_the_patch_of_each_bundled_case_applies_to_the_base_tree(instance: str, tmp_path: Path):
    sources = Sources()
    (bundled,) = load("releases", ids=[instance], sources=sources).instances
    base, gold = load_trees(bundled, sources)
    for each in load_cases():
        if each.instance != instance:
            continue
        patch = make_patch(each, base, gold)
        top = tmp_path / each.name
        top.mkdir()
        for path in re.findall(r"^--- a/(.+)$", patch, re.MULTILINE):
            (top / path).parent.mkdir(parents=True, exist_ok=True)
            (top / path).write_bytes(base[path].encode())
        subprocess.run(["git", "apply", "-"], cwd=top, input=patch.encode(), check=True, capture_output=True)
        for edit in each.edits:
            program = (top / edit.path).read_bytes().decode()
            assert program != gold[edit.path], each.name
            if edit.path.endswith(".py"):
                compile(program, edit.path, "exec")
