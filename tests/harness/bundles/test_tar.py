"""Members are written in one way, and nothing else is read; other tools unpack the archive."""

import io
import os
import tarfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.bundles.tar import (
    BLOCK,
    END,
    MEMBER_BYTES,
    DamagedBundle,
    header,
    member_name,
    read_members,
    write_member,
)
from assay.harness.errors import DataError

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=300).filter(
    lambda name: name not in {".", ".."}
)


def archive(files: dict[str, bytes]) -> io.BytesIO:
    packed = io.BytesIO()
    for name, content in files.items():
        write_member(packed, name, len(content), iter((content,)))
    packed.write(END)
    packed.seek(0)
    return packed


@given(st.dictionaries(NAMES, st.binary(max_size=1200), max_size=5))
def test_what_was_written_is_read_and_unpacked_by_tar(files: dict[str, bytes]) -> None:
    named = {member_name(f"run/{name}"): content for name, content in files.items()}
    packed = archive(named)
    assert {each.name: each.read(2000) for each in read_members(packed)} == named
    packed.seek(0)
    with tarfile.open(fileobj=packed) as tar:
        unpacked = {each.name: tar.extractfile(each) for each in tar}
        assert {name: file.read() for name, file in unpacked.items() if file} == named


@given(st.sets(NAMES, min_size=2))
def test_different_paths_have_different_names_of_printable_ascii(paths: set[str]) -> None:
    names = {member_name(path) for path in paths}
    assert len(names) == len(paths)
    assert all(name.isascii() and name.isprintable() for name in names)


def test_a_path_of_any_bytes_has_a_name() -> None:
    assert member_name(os.fsdecode(b"line\nend \xff%\\")) == "line%0Aend %FF%25%5C"


def test_a_member_that_is_not_read_is_skipped() -> None:
    assert [each.name for each in read_members(archive({"a": b"x" * 5000, "b": b"y"}))] == ["a", "b"]


def test_what_another_tool_packed_is_refused_with_the_name_of_its_member(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        tar.add(tmp_path / "a", "a")
    packed.seek(0)
    with pytest.raises(DamagedBundle, match="a: its header is not as it was written"):
        list(read_members(packed))


@pytest.mark.parametrize("place", [*range(0, BLOCK, 7)])
def test_a_changed_byte_of_a_header_is_seen(place: int) -> None:
    content = bytearray(archive({"some/name": b"x" * 10}).getvalue())
    content[place] ^= 4
    with suppress(DamagedBundle):
        assert [each.name for each in read_members(io.BytesIO(bytes(content)))] != ["some/name"]


def test_a_sparse_or_compressed_member_is_refused() -> None:
    for kind in b"7", b"S", b"g", b"L":
        content = bytearray(archive({"name": b"x"}).getvalue())
        content[156:157] = kind
        with pytest.raises(DamagedBundle):
            list(read_members(io.BytesIO(bytes(content))))


def test_a_file_that_changes_while_it_is_packed_is_an_error() -> None:
    with pytest.raises(DataError, match="a: changed while it was packed"):
        write_member(io.BytesIO(), "a", 3, iter((b"xxxx",)))


def test_a_file_larger_than_a_header_can_say_is_an_error() -> None:
    with pytest.raises(DataError, match="at most 8 GiB"):
        write_member(io.BytesIO(), "a", MEMBER_BYTES + 1, iter(()))
    assert len(header("a", MEMBER_BYTES)) == BLOCK
