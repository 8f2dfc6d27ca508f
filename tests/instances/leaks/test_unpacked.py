"""Files in files: archives, compressed files, git objects and packs."""

import bz2
import gzip
import lzma
import zlib

import pytest

from assay.instances.leaks.unpacked import loose_object, members, object_id, read_index, read_pack
from toys import Repository, make_archive, make_zip


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_file_holds_its_content(compress) -> None:
    assert list(members("a/b", compress(b"text\n"))) == [("content", b"text\n")]


def test_archives_hold_their_files() -> None:
    files = {"a/one.txt": "1\n", "two": "2\n"}
    assert dict(members("x.tgz", make_archive("top", files))) == {"top/a/one.txt": b"1\n", "top/two": b"2\n"}
    assert dict(members("x.whl", make_zip(files))) == {"a/one.txt": b"1\n", "two": b"2\n"}


@pytest.mark.parametrize(
    "data", [b"", b"text", b"PK\3\4cut off", b"\x1f\x8bcut off", b"PACK\0\0\0\2\0\0\0\1", b"PACK\0\0\0\2\0\0\0\1\x95"]
)
def test_what_is_no_archive_or_is_broken_holds_nothing(data: bytes) -> None:
    assert list(members("a", data)) == []


def test_loose_object_is_read_only_at_its_place() -> None:
    name = object_id(b"blob", b"text\n")
    stored = zlib.compress(b"blob 5\0text\n")
    assert list(members(f"x/{name[:2]}/{name[2:]}", stored)) == [("blob", b"text\n")]
    assert list(members("x/other", stored)) == []
    assert (loose_object(stored), loose_object(b"text")) == ((b"blob", b"text\n"), None)


def test_pack_holds_what_git_says(repository: Repository) -> None:
    for number in range(3):
        (repository.folder / "file").write_text("".join(f"line {each}\n" for each in range(200 + number)))
        repository.commit()
    repository.git("repack", "-a", "-d", "-q")
    listed = repository.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    folder = repository.folder / ".git/objects/pack"
    (index,), (pack,) = folder.glob("*.idx"), folder.glob("*.pack")
    assert sorted(read_index(index.read_bytes())) == sorted(listed)
    found = list(read_pack(pack.read_bytes()))
    whole = {object_id(kind, content) for kind, content in found if kind != b"delta"}
    assert len(found) == len(listed)
    assert whole < set(listed)
    assert repository.git("rev-parse", "HEAD") in whole
    repository.git("bundle", "create", "--quiet", "all.bundle", "--all")
    assert len(list(members("x", (repository.folder / "all.bundle").read_bytes()))) == len(listed)
