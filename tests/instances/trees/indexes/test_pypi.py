import json
import os
from pathlib import Path

import pytest

from assay.harness.domain import Archive
from assay.instances.trees.indexes import WrongArchive, pypi
from toys import Index


def test_the_index_of_pips_settings_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith(("UV_", "PIP_"))]:
        monkeypatch.delenv(name)
    (tmp_path / "pip.conf").write_text("[global]\nindex-url = http://mirror.example/simple/\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    assert pypi.index_url() == "http://mirror.example/simple"
    monkeypatch.setenv("PIP_INDEX_URL", "http://other.example/simple")
    assert pypi.index_url() == "http://other.example/simple"


def test_the_json_form_of_an_index_is_read() -> None:
    files = [{"filename": "toy-1.0.tar.gz", "url": "../x/toy-1.0.tar.gz", "hashes": {"sha256": "ab"}}]
    links = pypi._read_json(json.dumps({"meta": {"api-version": "1.0"}, "files": files}))
    assert [(link.filename, link.url, link.sha256) for link in links] == [
        ("toy-1.0.tar.gz", "../x/toy-1.0.tar.gz", "ab")
    ]


def test_a_version_that_the_index_lacks_is_a_wrong_archive(index: Index) -> None:
    index.add("toy", "1.0", {"a.py": ""})
    with pytest.raises(WrongArchive, match=r"no source archive of toy 1\.1") as caught:
        pypi.find_link(Archive(name="toy", version="1.1", sha256="0" * 64))
    assert caught.value.field == "version"


def test_a_file_of_any_kind_is_found_by_its_hash(index: Index) -> None:
    name, digest = "toy-1.0-py3-none-any.whl", "ab" * 32
    index.links["toy"] = [f'<a href="../../files/{name}#sha256={digest}">{name}</a>']
    source = index.add("toy", "1.0", {"a.py": ""})
    assert pypi.find_link(source).filename == "toy-1.0.tar.gz"
    assert pypi.find_link(source.model_copy(update={"sha256": digest})).filename == name
