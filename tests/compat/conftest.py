"""The command line in an empty folder with rows, as its own tests have it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import actor, assay, assay_process, predictions, rows

__all__ = ["actor", "assay", "assay_process", "predictions", "rows"]


@pytest.fixture
def lacking(in_folder: Path) -> Callable[[str], str]:
    """Write an engine that has no image of one instance; return its name."""

    def write(instance_id: str) -> str:
        (in_folder / "lacking.py").write_text(
            "from assay.harness.engines.fake import FakeEngine\n"
            "from assay.harness.errors import ImageMissing\n"
            "class Lacking(FakeEngine):\n"
            "    def act_out(self, instance):\n"
            f"        if instance.id == {instance_id!r}:\n"
            "            raise ImageMissing('there is no such image')\n"
            "        return super().act_out(instance)\n"
            "def make(): return Lacking({})\n"
        )
        return "lacking:make"

    return write
