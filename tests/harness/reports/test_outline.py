from assay.harness.reports.outline import Outline, count_indent


def test_titles_are_those_of_the_open_suites_above() -> None:
    outline = Outline()
    outline.suite(2, "Cart")
    outline.suite(4, "when empty")
    assert outline.titles(6) == ("Cart", "when empty")
    assert outline.titles(4) == ("Cart",)
    outline.suite(2, "Order")
    assert outline.titles(4) == ("Order",)
    outline.close(0)
    assert outline.titles(9) == ()


def test_indent_counts_leading_blanks() -> None:
    assert [count_indent(line) for line in ("", "a", "  a b", "\ta")] == [0, 0, 2, 0]
