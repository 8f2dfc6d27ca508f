from hypothesis import given
from hypothesis import strategies as st

from assay.harness.fences import fenced, find_blocks, shortened


@given(st.text("a`~\n ", max_size=60), st.sampled_from(["", "python", "diff"]))
def test_fence_is_longer_than_any_in_its_text(text: str, info: str) -> None:
    (block,) = find_blocks(fenced(text, info))
    assert block == (info, f"{text}\n")


@given(st.text(max_size=200), st.integers(1, 100))
def test_long_text_is_cut_in_the_middle(text: str, most: int) -> None:
    cut = shortened(text, most)
    if len(text) <= most:
        assert cut == text
    else:
        head, _, tail = cut.partition(f"\n[... {len(text) - most} characters left out ...]\n")
        assert len(head) + len(tail) == most
        assert text.startswith(head)
        assert text.endswith(tail)
