import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import prediction_sources as sources
from assay.harness.domain import DatasetRef, Prediction
from assay.harness.errors import AssayError, DataError, UserError
from assay.harness.runs.manifest import Run
from assay.harness.runs.store import RunStore
from assay.instances.dataset.imports import IMPORTS, import_predictions
from assay.instances.dataset.predictions import prediction_rows
from exported_json import damaged

NAMES = ("a__b-1", "a__b-2")


def expected(model: str) -> tuple[Prediction, ...]:
    return tuple(Prediction(instance_id=name, model=model, patch=sources.patch(name)) for name in NAMES)


def rows(model: str = "m") -> str:
    made = ({"instance_id": name, "model_name_or_path": model, "model_patch": sources.patch(name)} for name in NAMES)
    return "".join(json.dumps(row) + "\n" for row in made)


def assay_run(folder: Path, **settings: str) -> Path:
    run = Run(id="r", dataset=DatasetRef(name="d"), model="m", started="now", assay_version="1", settings=settings)
    RunStore(folder).save_run(run, expected("m"))
    return folder


def test_every_kind_of_source_gives_the_same_predictions(tmp_path: Path) -> None:
    samples = [sources.sample(name) for name in NAMES]
    sb_cli = json.dumps({name: {"model_name_or_path": "m", "model_patch": sources.patch(name)} for name in NAMES})
    found = {
        "openai/gpt-x": [
            sources.archive(tmp_path / "log.eval", *samples),
            sources.archive(tmp_path / "old.eval", *samples, compression=8),
            sources.json_log(tmp_path / "log.json", *samples),
        ],
        "mini.openai/gpt": [sources.job(tmp_path)],
        "m": [
            assay_run(tmp_path / "run"),
            sources.write(tmp_path / "20261120_m/all_preds.jsonl", rows()).parent,
            sources.write(tmp_path / "mini/preds.json", sb_cli).parent,
            sources.write(tmp_path / "p.jsonl", rows()),
            sources.write(tmp_path / "p.json", sb_cli),
        ],
    }
    for model, places in found.items():
        for place in places:
            assert import_predictions(place).predictions == expected(model), place
            assert import_predictions(place).notes == ()


def test_each_kind_is_recognised_by_one_import_only(tmp_path: Path) -> None:
    places = [
        assay_run(tmp_path / "run"),
        sources.job(tmp_path),
        sources.write(tmp_path / "e/all_preds.jsonl", rows()).parent,
        sources.archive(tmp_path / "log.bin", sources.sample("a__b-1")),
    ]
    first = [next(each.NAME for each in IMPORTS if each.recognises(place)) for place in places]
    assert first == [each.NAME for each in IMPORTS[: len(places)]]


def test_a_folder_of_no_known_kind_names_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"without run.json \(Assay\), all_preds.jsonl or .* name the file of predictions"
    ):
        import_predictions(tmp_path)
    with pytest.raises(UserError, match="no such file"):
        import_predictions(tmp_path / "nothing")


@pytest.mark.parametrize("place", ["20261120_m/preds.json", "evaluation/lite/20261120_m/all_preds.jsonl"])
def test_a_submission_is_found_below_the_folder_that_was_exported(tmp_path: Path, place: str) -> None:
    sources.write(
        tmp_path / place, rows() if place.endswith("l") else json.dumps([*map(json.loads, rows().splitlines())])
    )
    assert import_predictions(tmp_path).predictions == expected("m")
    sources.write(tmp_path / place.replace("_m", "_n"), rows())
    with pytest.raises(UserError, match="holds 2 submissions; name the folder of one of them: 20261120_m, 20261120_n"):
        import_predictions(tmp_path)


def test_the_files_of_a_submission_s_languages_are_read_together(tmp_path: Path) -> None:
    for language, row in zip(("java", "go"), rows().splitlines(), strict=True):
        sources.write(tmp_path / f"evaluation/{language}/verified/20261120_m/all_preds.jsonl", row)
    found = import_predictions(tmp_path).predictions
    assert sorted(found, key=lambda each: each.instance_id) == list(expected("m"))


def test_several_attempts_need_a_choice(tmp_path: Path) -> None:
    log = sources.archive(tmp_path / "l.eval", *(sources.sample("a__b-1", epoch) for epoch in (1, 2)))
    with pytest.raises(UserError, match=r"has 2 attempts at a__b-1; take one .* --attempt 1"):
        import_predictions(log)
    assert len(import_predictions(log, 2).predictions) == 1
    with pytest.raises(UserError, match="no prediction"):
        import_predictions(log, 3)


