"""Finds the trees of other repositories that a build of C or C++ takes in: submodules, and what CMake fetches."""

from collections.abc import Iterator
from contextlib import suppress

from assay.harness import languages
from assay.harness.domain import TreeDownload, TreeRef
from assay.harness.errors import EnvironmentFailure
from assay.instances.setup.native_manifests import OtherTree, download_path, list_other_trees
from assay.instances.setup.project import Project
from assay.instances.trees.sources import Sources


def find_trees(project: Project, ref: TreeRef, sources: Sources) -> tuple[TreeDownload, ...]:
    """Return the trees that a mirror has or that can be fetched; others are left out."""
    compiled = languages.find(project.language).DOCKERFILES == languages.find("c").DOCKERFILES
    wanted = list_other_trees(project) if compiled else []
    return tuple(_find(wanted, sources.submodules(ref) if wanted else {}, sources))


def _find(wanted: list[OtherTree], submodules: dict[str, str], sources: Sources) -> Iterator[TreeDownload]:
    for tree in filter(lambda each: each.repo, wanted):
        names = (tree.ref, f"v{tree.ref}") if tree.ref else ()
        found = (find(tree.repo, name) for find in (sources.find_commit, sources.find_tag) for name in names)
        commit = submodules.get(tree.path, "") or next(filter(None, found), "")
        with suppress(EnvironmentFailure):
            if commit and sources.tree(TreeRef(tree.repo, commit)):
                yield TreeDownload(path=download_path(tree), repo=tree.repo, commit=commit)
