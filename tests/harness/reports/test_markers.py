import pytest

from assay.harness.reports.markers import cut_fenced, is_cut

START, END = ">>>>> Start Test Output\n", ">>>>> End Test Output\n"


@pytest.mark.parametrize(
    ("text", "inner", "cut"),
    [
        (f"before\n{START}a\n{END}after\n", "\na\n", False),
        (f"+ : '{START.strip()}'\na\n+ : '{END.strip()}'\n", "\na\n", False),
        (f"{START}a\n{END}b\n{END}", f"\na\n{END}b\n", False),
        (f"{START}a\n{START}b\n{END}", f"\na\n{START}b\n", False),
        (f"{START}a\n", f"{START}a\n", True),
        (f"a\n{END}", f"a\n{END}", False),
        (f"{END}a\n{START}", f"{END}a\n{START}", False),
        (f"echo {START}a\n", f"echo {START}a\n", False),
        (f"x+ : '{START.strip()}'\na\nx+ : '{END.strip()}'\n", "\na\nx", False),
        (f"x {START}{START}a\nwords + : '{END.strip()}'\n", "\na\nwords", False),
        (f"{START}a\nwords{END}", "\na\nwords", False),
        (f"{START}: '{END.strip()}'\na\n", f"{START}: '{END.strip()}'\na\n", True),
    ],
)
def test_text_between_first_start_and_last_end(text: str, inner: str, cut: bool) -> None:
    assert cut_fenced(text) == inner
    assert is_cut(text) == cut
