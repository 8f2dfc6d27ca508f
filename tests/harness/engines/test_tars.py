import io
import tarfile

from assay.harness.engines.tars import pack_tar


def test_an_archive_has_its_folders_before_its_files() -> None:
    with tarfile.open(fileobj=io.BytesIO(pack_tar({"a/x": "ü", "a/y": b"\0"}, ["a"]))) as tar:
        assert [(each.name, each.isdir(), oct(each.mode)) for each in tar] == [
            ("a", True, "0o755"), ("a/x", False, "0o644"), ("a/y", False, "0o644"),
        ]  # fmt: skip
        assert tar.extractfile("a/x").read() == "ü".encode()  # type: ignore[union-attr]
