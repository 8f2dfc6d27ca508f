import io
import os
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.domain import TreeRef
from assay.harness.errors import EnvironmentFailure
from assay.instances.trees.content import (
    EXECUTABLE,
    FILE,
    LINK,
    SUBMODULE,
    TreeEntry,
    archive_entries,
    commit_entries,
    read_tar,
    store_entries,
    write_tar,
)
from assay.instances.trees.sources import git_env, run_git
from toys import make_archive, make_zip

TOP = "example.org/calc/v2@v2.0.1"
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0/\\@"), min_size=1, max_size=8)
PATHS = st.lists(NAMES.filter(lambda name: name not in {".", ".."}), min_size=1, max_size=3).map("/".join)
TREES = st.dictionaries(PATHS, st.binary(max_size=20), min_size=1, max_size=5)


def written(folder: Path, content: bytes) -> Path:
    path = folder / "release.tar"
    path.write_bytes(content)
    return path


@given(TREES)
def test_tar_and_zip_of_one_tree_give_the_same_entries(
    tmp_path_factory: pytest.TempPathFactory, tree: dict[str, bytes]
) -> None:
    folder = tmp_path_factory.mktemp("archive")
    tar = list(archive_entries(written(folder, make_archive("calc-1", {f"{path}.x": tree[path] for path in tree}))))
    packed = make_zip({f"{TOP}/{path}.x": content for path, content in tree.items()})
    assert list(archive_entries(written(folder, packed))) == tar
    assert {entry.path: entry.content for entry in tar} == {f"{path}.x": tree[path] for path in tree}


@given(st.lists(st.tuples(st.sampled_from([FILE, EXECUTABLE]), st.binary(max_size=9)), max_size=4))
def test_entries_written_to_a_tar_are_read_back_equal(
    tmp_path_factory: pytest.TempPathFactory, files: list[tuple[int, bytes]]
) -> None:
    entries = [TreeEntry(f"{number}/f", mode, content) for number, (mode, content) in enumerate(files)]
    entries += [TreeEntry("link", LINK, b"0/f"), TreeEntry("vendored", SUBMODULE, b"")]
    path = tmp_path_factory.mktemp("tree") / "tree.tar"
    with path.open("wb") as file:
        write_tar(entries, file)
    assert list(read_tar(path)) == entries


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({f"{TOP}/../../../evil": ""}, "leave its folder"),
        ({f"{TOP}/a/../../evil": ""}, "leave its folder"),
        ({f"/{TOP}/evil": ""}, "leave its folder"),
        ({f"{TOP}//evil": ""}, "leave its folder"),
        ({f"{TOP}/..\\evil": ""}, "leave its folder"),
        ({f"{TOP}/a": "", "example.org/other@v1/b": ""}, "2 top folders"),
        ({"go.mod": ""}, "in no top folder"),
        ({}, "unpacked"),
    ],
)
def test_a_module_archive_with_a_path_outside_its_folder_is_refused(
    tmp_path: Path, files: dict[str, str], problem: str
) -> None:
    with pytest.raises(EnvironmentFailure, match=problem) as caught:
        list(archive_entries(written(tmp_path, make_zip(files))))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("top", ["calc-1", TOP])
def test_an_archive_with_corrupt_content_is_an_environment_failure(tmp_path: Path, top: str) -> None:
    noise = subprocess.run(["git", "--version"], capture_output=True, check=True).stdout * 50
    packed = make_zip({f"{top}/a": noise}) if "@" in top else make_archive(top, {"a": noise})
    broken = bytearray(packed)
    broken[len(broken) // 2 - 20 : len(broken) // 2] = b"\xff" * 20
    with pytest.raises(EnvironmentFailure, match="cannot be unpacked"):
        list(archive_entries(written(tmp_path, bytes(broken))))


def test_a_tar_that_ends_in_a_zip_is_a_tar(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        content = make_zip({"a@1/evil": ""})
        member = tarfile.TarInfo("calc-1/data.zip")
        member.size = len(content)
        tar.addfile(member, io.BytesIO(content))
    path = written(tmp_path, packed.getvalue()[: 512 + len(content)] + bytes(1024))
    assert zipfile.is_zipfile(path)
    assert [entry.path for entry in archive_entries(path)] == ["data.zip"]


def test_archive_gives_no_path_that_git_refuses(tmp_path: Path) -> None:
    files = {"data/.git": "gitdir: ../x\n", "data/.GIT/config": "", "data/.gitignore": "x\n", "a.git/b": "", "a": "1\n"}
    entries = list(archive_entries(written(tmp_path, make_archive("calc-1", files))))
    assert [entry.path for entry in entries] == ["a", "a.git/b", "data/.gitignore"]
    store_entries(entries, tmp_path / "stored", dict(os.environ))


@pytest.mark.parametrize("is_replaced", [True, False])
def test_a_repository_gives_no_content_but_that_of_the_ids(tmp_path: Path, is_replaced: bool) -> None:
    folder, entries = tmp_path / "git", [TreeEntry("a", FILE, b"honest"), TreeEntry("b", FILE, b"forged")]
    commit = store_entries(entries, folder, git_env())
    ids = [
        run_git(f"--git-dir={folder}", "rev-parse", f"{commit}:{each.path}").stdout.decode().strip() for each in entries
    ]
    if is_replaced:
        run_git(f"--git-dir={folder}", "replace", *ids)
        assert list(commit_entries(folder, TreeRef("", commit), git_env())) == entries
        return
    old, new = (folder / "objects" / each[:2] / each[2:] for each in ids)
    new.replace(old)
    with pytest.raises(EnvironmentFailure, match="has other content than its name says"):
        list(commit_entries(folder, TreeRef("", commit), git_env()))
