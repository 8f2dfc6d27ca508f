import pytest

from assay.harness.patches.spelling import fold, plain
from tables import read_tables

TABLES = read_tables(__file__)


@pytest.mark.parametrize("path", TABLES["what_cannot_be_seen_is_left_out"])
def test_what_cannot_be_seen_is_left_out(path: str) -> None:
    assert plain(path) == "tests/conftest.py"


def test_composed_and_decomposed_characters_are_one() -> None:
    assert plain("t\u0065\u0301st.py") == plain("t\u00e9st.py")


def test_case_is_kept_by_the_first_and_not_by_the_second() -> None:
    assert plain("Conftest.py") == "Conftest.py"
    assert fold("CONFTEST.PY.") == fold("conftest.py")
    assert fold("stra\u00dfe") == fold("STRASSE")


@pytest.mark.parametrize("path", ["src/calc.py", "a/./b", "docs/ä.txt", ".hidden"])
def test_ordinary_path_stays(path: str) -> None:
    assert plain(path) == path


INVISIBLE = [
    *(0x0000, 0x001F, 0x007F, 0x009F, 0x00AD, 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x200B, 0x2060),
    *(0x3164, 0xFE00, 0xFE0F, 0xFEFF, 0xFFA0, 0xE0000, 0xE0001, 0xE0100, 0xE0FFF),
]
SEEN = [0x0020, 0x007E, 0x034E, 0x0350, 0x115E, 0x1161, 0x17B3, 0x17B6, 0xFE10, 0xFDFF, 0xDFFFF, 0xE1000, 0x10000]


@pytest.mark.parametrize("code", INVISIBLE)
def test_invisible_character_is_left_out(code: int) -> None:
    assert plain(f"a{chr(code)}b") == "ab"


@pytest.mark.parametrize("code", SEEN)
def test_character_that_is_seen_stays(code: int) -> None:
    assert plain(f"a{chr(code)}b") != "ab"
