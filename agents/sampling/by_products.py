"""Files of a patch that look like by-products. They are reported and never removed: the patch is graded as it is."""

from fnmatch import fnmatchcase

from assay.harness import languages
from assay.harness.errors import UserError
from assay.harness.patches.diff import MalformedPatchError, find_added_paths, find_touched_paths

NEW = (
    "reproduce*", "repro_*", "repro.*", "*_repro.*", "debug_*", "test_fix*", "verify_*", "check_fix*", "tmp_*",
    "temp_*", "scratch*", "*.log", "*.out", "*.tmp", "*.bak", "*.orig", "*.rej", "*.swp", "*~", "*.patch", "*.diff",
    "*.pyc", ".coverage", "coverage.xml", "nohup.out", ".DS_Store", "core",
)  # fmt: skip
"""Name patterns of files that are by-products if a patch adds them."""
FOLDERS = ("__pycache__", "node_modules", ".pytest_cache", ".mypy_cache", ".tox", ".venv", "htmlcov")
"""Folders that never hold source."""


def find_by_products(patch: str, language: str) -> tuple[str, ...]:
    """Return the paths in a patch that look like by-products, in order; empty for a malformed patch."""
    try:
        added = find_added_paths(patch)
        products = languages.find(language).BUILD_PRODUCTS
        return tuple(path for path in find_touched_paths(patch) if _is_junk(path, path in added, products))
    except (MalformedPatchError, UserError):
        return ()


def _is_junk(path: str, is_new: bool, products: tuple[str, ...]) -> bool:
    *folders, name = path.split("/")
    if not set(folders).isdisjoint(FOLDERS) or any(fnmatchcase(path.lower(), each) for each in products):
        return True
    is_at_top = not folders
    return is_new and any(fnmatchcase(name, each) for each in (*NEW, *(("test_*",) if is_at_top else ())))
