"""By-products that a patch should not bring along. They are told and never taken out: graded is what was made."""

from fnmatch import fnmatchcase

from assay.harness import languages
from assay.harness.errors import UserError
from assay.harness.patches.gate import MalformedPatchError, added_paths, touched_paths

NEW = (
    "reproduce*", "repro_*", "repro.*", "*_repro.*", "debug_*", "test_fix*", "verify_*", "check_fix*", "tmp_*",
    "temp_*", "scratch*", "*.log", "*.out", "*.tmp", "*.bak", "*.orig", "*.rej", "*.swp", "*~", "*.patch", "*.diff",
    "*.pyc", ".coverage", "coverage.xml", "nohup.out", ".DS_Store", "core",
)  # fmt: skip
"""Names of files that are by-products if a patch adds them."""
FOLDERS = ("__pycache__", "node_modules", ".pytest_cache", ".mypy_cache", ".tox", ".venv", "htmlcov")
"""Folders whose content is never source."""


def junk(patch: str, language: str) -> tuple[str, ...]:
    """Return the paths of a patch that look like by-products, in order; nothing for a patch that cannot be read."""
    try:
        added = added_paths(patch)
        products = languages.find(language).BUILD_PRODUCTS
        return tuple(path for path in touched_paths(patch) if _is_junk(path, path in added, products))
    except (MalformedPatchError, UserError):
        return ()


def _is_junk(path: str, is_new: bool, products: tuple[str, ...]) -> bool:
    *folders, name = path.split("/")
    if not set(folders).isdisjoint(FOLDERS) or any(fnmatchcase(path.lower(), each) for each in products):
        return True
    is_at_top = not folders
    return is_new and any(fnmatchcase(name, each) for each in (*NEW, *(("test_*",) if is_at_top else ())))
