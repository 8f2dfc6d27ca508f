"""Locks of languages whose own files name the packages: the digests of those files.

The language's ordinary client fetches the packages over the base tree, and instances with equal files share the result.
Where no lock file fixes the versions, the instance's date does, as far as the client can look back.
"""

from hashlib import sha256
from pathlib import Path, PurePosixPath

from assay.harness import languages
from assay.harness.domain import Recipe
from assay.harness.languages.base import is_manifest
from assay.instances.toolchains.versions import load_versions
from assay.instances.trees.content import read_tar

DATED = "# as of "
"""Start of the line that is added to a lock whose versions only a date fixes."""


def make_manifest_lock(recipe: Recipe, tree: Path, date: str) -> str:
    """Return the lock of a tree: a line with digest and path for each file that decides which packages are fetched.

    ``tree`` is the tar of the base tree; the date counts where there is no lock file.
    """
    if not _patterns(recipe):
        return ""
    found = sorted((entry.path, entry.content) for entry in read_tar(tree) if decides_packages(entry.path, recipe))
    lines = [f"{sha256(content).hexdigest()}  {path}\n" for path, content in found]
    locks = load_versions(recipe.language).locks
    if locks and not any(PurePosixPath(path).name in locks for path, _ in found):
        lines.insert(0, f"{DATED}{date}\n")
    return "".join(lines)


def decides_packages(path: str, recipe: Recipe) -> bool:
    return is_manifest(path, _patterns(recipe))


def _patterns(recipe: Recipe) -> tuple[str, ...]:
    return (*languages.find(recipe.language).MANIFESTS, *recipe.manifests, *recipe.requirements)
