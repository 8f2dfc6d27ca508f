from functools import partial

import pytest

from assay.harness.errors import DataError
from assay.harness.languages import find
from assay.instances.trees.content import EXECUTABLE, FILE, TreeEntry
from assay.instances.trees.diff import part_source, split_diff


def entries(**files: bytes) -> list[TreeEntry]:
    return [TreeEntry(name.replace("__", "."), FILE, content) for name, content in files.items()]


def test_two_trees_give_a_patch_of_the_chosen_paths_and_one_of_the_others() -> None:
    old, new = entries(a__py=b"1\n", t__py=b"1\n", same=b"x"), entries(a__py=b"2\n", t__py=b"2\n", same=b"x")
    rest, chosen = split_diff(old, new, lambda path: path == "t.py")
    assert (rest.count("diff --git"), chosen.count("diff --git")) == (1, 1)
    assert "+++ b/a.py\n" in rest
    assert "+++ b/t.py\n" in chosen


def test_equal_trees_give_empty_patches() -> None:
    assert split_diff(entries(a=b"1"), entries(a=b"1"), lambda _: True) == ("", "")


def test_a_binary_file_and_a_mode_are_part_of_a_patch() -> None:
    new = [TreeEntry("run.sh", EXECUTABLE, b"x\n"), *entries(logo=bytes(range(256)))]
    rest, _ = split_diff(entries(run__sh=b"x\n"), new, lambda _: False)
    assert "new mode 100755\n" in rest
    assert "GIT binary patch\n" in rest


def test_attributes_in_a_tree_do_not_change_its_diff() -> None:
    new = [*entries(a=b"2\n"), TreeEntry(".gitattributes", FILE, b"* binary\n")]
    assert "+2\n" in split_diff(entries(a=b"1\n"), new, lambda _: False)[0]


def test_a_change_in_another_encoding_is_named() -> None:
    with pytest.raises(DataError, match=r"the change of .*latin.*ignore"):
        split_diff(entries(latin=b"a\n"), entries(latin=b"\xfc\n"), lambda _: False)


def test_a_source_with_a_module_of_tests_is_parted() -> None:
    old = "pub fn a() -> u8 { 1 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() {}\n}\n"
    new = old.replace("{ 1 }", "{ 2 }").replace("one() {}", "one() { two() }")
    part = partial(part_source, find("rust").LINES)
    fix, tests = split_diff(entries(a=old.encode()), entries(a=new.encode()), lambda _: False, part)
    assert "-pub fn a() -> u8 { 1 }\n+pub fn a() -> u8 { 2 }\n" in fix
    assert "-    fn one() {}\n+    fn one() { two() }\n" in tests
    assert "+    fn one" not in fix
    assert "+pub fn" not in tests
