"""The package ``probe`` as one file that any Python from 3.6 on can run."""

import io
import zipfile
from functools import cache
from importlib import resources

MAIN = "from assay_probe.__main__ import main\nmain()\n"
TIME = (1980, 1, 1, 0, 0, 0)


@cache
def probe_archive() -> bytes:
    """Return the zipapp: ``python probe.pyz COMMAND JOB.json OUT.jsonl``. The same sources give the same bytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:  # stored, since a project's Python may lack zlib
        archive.writestr(zipfile.ZipInfo("__main__.py", TIME), MAIN)
        for file in sorted(resources.files("assay.harness.patchdiff.probe").iterdir(), key=lambda each: each.name):
            if file.name.endswith(".py"):
                archive.writestr(zipfile.ZipInfo(f"assay_probe/{file.name}", TIME), file.read_bytes())
    return content.getvalue()
