from assay.harness.languages.differences import WHOLE_MODULE
from assay.harness.patchdiff.sides import Side
from assay.harness.patchdiff.targets import MOST, USERS, find_loose, find_spans, find_targets, find_users

BASE = """\
LIMIT = 3


def first(x):
    return x


class Thing:
    def second(self):
        return 1

    def third(self):
        def inner():
            return 2

        return inner()
"""


Places = dict[Side, tuple[tuple[int, int], ...]]
Texts = dict[Side, dict[str, str]]


def sides(path: str, base: str, gold: str, candidate: str | None = None) -> Texts:
    """The texts of one file on each side; the candidate's is the base's unless given."""
    return {
        Side.BASE: {path: base},
        Side.GOLD: {path: gold},
        Side.CANDIDATE: {path: base if candidate is None else candidate},
    }


def found(gold: str, candidate: str = BASE, path: str = "pkg/mod.py") -> dict[str, Places]:
    return {each.name: dict(each.places) for each in find_targets("python", sides(path, BASE, gold, candidate))}


def test_the_innermost_functions_that_either_patch_changes() -> None:
    gold = BASE.replace("return x", "return x + 1")
    candidate = BASE.replace("return 1", "# why\n        return 1")
    names = found(gold, candidate)
    assert set(names) == {"first", "Thing.second"}
    assert names["Thing.second"] == {Side.BASE: ((9, 10),), Side.GOLD: ((9, 10),), Side.CANDIDATE: ((9, 11),)}
    assert names["first"][Side.CANDIDATE] == ((4, 5),)


def test_change_of_both_sides_is_a_target_only_if_nothing_else_is() -> None:
    gold = BASE.replace("return x", "return x + 1").replace("return 1", "return 0")
    assert list(found(gold, BASE.replace("return x", "return x + 1"))) == ["Thing.second"]
    assert list(found(gold, gold)) == ["first", "Thing.second"]


def test_imports_are_no_reason_to_aim_at_the_whole_file() -> None:
    gold = "import re\n" + BASE.replace("return x", "return x + 1")
    assert list(found(gold)) == ["first"]
    assert list(found("import re\n" + BASE)) == [WHOLE_MODULE]


def test_removed_function_has_its_place_on_the_other_sides() -> None:
    gold = BASE.replace("def first(x):\n    return x\n", "")
    names = found(gold)
    assert set(names["first"]) == {Side.BASE, Side.CANDIDATE}


def test_lines_outside_of_functions_stand_for_the_whole_file() -> None:
    assert set(found(BASE.replace("LIMIT = 3", "LIMIT = 4"))) == {WHOLE_MODULE}


def test_tests_are_no_targets_and_there_are_never_too_many() -> None:
    assert found(BASE.replace("return x", "return 0"), path="tests/test_mod.py") == {}
    many = "".join(f"def f{n}():\n    return 0\n\n" for n in range(40))
    assert len(find_targets("python", sides("m.py", many, many.replace("0\n", "1\n")))) == MOST


def test_other_languages_have_targets_too() -> None:
    base = "package a\n\nfunc F() int {\n\treturn 1\n}\n"
    assert [each.label for each in find_targets("go", sides("a.go", base, base.replace("1", "2")))] == ["a.go::F"]


def test_name_defined_twice_has_both_places() -> None:
    candidate = BASE + "\n\ndef first(x):\n    return 0\n"
    assert found(BASE, candidate)["first"][Side.CANDIDATE] == ((4, 5), (19, 20))


def test_top_level_difference_targets_the_functions_that_use_it() -> None:
    base = "TABLE = {\n    1: 2,\n}\n\n\ndef look(x):\n    return TABLE[x]\n\n\ndef other():\n    return 0\n"
    texts = sides("m.py", base, base.replace("2", "3"), base.replace("2", "4"))
    assert [each.name for each in find_targets("python", texts)] == ["look"]
    unused = {side: {"m.py": text["m.py"].replace("TABLE[x]", "x")} for side, text in texts.items()}
    assert [each.name for each in find_targets("python", unused)] == [WHOLE_MODULE]


TABLE = "import re\n\nRULES = [\n    'a',\n    'b',\n]\nOTHER = 1\n"


def test_top_level_difference_without_user_targets_other_files() -> None:
    texts = sides("pkg/words.py", TABLE, TABLE, TABLE.replace("'b'", "'c'"))
    (whole,) = find_targets("python", texts)
    (names,) = find_loose(texts, [whole])
    assert (whole.name, names.names) == (WHOLE_MODULE, frozenset({"RULES"}))
    assert (names.path, names.module) == ("pkg/words.py", "words")
    mentions = {
        "pkg/words.py": {"RULES", "words"},
        "pkg/lexer.py": {"RULES", "words"},
        "pkg/engine/deep.py": {"RULES", "words"},
        "tools/other.py": {"RULES", "words"},
        "tools/another.py": {"RULES", "words"},
        "pkg/alike.py": {"RULES"},
        "pkg/words_only.py": {"words"},
    }
    found = find_users([names], mentions, 10)
    assert [each.label for each in found] == [
        "pkg/engine/deep.py::<module>",
        "pkg/lexer.py::<module>",
        "tools/another.py::<module>",
    ]
    assert len(found) == USERS
    assert all(set(each.places) == {Side.BASE, Side.GOLD, Side.CANDIDATE} for each in found)
    assert [each.path for each in find_users([names], mentions, 1)] == ["pkg/engine/deep.py"]


def test_package_has_the_name_of_its_folder() -> None:
    texts = sides("pkg/words/__init__.py", TABLE, TABLE, TABLE.replace("OTHER = 1", "OTHER = 2"))
    (names,) = find_loose(texts, find_targets("python", texts))
    assert (names.module, names.names) == ("words", frozenset({"OTHER"}))


PATH = "pkg/mod.py"


def differing(gold: str | None, candidate: str | None, *changed: str) -> dict[str, tuple[tuple[int, int], ...]] | None:
    texts = {Side.GOLD: {PATH: gold} if gold else {}, Side.CANDIDATE: {PATH: candidate} if candidate else {}}
    return find_spans("python", changed or [PATH], {Side.BASE: {PATH: BASE}, **texts})


def test_functions_in_which_gold_and_the_candidate_differ_are_named_by_their_lines_with_gold() -> None:
    gold = "\n\n" + BASE.replace("return x", "return x + 1")
    assert differing(gold, gold) == {}
    assert differing(gold, BASE) == {PATH: ((6, 7),)}
    assert differing(gold, gold.replace("return 2", "return 3")) == {PATH: ((14, 18),)}, "the outermost one around it"
    both = gold.replace("return 1", "return 0").replace("return x + 1", "y = x\n    return y")
    assert differing(gold, both) == {PATH: ((6, 7), (11, 12))}


def test_difference_that_no_call_of_a_function_leads_to_may_be_anywhere() -> None:
    assert differing(BASE, BASE.replace("LIMIT = 3", "LIMIT = 4")) is None
    assert differing(BASE, "import re\n" + BASE) is None
    assert differing(BASE, BASE.replace("class Thing:", "class Thing(dict):")) is None
    assert differing(BASE, BASE + "    def __eq__(self, other):\n        return True\n") is None, "it may be inherited"
    assert differing(BASE.replace("return 1", "return 0"), None) is None
    assert differing(None, None) is None
    assert differing(BASE, BASE, PATH, "pkg/data.json") is None
    assert differing(BASE + "# \N{REPLACEMENT CHARACTER}", BASE + "# \N{REPLACEMENT CHARACTER}") is None
