"""Locks of languages whose own files name the packages: the digests of those files.

The language's ordinary client fetches the packages over the base tree, and instances with equal files share the result.
Where no lock file fixes the versions, the instance's date does, as far as the client can look back.
"""

from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path, PurePosixPath

from assay.harness import languages
from assay.harness.domain import Recipe
from assay.instances.toolchains.versions import versions_of
from assay.instances.trees.content import read_tar

DATED = "# as of "
"""Start of the line that is added to a lock whose versions only a date fixes."""


def lock(recipe: Recipe, tree: Path, date: str) -> str:
    """Return the lock of a tree: a line with digest and path for each file that decides which packages are fetched.

    Args:
        recipe: its ``manifests`` are patterns of further files.
        tree: tar of the base tree.
        date: counts where there is no lock file.
    """
    patterns = (*languages.find(recipe.language).MANIFESTS, *recipe.manifests)
    if not patterns:
        return ""
    found = sorted((entry.path, entry.content) for entry in read_tar(tree) if _matches(entry.path, patterns))
    lines = [f"{sha256(content).hexdigest()}  {path}\n" for path, content in found]
    locks = versions_of(recipe.language).locks
    if locks and not any(PurePosixPath(path).name in locks for path, _ in found):
        lines.insert(0, f"{DATED}{date}\n")
    return "".join(lines)


def _matches(path: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(path, pattern) or fnmatchcase(path, f"*/{pattern}") for pattern in patterns)