def test_an_instance_without_the_chosen_attempt_is_noted(tmp_path: Path) -> None:
    samples = [sources.sample("a__b-1"), sources.sample("a__b-1", 2), sources.sample("a__b-2")]
    found = import_predictions(sources.json_log(tmp_path / "l.json", *samples), 2)
    assert [each.instance_id for each in found.predictions] == ["a__b-1"]
    assert found.notes == ("a__b-2: has no attempt 2",)


def test_the_same_attempt_twice_is_refused(tmp_path: Path) -> None:
    log = sources.json_log(tmp_path / "l.json", sources.sample("a__b-1"), sources.sample("A__b-1"))
    with pytest.raises(DataError, match=r"sample 2\): A__b-1: is there twice"):
        import_predictions(log)


@pytest.mark.parametrize("name", ["../x", "a/b", "a..b", "a\\b"])
def test_an_id_that_names_a_path_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="no instance id"):
        import_predictions(sources.json_log(tmp_path / "l.json", sources.sample(name), {"id": []}))


def test_a_source_without_any_patch_is_an_error_with_the_reason(tmp_path: Path) -> None:
    job = sources.job(tmp_path)
    for folder in job.glob("*/artifacts"):
        shutil.rmtree(folder)
    with pytest.raises(UserError, match="has no prediction, such as a__b-1: no patch; write it to /logs/artifacts"):
        import_predictions(job)


def test_samples_of_a_solver_are_attempts(tmp_path: Path) -> None:
    folder = assay_run(tmp_path / "solved", kind="solve")
    (folder / "predictions.jsonl").unlink()
    with pytest.raises(UserError, match="no predictions yet; repeat its command"):
        import_predictions(folder)
    sources.write(folder / "preds.jsonl", rows("one"))
    assert import_predictions(folder).predictions == expected("one")
    for number in (1, 10, 2):
        sources.write(folder / f"preds.{number}.jsonl", rows(f"sample {number}"))
    with pytest.raises(UserError, match="4 attempts"):
        import_predictions(folder)
    assert import_predictions(folder, 3).predictions == expected("sample 2")
    assert import_predictions(folder, 4).predictions == expected("sample 10")


def test_the_mark_of_an_oracle_comes_with_the_run_and_each_of_its_files(tmp_path: Path) -> None:
    folder = assay_run(tmp_path / "run", oracle="gold_patch, hints")
    assert marks_of(folder) == {"gold_patch, hints"}
    sources.write(folder / "preds.jsonl", rows())
    assert marks_of(folder / "preds.jsonl") == {"gold_patch, hints"}
    assert marks_of(sources.write(tmp_path / "p.jsonl", rows())) == {""}


def test_the_mark_of_an_oracle_stays_with_rows_that_are_copied(tmp_path: Path) -> None:
    marked = Prediction(instance_id="acme__calc-1", model="replay", patch="x", oracle="hints")
    (tmp_path / "rows.jsonl").write_text(prediction_rows([marked]))
    (tmp_path / "predictions.jsonl").write_text(marked.model_dump_json() + "\n")
    assert marks_of(tmp_path / "rows.jsonl") == marks_of(tmp_path / "predictions.jsonl") == {"hints"}


def marks_of(source: Path) -> set[str]:
    return {each.oracle for each in import_predictions(source).predictions}


def test_a_torn_line_of_a_run_names_file_and_line(tmp_path: Path) -> None:
    folder = assay_run(tmp_path / "run")
    with (folder / "predictions.jsonl").open("a") as file:
        file.write('{"instance_id": "a__b-3", "pat')
    with pytest.raises(DataError) as caught:
        import_predictions(folder)
    assert (caught.value.file, caught.value.line) == (str(folder / "predictions.jsonl"), 3)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"{", b"[" * 100_000, b"PK\x03\x04 and no more", b"\0" * 1000])
@pytest.mark.parametrize(
    "name", ["p.json", "p.jsonl", "p.eval", "job/result.json", "run/run.json", "e/all_preds.jsonl"]
)
def test_damaged_sources_are_errors_of_a_person(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    with pytest.raises(AssayError) as caught:
        import_predictions(tmp_path / name.partition("/")[0])
    assert "\n" not in str(caught.value)


@given(data=st.data())
def test_no_damage_to_a_record_is_a_traceback(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    job = sources.job(folder)
    log = sources.json_log(folder / "log.json", sources.sample("a__b-1", output={"completion": "x"}))
    result = job / "a__b-1__Ab3dE5g" / "result.json"
    for path in (result, log):
        path.write_text(json.dumps(data.draw(damaged(json.loads(path.read_text())))))
    for source in (job, log):
        try:
            found = import_predictions(source)
        except AssayError as error:
            assert "\n" not in str(error)  # noqa: PT017
        else:
            assert all(isinstance(each, Prediction) for each in found.predictions)
