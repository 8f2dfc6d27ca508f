import json
from collections.abc import Callable
from pathlib import Path

from annotated import grade, judge, write
from rowfiles import lines
from stand_ins import as_row
from toy import make_instances


def test_two_files_are_merged_with_the_agreement_on_each_scale(assay: Callable, in_folder: Path) -> None:
    write(Path("anna.jsonl"), grade(1), grade(2, clarity=2), judge(1, "right"))
    write(Path("ben.jsonl"), grade(1, "ben"), grade(2, "ben"), judge(1, "right", "ben"))
    done = assay("report", "agree", "anna.jsonl", "ben.jsonl", "-o", "people.jsonl")
    assert done.code == 0, done.err
    assert "3 answers of 2 people in people.jsonl" in done.out
    assert [line.split() for line in done.out.splitlines() if line.startswith("clarity")] == [
        ["clarity", "anna", "and", "ben", "2", "1", "0.00", "(0.00", "to", "0.00)"]
    ]
    merged = [json.loads(line) for line in Path("people.jsonl").read_text().splitlines()]
    assert [each["by"] for each in merged] == [["anna", "ben"]] * 3
    assert assay("report", "agree", "anna.jsonl", "ben.jsonl", "--json").json["answers"] == 3


def test_a_wrong_file_is_one_line_and_no_file_of_a_person_is_overwritten(assay: Callable, in_folder: Path) -> None:
    write(Path("anna.jsonl"), grade(1))
    assay("report", "agree", "anna.jsonl", "no.jsonl").refuses("no.jsonl: there is no such file", "--annotate no.jsonl")
    assay("report", "agree", "anna.jsonl", "-o", "./anna.jsonl").refuses("none of the files that are merged")
    write(Path("ben.jsonl"), grade(2, "ben"))
    assert "has answers of two people" in assay("report", "agree", "anna.jsonl", "ben.jsonl").out
    assay("report", "agree", "anna.jsonl", "anna.jsonl").refuses("is by anna, as another")


def test_a_subset_reads_what_people_say(assay: Callable, in_folder: Path) -> None:
    rows = lines(in_folder, *map(as_row, make_instances((1, 2, 3))))
    write(Path("people.jsonl"), grade(1), grade(2, tests=3), grade(3, difficulty=">4 hours"))
    ask = ("dataset", "select", rows, "-o", "part.jsonl", "--people", "people.jsonl", "--json")
    assert assay(*ask, "--sound", "--by", "level").json["strata"] == {"medium": 1, "hard": 1}
    assert assay(*ask, "--sound", "--difficulty", "hard").json["rows"] == 1
    assert json.loads(Path("part.jsonl").read_text())["instance_id"] == "acme__calc-3"
    assert assay(*ask, "--difficulty", "15 min - 1 hour").json["rows"] == 2
    assay("dataset", "select", rows, "-o", "part.jsonl", "--sound").refuses("--sound needs --people FILE")
