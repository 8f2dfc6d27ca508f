"""Trees of partial clones, which lack large files."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from assay.harness.domain import TreeRef
from assay.harness.errors import EnvironmentFailure
from assay.instances.trees.content import read_tar
from assay.instances.trees.sources import Sources, has_commit, tree_key
from toys import Repository

REPO = "owner/name"
LARGE = ("data/large.bin", "data/same.bin")


@pytest.fixture
def commits(repository: Repository) -> tuple[str, str]:
    """An older commit with one large file, and a newer one with two of the same content."""
    repository.git("config", "uploadpack.allowFilter", "true")
    repository.git("config", "uploadpack.allowAnySHA1InWant", "true")
    (repository.folder / "data").mkdir()
    (repository.folder / "small.txt").write_text("a\n")
    (repository.folder / "data/same.bin").write_bytes(b"old" * 1000)
    older = repository.commit()
    for path in LARGE:
        (repository.folder / path).write_bytes(b"new" * 1000)
    return older, repository.commit()


def clone(repository: Repository, to: Path, *options: str) -> Path:
    to.parent.mkdir(parents=True, exist_ok=True)
    repository.git("clone", "--quiet", "--bare", *options, f"file://{repository.folder}", str(to))
    return to


@pytest.fixture
def mirror(repository: Repository, commits: tuple[str, str], tmp_path: Path) -> Path:
    return clone(repository, tmp_path / "mirrors/owner__name", "--filter=blob:limit=1k")


@pytest.fixture
def partial(mirror: Path, tmp_path: Path) -> Sources:
    return Sources([mirror.parent], tmp_path / "cache")


def test_what_a_partial_clone_lacks_is_left_out_and_never_fetched(
    partial: Sources, mirror: Path, commits: tuple[str, str]
) -> None:
    before = sorted(mirror.rglob("*"))
    ref = TreeRef(REPO, commits[1])
    with pytest.raises(EnvironmentFailure, match="its copy is incomplete"):
        partial.tree(ref)
    assert partial.find_lacking(ref) == LARGE
    lacking = replace(ref, lacking=LARGE)
    assert [entry.path for entry in read_tar(partial.tree(lacking))] == ["small.txt"]
    assert partial.paths(lacking) == ["small.txt"]
    assert partial.read_file(lacking, "data/large.bin") is None
    assert sorted(mirror.rglob("*")) == before


def test_a_tree_that_lacks_files_is_named_apart_from_the_whole_one(partial: Sources, commits: tuple[str, str]) -> None:
    trees = [TreeRef(REPO, commits[1], lacking=lacking) for lacking in ((), LARGE[:1], LARGE)]
    keys = [tree_key(each) for each in trees]
    assert not any(one.startswith(other) for one in keys for other in keys if one is not other)
    partial.tree(trees[2])
    with pytest.raises(EnvironmentFailure):
        partial.tree(trees[0])


def test_a_copy_with_more_files_is_preferred(
    repository: Repository, partial: Sources, commits: tuple[str, str], tmp_path: Path
) -> None:
    clone(repository, tmp_path / "whole/owner__name")
    sources = Sources([*partial.mirrors, tmp_path / "whole"], tmp_path / "other")
    assert sources.find_lacking(TreeRef(REPO, commits[1])) == ()
    assert {*LARGE} < {entry.path for entry in read_tar(sources.tree(TreeRef(REPO, commits[1])))}
    shutil.rmtree(tmp_path / "whole")
    kept = Sources(partial.mirrors, tmp_path / "other")  # the whole tree is in this cache
    assert kept.find_lacking(TreeRef(REPO, commits[1])) == ()


def test_changes_between_trees_that_lack_files_say_nothing_of_them(partial: Sources, commits: tuple[str, str]) -> None:
    older, newer = (TreeRef(REPO, commit) for commit in commits)
    assert partial.find_lacking(older) == LARGE[1:]
    changes = partial.changes(replace(older, lacking=LARGE[1:]), replace(newer, lacking=LARGE))
    assert (changes.entries, changes.removed) == ((), ())


def test_a_patch_is_put_on_a_tree_that_lacks_files(partial: Sources, commits: tuple[str, str]) -> None:
    patch = "diff --git a/small.txt b/small.txt\n--- a/small.txt\n+++ b/small.txt\n@@ -1 +1 @@\n-a\n+b\n"
    patched = TreeRef(REPO, commits[1], patch=patch, lacking=LARGE)
    assert [(entry.path, entry.content) for entry in read_tar(partial.tree(patched))] == [("small.txt", b"b\n")]


def test_a_commit_that_only_the_remote_has_is_not_fetched_to_look_for_it(repository: Repository, mirror: Path) -> None:
    later = repository.commit("later")
    assert not has_commit(mirror, later)
    assert repository.git("cat-file", "-t", later) == "commit"


def test_objects_of_a_partial_clone_are_known_to_be_earlier(
    partial: Sources, commits: tuple[str, str], repository: Repository
) -> None:
    ids = [repository.git("rev-parse", f"{commits[1]}:{path}") for path in ("small.txt", LARGE[0])]
    assert partial.later_objects(TreeRef(REPO, commits[1]), [*ids, "1" * 40]) == frozenset({"1" * 40})
