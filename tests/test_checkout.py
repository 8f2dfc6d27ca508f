"""A checkout without symbolic links, as Windows and downloads of a zip file make it."""

import runpy
import shutil
from pathlib import Path

import pytest

import assay


def test_the_package_names_the_remedy_where_links_are_files(tmp_path: Path) -> None:
    copy = Path(shutil.copy(assay.__file__, tmp_path))
    assert runpy.run_path(str(copy))["__version__"] == assay.__version__
    (tmp_path / "harness").write_text("../../harness")
    with pytest.raises(ImportError, match=r"pip install \.`.*`git config core\.symlinks true`"):
        runpy.run_path(str(copy))
