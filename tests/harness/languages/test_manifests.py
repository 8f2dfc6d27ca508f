"""What of a build file steers tests: an attack changes it, an honest change does not."""

import pytest

from assay.harness.languages import find
from tables import read_tables

FILE = read_tables(__file__)


def list_cases(kind: str) -> list[tuple[str, ...]]:
    texts = [(each, each.get("text") or FILE["texts"][each["named"]]) for each in FILE[kind]]
    return [(each["language"], each["path"], text, *change) for each, text in texts for change in each["changes"]]


@pytest.mark.parametrize(("language", "path", "text", "old", "new"), list_cases("stays"))
def test_what_a_fix_may_need_does_not_steer(language: str, path: str, text: str, old: str, new: str) -> None:
    assert old in text
    part = find(language).steering_part
    assert part(path, text) == part(path, text.replace(old, new, 1))


@pytest.mark.parametrize(("language", "path", "text", "old", "new"), list_cases("steers"))
def test_what_decides_about_tests_steers(language: str, path: str, text: str, old: str, new: str) -> None:
    assert old in text
    part = find(language).steering_part
    assert part(path, text) != part(path, text.replace(old, new, 1))


def test_a_file_of_any_depth_or_length_is_answered() -> None:
    deep = "[" * 100_000
    assert find("javascript").steering_part("package.json", deep) == deep
    assert find("rust").steering_part("Cargo.toml", f"a = {deep}") == f"a = {deep}"
    many = f"<project>{'<a>' * 30_000}{'</a>' * 30_000}</project>"
    assert find("java").steering_part("pom.xml", many) == many
