"""Files are written whole or not at all, whatever ends the writer."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import BaseModel

from assay.harness import files
from assay.harness.errors import DataError


class Point(BaseModel):
    x: int


def test_a_replaced_file_has_the_new_content_and_nothing_stays_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file"
    files.replace_file(path, b"old")
    files.replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(path.parent.iterdir()) == [path]


def test_a_failing_writer_leaves_the_old_content_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(TypeError), files.atomic_file(path) as file:
        file.writelines([b"half", None])  # type: ignore[list-item]
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_being_written_can_be_read_again_but_not_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with files.atomic_file(path) as file:
        file.write(b"all")
        file.seek(0)
        assert file.read() == b"all"
        assert not path.exists()
    assert path.read_bytes() == b"all"


def test_two_writers_of_one_file_both_succeed_and_the_last_one_wins(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with files.atomic_file(path) as first, files.atomic_file(path) as second:
        first.write(b"first")
        second.write(b"second")
    assert path.read_bytes() == b"first"


@pytest.mark.parametrize("content", [None, b'{"x": ', b'{"y": 1}'], ids=["missing", "torn", "of-another-shape"])
def test_a_file_that_is_no_whole_model_reads_as_none(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "point.json"
    if content is not None:
        path.write_bytes(content)
    assert files.read_model(path, Point) is None


def test_models_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "points"
    files.write_file(path, files.json_lines([Point(x=1)]))
    assert files.read_model(path, Point) == Point(x=1)


def test_a_folder_that_is_missing_needs_no_sync(tmp_path: Path) -> None:
    files.sync_folder(tmp_path / "missing")


def test_files_are_found_by_name_whatever_its_case(tmp_path: Path) -> None:
    for name in ("B.txt", "a.txt", "c.txt"):
        files.write_file(tmp_path / name, b"")
    assert [path.name for path in files.find_entries(tmp_path, {"a.txt", "b.txt"})] == ["B.txt", "a.txt"]
    assert list(files.find_entries(tmp_path / "missing", {"a.txt"})) == []


def test_a_lock_is_held_until_its_block_ends(tmp_path: Path) -> None:
    order = []

    def second() -> None:
        with files.hold_lock(tmp_path / "lock"):
            order.append("second")

    with files.hold_lock(tmp_path / "lock"):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(0.05)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_a_link_that_was_made_and_said_to_be_an_error_leaves_the_source_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target, link = tmp_path / "source", tmp_path / "target", os.link
    source.write_bytes(b"evidence")

    def lost(*paths: Path) -> None:
        link(*paths)
        raise OSError("the answer was lost")

    monkeypatch.setattr(files.os, "link", lost)
    monkeypatch.setattr(files.shutil, "copyfile", lambda one, two: Path(two).write_bytes(Path(one).read_bytes()))
    files.link_or_copy(source, target)
    assert (source.read_bytes(), target.read_bytes()) == (b"evidence", b"evidence")
    assert source.stat().st_ino != target.stat().st_ino, "it was never copied onto itself"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source", "target"]


@pytest.mark.parametrize(
    "change",
    [
        lambda top: (top / "room/inner/rules.py").write_text("LIMIT = 2\n"),
        lambda top: (top / "room/new.py").touch(),
        lambda top: (top / "room/inner/rules.py").rename(top / "room/rules.py"),
        lambda top: (top / "alone.py").write_text("LIMIT = 2\n"),
    ],
)
def test_an_edition_changes_with_any_code_that_it_covers(tmp_path: Path, change: Callable[[Path], object]) -> None:
    (tmp_path / "room/inner").mkdir(parents=True)
    for name in ("room/inner/rules.py", "alone.py", "elsewhere.py", "room/notes.txt"):
        (tmp_path / name).write_text("LIMIT = 1\n")
    covered = (tmp_path / "room", tmp_path / "alone.py")
    before = files.hash_code(*covered)
    (tmp_path / "elsewhere.py").unlink()
    (tmp_path / "room/notes.txt").unlink()
    assert files.hash_code(*covered) == before
    change(tmp_path)
    assert files.hash_code(*covered) != before


BOMB = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))


@pytest.mark.parametrize("text", [BOMB, "a: &a [*a]\n"])
def test_yaml_that_grows_without_measure_is_refused(text: str) -> None:
    with pytest.raises(DataError, match=r"x\.yaml: has more than 1,000,000 values"):
        files.parse_yaml(text, "x.yaml")
    assert files.parse_yaml("a: &a [1, 2]\nb: *a\n") == {"a": [1, 2], "b": [1, 2]}


def test_only_a_regular_file_of_a_folder_of_others_is_read(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("{}")
    (tmp_path / "link").symlink_to("real")
    os.mkfifo(tmp_path / "pipe")
    assert files.read_regular(tmp_path / "real") == b"{}"
    for name in ("link", "pipe", ""):
        with pytest.raises(DataError, match="is a link or no regular file"):
            files.read_regular(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        files.read_regular(tmp_path / "none")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"a: 1\nb: [\n", "x.yaml:2: is not YAML"),
        (b"a: \x07\n", "x.yaml: is not YAML"),
        (b"a: 2024-13-40\n", "x.yaml: is not YAML"),
        (b"[" * 9999, "x.yaml"),
        (b"\xff", "x.yaml: cannot be read"),
        (None, "x.yaml: cannot be read: No such file"),
    ],
)
def test_yaml_that_cannot_be_read_names_file_and_line(tmp_path: Path, content: bytes | None, problem: str) -> None:
    file = tmp_path / "x.yaml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(DataError, match=problem) as error:
        files.read_yaml(file)
    assert "\n" not in str(error.value)
