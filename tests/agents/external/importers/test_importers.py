from pathlib import Path

import pytest

from assay.agents.external.importers import IMPORTERS, import_file, import_trajectory
from assay.harness.errors import UserError


@pytest.mark.parametrize("format_name", IMPORTERS)
@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"{", b"[]", b'{"steps": []}', b"[1]", b'{"trajectory": []}'])
def test_other_content_raises_with_the_format(format_name: str, content: bytes) -> None:
    with pytest.raises(UserError) as error:
        import_trajectory(format_name, content, "a.file")
    assert str(error.value).startswith("a.file: ")
    assert f"not a trajectory in the format {format_name}" in str(error.value)
    assert "\n" not in str(error.value)


def test_unknown_format_and_missing_file_raise(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="known are atif, claude_stream, codex_json, mini, sweagent"):
        import_trajectory("aider", b"", "x")
    with pytest.raises(UserError, match="missing cannot be read"):
        import_file("mini", tmp_path / "missing")


@pytest.mark.parametrize(
    "content", [b"[" * 100_000, b'[{"role": "assistant", "content": "x", "extra": {"timestamp": 1e300}}]']
)
def test_hostile_content_raises_user_error(content: bytes) -> None:
    with pytest.raises(UserError, match=r"a\.file: this is not a trajectory"):
        import_trajectory("mini", content, "a.file")
