"""``assay dataset collect``: the funnel of a collection, as a person sees it."""

from collections.abc import Sequence
from pathlib import Path

from assay.cli import console
from assay.instances.collect.funnel import FunnelPhase


def print_funnel(phases: Sequence[FunnelPhase]) -> None:
    """Print a row for each phase: candidates, kept, and the rules by which the others fell out."""
    rows = [(each.phase, str(each.taken), str(each.kept), each.why) for each in phases]
    console.print_rows(("phase", "candidates", "kept", "fell out"), rows)


def write_picture(path: Path, title: str, phases: Sequence[FunnelPhase]) -> None:
    """Write the funnel as a page of HTML."""
    from assay.harness.files import replace_file
    from assay.viewer.funnel import funnel_page

    replace_file(path, funnel_page(title, phases).encode())
