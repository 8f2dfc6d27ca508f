import threading

from hypothesis import given
from hypothesis import strategies as st

from assay.harness.engines.caps import CappedOutput, Deadline


@given(st.lists(st.binary(max_size=20)), st.integers(min_value=2, max_value=60))
def test_output_under_the_limit_is_whole_and_over_it_keeps_head_and_tail(chunks: list[bytes], limit: int) -> None:
    output = CappedOutput(limit)
    crossings = sum(output.add(chunk) for chunk in chunks)
    whole = b"".join(chunks)
    kept = limit // 2 * 2
    if len(whole) <= kept:
        assert (output.text(), output.truncated, crossings) == (whole, False, 0)
    else:
        half = limit // 2
        assert output.text().startswith(whole[:half])
        assert output.text().endswith(whole[-half:])
        assert (output.truncated, crossings) == (True, 1)
        assert b"%d bytes" % (len(whole) - kept) in output.text()


def test_deadline_fires_when_its_time_is_up() -> None:
    fired = threading.Event()
    with Deadline(0.01, fired.set) as deadline:
        assert fired.wait(5)
    assert deadline.fired


def test_cancelled_deadline_does_not_fire() -> None:
    fired = threading.Event()
    with Deadline(0.05, fired.set) as deadline:
        deadline.cancel()
    assert not fired.wait(0.15)
    assert not deadline.fired
