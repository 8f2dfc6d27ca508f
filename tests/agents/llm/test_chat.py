from hypothesis import given
from hypothesis import strategies as st

from assay.agents.llm.chat import TokenUsage

counts = st.integers(0, 10**7)


@given(counts, counts)
def test_unknown_cost_makes_the_sum_unknown(one: int, other: int) -> None:
    known, unknown = TokenUsage(prompt_tokens=one, cost=1.0), TokenUsage(prompt_tokens=other, cost=None)
    assert (known + unknown).cost is None
    assert (known + unknown).tokens == one + other
    assert known + TokenUsage() == known
