import pytest

from assay.harness.languages import find
from assay.harness.languages.inner_tests import put_tests, take_tests

RUST = find("rust")
BASE = """\
#[cfg_attr(test, derive(Debug))]
pub fn a() -> u8 { 1 }

#[cfg(all(feature = "std", test))]
#[allow(dead_code)]
mod tests {
    #[test]
    fn one() { assert_eq!("
}
", super::a()); }
}

#[tokio::test]
async fn two() {}

pub mod deep {
    pub fn b() {}

    #[cfg(test)]
    mod tests { fn four() {} }
}
"""
TESTED = BASE.replace("fn one()", "fn new()").replace("async fn two() {}", "async fn two() { new(); }")


@pytest.mark.parametrize(
    ("theirs", "kept"),
    [
        # the fix stays, whatever else the patch does to tests does not
        (BASE.replace("{ 1 }", "{ 2 }"), TESTED.replace("{ 1 }", "{ 2 }")),
        (BASE.replace("{ 1 }", "{ 2 }").replace("super::a()", "1"), TESTED.replace("{ 1 }", "{ 2 }")),
        (BASE.replace("async fn two() {}", "async fn two() { return; }"), TESTED),
        (BASE.replace("fn four() {}", ""), TESTED),
        (BASE + "#[test]\nfn three() {}", TESTED),
        ("#[cfg(test)]\nmod more { fn two() {} }\n" + BASE, "\n" + TESTED),
    ],
)
def test_a_source_keeps_the_fix_and_gets_the_tests_of_the_test_patch(theirs: str, kept: str) -> None:
    assert take_tests(RUST, BASE, theirs, TESTED) == kept


def test_tests_that_the_patch_removes_come_back_at_the_end() -> None:
    first, _, rest = BASE.partition("#[tokio::test]\nasync fn two() {}\n")
    kept = take_tests(RUST, BASE, first + rest, TESTED)
    assert kept == (first + rest).replace("fn one()", "fn new()") + "\n#[tokio::test]\nasync fn two() { new(); }\n"


@pytest.mark.parametrize(
    ("theirs", "tested"),
    [
        (BASE, TESTED.replace("{ 1 }", "{ 3 }")),  # the test patch changes more than tests
        (BASE.partition("pub mod deep")[0], TESTED),  # the module around a test is gone
    ],
)
def test_a_source_whose_tests_cannot_be_parted_is_none(theirs: str, tested: str) -> None:
    assert take_tests(RUST, BASE, theirs, tested) is None


def test_a_source_can_get_the_tests_of_its_base() -> None:
    assert put_tests(RUST, TESTED.replace("{ 1 }", "{ 2 }"), BASE) == BASE.replace("{ 1 }", "{ 2 }")
