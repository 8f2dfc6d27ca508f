import threading

from assay.harness.patchdiff.progress import Pulse


def test_last_note_is_repeated_until_the_end() -> None:
    told: list[str] = []
    three = threading.Event()

    def tell(text: str) -> None:
        told.append(text)
        if len(told) == 3:
            three.set()

    with Pulse(tell, 0.01) as note:
        note("first")
        note("second")
        assert three.wait(10)
    assert all(text.startswith("second (0 s)") for text in told)
    before = len(told)
    threading.Event().wait(0.05)
    assert len(told) == before


def test_short_or_silent_step_is_not_reported() -> None:
    told: list[str] = []
    with Pulse(told.append, 60) as note:
        note("short")
    with Pulse(told.append, 0.01):
        threading.Event().wait(0.05)
    assert told == []
