import pytest

from assay.agents.solvers.shared.normalise import change_key, differs, script_key
from shop_programs import PROGRAMS

BEFORE = {"a.py": "def f(x):\n    return x\n\n\ndef g(x):\n    return x + 1\n"}


def key(text: str) -> str:
    return change_key("python", BEFORE, {"a.py": text})


def test_change_key_of_a_small_change() -> None:
    assert key(BEFORE["a.py"].replace("x + 1", "x + 2")) == (
        "### a.py\n@@ -1,4 +1,4 @@\n def f(x):\n     return x\n def g(x):\n-    return x+1\n+    return x+2"
    )


def test_change_key_ignores_layout() -> None:
    plain = BEFORE["a.py"].replace("x + 1", "max(x, 0)")
    wordy = BEFORE["a.py"].replace(
        "    return x + 1", '    """Never below."""\n    # here\n    return max(x,\n               0)'
    )
    assert key(plain) == key(wordy) != ""


@pytest.mark.parametrize(
    "text", [BEFORE["a.py"], BEFORE["a.py"] + "\n# end\n", BEFORE["a.py"].replace("):\n", '):\n    "Doc."\n', 1)]
)
def test_change_key_of_comments_and_layout_is_empty(text: str) -> None:
    assert key(text) == ""


def test_change_key_ignores_the_place_of_new_functions_without_another_change() -> None:
    new = "def h(y):\n    return y\n"
    first, last = new + "\n\n" + BEFORE["a.py"], BEFORE["a.py"] + "\n\n" + new
    assert key(first) == key(last) == "### a.py\n+def h(y):\n+    return y"
    assert "@@" in key(BEFORE["a.py"].replace("x + 1", "h(x)") + "\n\ndef h(y):\n    return y\n")


def test_change_key_of_a_new_file_is_all_of_it() -> None:
    assert change_key("python", BEFORE, {"b.py": "x = 1\n"}) == "### b.py\n@@ -0,0 +1 @@\n+x=1"


@pytest.mark.parametrize("language", sorted(PROGRAMS))
def test_change_key_differs_from_the_reverse_change_in_every_language(language: str) -> None:
    path, text = PROGRAMS[language]
    there, back = {path: text}, {path: text.replace("price", "cost").replace("Price", "Cost")}
    assert change_key(language, there, back) != change_key(language, back, there) != ""
    assert change_key(language, there, there) == ""


@pytest.mark.parametrize(
    ("after", "expected"),
    [("\nx  \n\n\ny", False), ("x\ny\n", False), ("x\n y\n", True), ("y\nx\n", True), ("x\n", True)],
)
def test_differs_ignores_blank_lines_and_trailing_space(after: str, expected: bool) -> None:
    assert differs({"a": "x\ny\n"}, {"a": after}) is expected


def test_differs_sees_a_new_file() -> None:
    assert differs({}, {"a": "x\n"})


def test_script_key_ignores_the_name_of_the_called_function() -> None:
    one = "def test_issue():\n    # try\n    print('a')\n\nif __name__ == '__main__':\n    test_issue()\n"
    other = 'def test_12():\n    """Try."""\n    print("a")\n\n\nif __name__ == "__main__": test_12()\n'
    assert script_key("python", "r.py", one) == script_key("python", "r.py", other)
    assert "test_func" in script_key("python", "r.py", one)
    assert script_key("python", "r.py", one) != script_key("python", "r.py", one.replace("'a'", "'b'"))


def test_script_key_of_a_shell_script_is_its_lines() -> None:
    assert script_key("go", "r.sh", "set -e\n\ngo  run .\n") == "set -e\ngo  run ."
