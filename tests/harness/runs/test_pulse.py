import threading

from assay.harness.runs.pulse import pulse


def test_last_note_is_repeated_until_the_end() -> None:
    shown: list[str] = []
    three = threading.Event()

    def tell(text: str) -> None:
        shown.append(text)
        if len(shown) == 3:
            three.set()

    with pulse(tell, 0.01) as note:
        note("first")
        note("second")
        assert three.wait(10)
    assert all(text.startswith("second (0 s)") for text in shown)
    before = len(shown)
    threading.Event().wait(0.05)
    assert len(shown) == before


def test_short_or_silent_step_is_not_reported() -> None:
    shown: list[str] = []
    with pulse(shown.append, 60) as note:
        note("short")
    with pulse(shown.append, 0.01):
        threading.Event().wait(0.05)
    assert shown == []
