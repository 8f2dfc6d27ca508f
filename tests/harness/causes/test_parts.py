"""Parts of patches, held against git."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.causes.parts import Atom, take_apart
from assay.harness.patches.gate import gate
from tables import read_tables
from toy import GOLD

TEXTS = read_tables(__file__)

OLD = [f"line {number}\n" for number in range(1, 31)]
PATCH = TEXTS["patch"]
PARTS = take_apart(PATCH)
WHOLE = sorted(PARTS.whole)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    texts = {"f.txt": "".join(OLD), "gone.txt": "a\nb\n", "was.txt": "x\ny\n"}
    for name, text in texts.items():
        (root / name).write_text(text)
    for command in (
        ("init", "-q"),
        ("add", "-A"),
        ("-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "base"),
    ):
        subprocess.run(["git", *command], cwd=root, check=True)
    return root


def apply(root: Path, patch: str) -> str | None:
    """Return the tree that git makes; None if the patch does not apply."""
    for command in ("git reset -q --hard", "git clean -qfdx"):
        subprocess.run(command.split(), cwd=root, check=True)
    if patch:
        done = subprocess.run(
            ["git", "apply", "--index", "-"], cwd=root, input=patch.encode(), capture_output=True, check=False
        )
        if done.returncode:
            return None
    return subprocess.run(["git", "write-tree"], cwd=root, check=True, capture_output=True, text=True).stdout


def test_all_parts_together_are_the_patch() -> None:
    assert PARTS.render(PARTS.whole) == PATCH
    assert PARTS.hash_tree(PARTS.whole)
    assert PARTS.hash_tree(frozenset()) == ""


def test_hunks_and_what_is_no_line_are_parts() -> None:
    hunks = PARTS.split_hunks(PARTS.whole)
    assert [(PARTS.get_path(each), len(each)) for each in hunks] == [
        *(("f.txt", 4), ("f.txt", 3), ("new.txt", 2)),
        *(("gone.txt", 1), ("is.txt", 1), ("is.txt", 2)),
    ]
    assert PARTS.get_section(hunks[1]) == "name of a function"


@given(st.sets(st.sampled_from(WHOLE)), st.sets(st.sampled_from(WHOLE)))
def test_parts_of_one_name_make_one_tree(tree: Path, one: set[Atom], other: set[Atom]) -> None:
    names = {part: PARTS.hash_tree(part) for part in map(frozenset, (one, other))}
    made = {part: apply(tree, PARTS.render(part)) for part in names}
    assert len({*made.values()}) <= len({*names.values()})
    assert all(gate(PARTS.render(part)).text == PARTS.render(part) for part in names)
    base = apply(tree, "")
    assert all((name == "") == (made[part] == base) for part, name in names.items())
    if len({*names.values()}) > 1 and None not in made.values():
        assert len({*made.values()}) > 1, "the reverse, where no two hunks touch"


def test_a_line_added_above_or_below_its_like_is_one_tree() -> None:
    patch = GOLD.replace("@@ -1,2 +1,2 @@\n", "@@ -1,2 +1,4 @@\n").replace(" def", "+\n+\n def")
    parts = take_apart(patch)
    first, second = (part for part in parts.split_lines(parts.whole) if parts.list_lines(part)[0].text == "")
    assert parts.hash_tree(first) == parts.hash_tree(second) != ""


def test_what_is_put_back_changes_no_tree() -> None:
    parts = take_apart(PATCH)
    without = frozenset(atom for atom in parts.whole if atom.file)
    assert parts.hash_tree(parts.whole, {"f.txt"}) == parts.hash_tree(without) != parts.hash_tree(parts.whole)


def test_a_file_without_its_last_line_feed_is_another_tree() -> None:
    marked = GOLD + "\\ No newline at end of file\n"
    assert take_apart(GOLD).hash_tree(take_apart(GOLD).whole) != take_apart(marked).hash_tree(take_apart(marked).whole)
