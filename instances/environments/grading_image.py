"""The image in which a patch that changes manifests is graded: an instance's image and further packages. Pure.

An instance's own image, the only one that solvers see, has the packages for which the base commit asks. Every patch is
tested with the packages for which the test patch asks, too. A patch that changes manifests is also tested with the gold
patch's, and any other is not: a later version of a package could be all of the fix.
"""

from assay.harness.domain import ImageSpec, Instance, PatchedCommit, PublishedImage, Recipe
from assay.harness.engines.base import LABEL
from assay.harness.patches.diff import drop_binary_hunks, find_touched_paths
from assay.instances.environments.image_specs import Packages, content_hash, fetch_files, find_cache_owner
from assay.instances.environments.pins.manifest_lock import decides_packages
from assay.instances.toolchains.buildfiles import build_text
from assay.instances.trees.sources import tree_ref


def patch_base(instance: Instance, recipe: Recipe, patch: str | None) -> Instance | None:
    """Return a copy of the instance whose base tree has the patched manifests; None if they are unchanged.

    The test patch counts for every patch, the gold patch only for a patch that changes manifests itself. Without a
    patch nothing is graded. A published image is as it is.
    """
    if patch is None:
        return None
    asking = [*([instance.gold_patch] if _asks(patch, recipe) else []), instance.test_patch]
    counted = [drop_binary_hunks(each).rstrip("\n") for each in asking if _asks(each, recipe)]
    if not counted or isinstance(instance.environment, PublishedImage):
        return None
    tree = tree_ref(instance)
    patched = "".join(f"{each}\n" for each in (tree.patch.rstrip("\n"), *counted) if each)
    return instance.model_copy(update={"base": PatchedCommit(commit=tree.commit, patch=patched)})


def make_grading_spec(asking: Instance, recipe: Recipe, parent: str, packages: Packages) -> ImageSpec:
    """Describe an image with further packages over ``parent``, the instance's own.

    ``asking`` is the instance over its patched tree, in which packages are fetched; only its lock counts for the name.
    """
    dockerfile = build_text("grading.Dockerfile").replace("@PARENT@", parent)
    files = {"grading.sh": build_text("grading.sh"), **fetch_files(recipe), **packages.files}
    return ImageSpec(
        name=f"assay/grading:{content_hash(dockerfile, '', files)}",
        dockerfile=dockerfile,
        parent=parent,
        files={**files, **packages.bounds},
        tree=tree_ref(asking),
        fetches=True,
        labels={f"{LABEL}.kind": "grading", f"{LABEL}.repo": asking.repo},
        unnamed=frozenset(packages.bounds),
        caches=find_cache_owner(asking),
    )


def _asks(patch: str, recipe: Recipe) -> bool:
    """Return whether a patch changes files that decide which packages are fetched."""
    return any(decides_packages(path, recipe) for path in find_touched_paths(patch)) if patch.strip() else False
