from collections.abc import Callable
from pathlib import Path

from samples import SAMPLES


def test_instances_of_other_dialects_are_shown(assay: Callable, in_folder: Path) -> None:
    listed = assay("dataset", "show", str(SAMPLES / "multi-swe-bench.jsonl"))
    assert "unknown" in listed.out
    one = assay("dataset", "show", str(SAMPLES / "swe-smith.jsonl"), "-i", "acme__clock.bbbbbbbb.lm_rewrite__1")
    assert f"{'b' * 40} with a patch on top" in one.out
