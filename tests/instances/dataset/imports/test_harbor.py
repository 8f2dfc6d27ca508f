import os
import shutil
from pathlib import Path

import pytest

import prediction_sources as sources
from assay.harness.errors import DataError, UserError
from assay.instances.dataset.imports import harbor, import_predictions


def test_a_trial_without_a_patch_is_noted_with_its_reason(tmp_path: Path) -> None:
    job = sources.job(tmp_path)
    sources.trial(job, "a__b-3__x", "a__b-3", exception_info={"exception_type": "AgentTimeoutError"})
    sources.write(job / "a__b-4__x/config.json", '{"trial_name": "a__b-4__x", "task": {"path": "tasks/a__b-4"}}')
    found = import_predictions(job)
    assert len(found.predictions) == 2
    assert [note.partition(" (/")[0] for note in found.notes] == [
        "a__b-3: no patch (AgentTimeoutError)",
        "a__b-4: no patch; write it to /logs/artifacts/model.patch and name that among the task's artifacts",
    ]


def test_an_empty_patch_is_a_prediction(tmp_path: Path) -> None:
    one = sources.trial(tmp_path, "t", "a__b-1")
    sources.write(one / "artifacts/model.patch", "")
    assert import_predictions(tmp_path).predictions[0].patch == ""
    assert import_predictions(one).predictions[0].patch == ""


@pytest.mark.parametrize(
    ("files", "taken"),
    [
        (["verifier/model.patch", "agent/model.patch"], "verifier/model.patch"),
        (["artifacts/tmp/agent.patch", "verifier/test.patch"], "artifacts/tmp/agent.patch"),
        (["artifacts/out/mine.diff"], "artifacts/out/mine.diff"),
        (["artifacts/a.diff", "artifacts/patch.diff"], "artifacts/patch.diff"),
        (["artifacts/model.patch", "artifacts/patch.diff"], "artifacts/model.patch"),
        (["verifier/test.patch", "agent/gold.diff"], ""),
    ],
)
def test_the_patch_is_the_one_of_a_usual_name_or_the_only_artifact(
    tmp_path: Path, files: list[str], taken: str
) -> None:
    one = sources.trial(tmp_path, "t", "a__b-1")
    for name in files:
        sources.write(one / name, name)
    found = list(harbor.attempts(tmp_path))
    assert [each.patch for each in found] == [taken or None]


def test_several_patches_are_refused(tmp_path: Path) -> None:
    one = sources.trial(tmp_path, "t", "a__b-1")
    for name in ("a.diff", "b.diff"):
        sources.write(one / "artifacts" / name, name)
    with pytest.raises(
        DataError, match=r"several patches \(artifacts/a.diff, artifacts/b.diff\); keep one, named model"
    ):
        import_predictions(tmp_path)


def test_a_link_out_of_the_job_is_not_followed(tmp_path: Path) -> None:
    one = sources.trial(tmp_path / "job", "t", "a__b-1")
    (one / "artifacts").mkdir()
    (one / "artifacts/model.patch").symlink_to(sources.write(tmp_path / "secret", "private"))
    (one / "verifier").symlink_to(tmp_path)
    os.mkfifo(one / "artifacts/patch.diff")
    assert [each.patch for each in harbor.attempts(tmp_path / "job")] == [None]


def test_a_patch_that_is_no_utf8_is_noted_and_a_surrogate_kept(tmp_path: Path) -> None:
    for number, content in enumerate((b"caf\xe9", b"\xed\xa0\x80"), start=1):
        one = sources.trial(tmp_path, f"t{number}", f"a__b-{number}")
        sources.write(one / "artifacts/model.patch", "").write_bytes(content)
    found = import_predictions(tmp_path)
    assert found.predictions[0].patch == "\ud800"
    assert "a__b-1: its patch is not UTF-8 text" in found.notes[0]


def test_a_patch_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harbor, "PATCH_BYTES", 1024**2)
    with sources.write(sources.trial(tmp_path, "t", "a") / "artifacts/model.patch", "").open("wb") as file:
        file.truncate(1024**2 + 1)
    with pytest.raises(DataError, match=r"model.patch: is larger than 1 MiB"):
        import_predictions(tmp_path)


def test_trials_of_one_task_are_attempts_in_the_order_of_their_start(tmp_path: Path) -> None:
    for name, hour in (("z", "09"), ("a", "10")):
        one = sources.trial(tmp_path, name, "org/A__b-1", started_at=f"2026-11-20T{hour}:00:00Z")
        sources.write(one / "artifacts/model.patch", name)
    with pytest.raises(UserError, match="2 attempts"):
        import_predictions(tmp_path)
    assert [import_predictions(tmp_path, number).predictions[0].patch for number in (1, 2)] == ["z", "a"]


def test_a_folder_of_several_jobs_names_them(tmp_path: Path) -> None:
    job = sources.job(tmp_path)
    assert import_predictions(job.parent) == import_predictions(job)
    shutil.copytree(job, job.with_name("later"))
    with pytest.raises(UserError, match=f"folder of 2 Harbor jobs; name one of them: {job.name}, later"):
        import_predictions(job.parent)


@pytest.mark.parametrize("task", [None, 3, ""])
def test_a_wrong_task_name_names_file_and_field(tmp_path: Path, task: object) -> None:
    one = sources.trial(tmp_path, "t", "a", task_name=task)
    with pytest.raises(DataError) as caught:
        import_predictions(tmp_path)
    assert (caught.value.file, caught.value.field) == (str(one / "result.json"), "task_name")
