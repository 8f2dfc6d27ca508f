"""Files of answers: what is read of them, and what is refused."""

from pathlib import Path

import pytest

from annotated import grade, judge, write
from assay.harness.errors import DataError, UserError
from assay.jobs.annotate import Annotator, merge_files, read_annotations


def test_the_last_answer_about_a_subject_counts(tmp_path: Path) -> None:
    path = write(tmp_path / "anna.jsonl", grade(1), judge(1, "right"), grade(1, clarity=3))
    assert read_annotations(path) == (grade(1, clarity=3), judge(1, "right"))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "anna.jsonl:2: is no JSON"),
        ("[]", "anna.jsonl:2: is no annotation"),
        ('{"instance_id": "a-1", "patch": "x"}', "anna.jsonl:2: is no annotation"),
        (grade(1).model_dump_json().replace('"clarity":0', '"clarity":4'), "anna.jsonl:2: field clarity"),
        (grade(1).model_dump_json().replace('"15 min - 1 hour"', '"soon"'), "anna.jsonl:2: field difficulty"),
        (judge(1, "right").model_dump_json().replace('"right"', '"fine"'), "anna.jsonl:2: field verdict"),
    ],
)
def test_a_line_that_is_no_answer_is_named(line: str, problem: str, tmp_path: Path) -> None:
    path = write(tmp_path / "anna.jsonl", grade(1))
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(DataError, match=problem):
        read_annotations(path)


def test_an_answer_is_on_the_disk_and_is_known_again(tmp_path: Path) -> None:
    path = tmp_path / "anna.jsonl"
    Annotator(path).add(grade(1))
    again = Annotator(path)
    assert again.name == "anna"
    assert again.find(("acme__calc-1",)) == grade(1)
    assert again.find(("acme__calc-2",)) is None


def test_a_file_that_is_nobodys_own_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds answers of ben"):
        Annotator(write(tmp_path / "anna.jsonl", grade(1, "ben")))
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"instance_id": "a-1"}\n')
    with pytest.raises(UserError, match="is no annotation"):
        Annotator(rows)
    with pytest.raises(UserError, match=r"must end in \.jsonl"):
        Annotator(tmp_path / "notes.txt")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "elsewhere.jsonl")
    with pytest.raises(UserError, match="is a link"):
        Annotator(tmp_path / "link.jsonl")
    assert not (tmp_path / "elsewhere.jsonl").exists()


def test_files_of_one_person_or_of_several_are_not_merged(tmp_path: Path) -> None:
    anna, again = write(tmp_path / "anna.jsonl", grade(1)), write(tmp_path / "again.jsonl", grade(2))
    both, empty = write(tmp_path / "both.jsonl", grade(1, ("anna", "ben"))), write(tmp_path / "empty.jsonl")
    for paths, problem in (
        ([anna, again], "is by anna, as another"),
        ([anna, both], "several people"),
        ([anna, empty], "holds no answer"),
        ([anna, tmp_path / "no.jsonl"], "there is no such file"),
    ):
        with pytest.raises(UserError, match=problem):
            merge_files(paths)
