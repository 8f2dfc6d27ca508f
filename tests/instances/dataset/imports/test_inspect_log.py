import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import prediction_sources as sources
from assay.harness.errors import DataError, PluginError, UserError
from assay.instances.dataset.imports import import_predictions, inspect_log
from prediction_sources import patch, sample

NAME = "a__b-1"


def found_in(path: Path, **changes: object) -> str | None:
    [each] = inspect_log.attempts(sources.json_log(path / "log.json", sample(NAME, 1, **changes)))
    return each.patch


FOUND = patch(NAME)


@pytest.mark.parametrize(
    ("wanted", "changes"),
    [
        (FOUND, {}),
        (FOUND, {"scores": {"mine": {"value": "C", "metadata": {"model_patch": FOUND}}, "other": {"value": 0}}}),
        (FOUND, {"scores": None, "metadata": {"model_patch": FOUND, "patch": "gold"}}),
        (FOUND, {"scores": {}, "store": {"model_patch": FOUND}}),
        (FOUND, {"scores": {}, "output": {"completion": FOUND}}),
        (FOUND, {"scores": {}, "output": {"completion": "attachment://ab"}, "attachments": {"ab": FOUND}}),
        (FOUND, {"scores": {}, "output": {"completion": f"I changed x.\n\n```diff\n{FOUND}```\nDone."}}),
        # what is no patch is no prediction
        (None, {"scores": {}}),
        (None, {"scores": {}, "metadata": {"patch": "diff --git the gold patch is never taken"}}),
        (None, {"scores": {}, "output": {"completion": "```diff\nx\n```\n```diff\ny\n```"}}),
        (None, {"scores": {}, "output": None}),
        (None, {"scores": {"s": {"metadata": {"model_patch": inspect_log.UNREADABLE[0]}}}}),
        (None, {"scores": {"s": {"metadata": {"model_patch": 3}}}}),
        # an empty patch is one
        ("", {"scores": {"s": {"metadata": {"model_patch": ""}}}}),
    ],
)
def test_the_patch_is_found_wherever_a_task_keeps_it(
    tmp_path: Path, wanted: str | None, changes: dict[str, Any]
) -> None:
    assert found_in(tmp_path, **changes) == wanted


def test_an_error_is_the_reason_for_a_missing_patch(tmp_path: Path) -> None:
    failed = sample("a__b-2", scores={}, error={"message": "sandbox died\nat line 3", "traceback": ""})
    found = import_predictions(sources.archive(tmp_path / "l.eval", sample(NAME), failed))
    assert "a__b-2: no patch (sandbox died) (" in found.notes[0]


def test_scores_with_different_patches_are_refused(tmp_path: Path) -> None:
    scores = {name: {"metadata": {"model_patch": patch(name)}} for name in ("one", "two")}
    with pytest.raises(DataError, match=r"scores.\*.metadata.model_patch: scores hold different patches"):
        found_in(tmp_path, scores=scores)


def test_what_is_no_log_says_so(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="field samples: is missing"):
        import_predictions(sources.write(tmp_path / "l.json", '{"version": 2, "status": "success", "eval": {}}'))
    with pytest.raises(DataError, match=r"without header.json; give a log of Inspect"):
        import_predictions(sources.packed(tmp_path / "l.zip", {"a.txt": "x"}))


BOMB = r"samples/a__b-1_epoch_1.json\): unpacks to more than 1 MiB; give .* rows"


@pytest.mark.parametrize(
    ("compression", "says_bytes", "said"),
    [
        (sources.ZSTANDARD, None, BOMB),
        (zipfile.ZIP_DEFLATED, None, BOMB),
        (zipfile.ZIP_BZIP2, None, BOMB),
        (sources.ZSTANDARD, 10, "is larger than 1 MiB; give"),
        (zipfile.ZIP_DEFLATED, 10, "not a whole zip archive: Bad CRC-32"),
    ],
)
def test_a_bomb_is_refused_and_one_whose_header_lies_is_read_to_the_limit_only(
    tmp_path: Path, compression: int, says_bytes: int | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = sample(NAME, note="0" * 3 * 1024**2)
    path = sources.archive(tmp_path / "l.eval", bomb, compression=compression, says_bytes=says_bytes)
    monkeypatch.setattr(inspect_log, "MEMBER_BYTES", 1024**2)
    with pytest.raises(DataError, match=said):
        import_predictions(path)


def test_many_large_members_are_refused_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = sources.archive(tmp_path / "l.eval", sample(NAME), sample("a__b-2"))
    monkeypatch.setattr(inspect_log, "ARCHIVE_BYTES", 500)
    with pytest.raises(DataError, match="unpacks to more than"):
        import_predictions(path)


@pytest.mark.parametrize("compression", [sources.ZSTANDARD, zipfile.ZIP_DEFLATED])
def test_a_changed_byte_is_found(tmp_path: Path, compression: int) -> None:
    path = sources.archive(tmp_path / "l.eval", sample(NAME), compression=compression)
    with zipfile.ZipFile(path) as archive:
        place = archive.getinfo("samples/a__b-1_epoch_1.json").header_offset + 150
    content = bytearray(path.read_bytes())
    content[place] ^= 0x10
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"cannot be decompressed|is damaged|not a whole zip archive"):
        import_predictions(path)


def test_members_are_never_written_to_disk(tmp_path: Path) -> None:
    members = {"header.json": sources.header(), "../../escaped.json": {}, "samples/../../x.json": {"id": "x"}}
    (tmp_path / "a").mkdir()
    path = sources.packed(tmp_path / "a/l.eval", members)
    with pytest.raises(UserError, match="no prediction"):
        import_predictions(path)
    assert [each.name for each in tmp_path.rglob("*")] == ["a", "l.eval"]


def test_the_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = sources.archive(tmp_path / "l.eval", sample(NAME))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(PluginError, match=r"pip install 'assay-bench\[inspect\]', or .* inspect log convert"):
        import_predictions(path)


def test_a_sample_may_name_its_own_model(tmp_path: Path) -> None:
    log = sources.json_log(tmp_path / "l.json", sample(NAME, metadata={"model_name_or_path": "org/m"}))
    assert import_predictions(log).predictions[0].model == "org/m"
