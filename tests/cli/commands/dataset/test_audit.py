import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from changes import change
from histories import begin
from stand_ins import as_row
from toy import FIXED, make_instance

STATEMENT = "Adding is wrong\n\n```python\nadd(1, 2)\n```\nI expect 3, and would {}."
FIX = ["    total = left + right", "    if total > limit:", "        total = limit", "    return round(total)"]


@pytest.fixture
def data(in_folder: Path) -> Path:
    """Three instances: the first tells its solution, the second imports what nobody knows, the third is sound."""
    changes = (
        {"id": "acme__calc-1", "problem_statement": STATEMENT.format(f"`{FIX[0].strip()}`, `{FIX[1].strip()}`")},
        {
            "id": "acme__calc-2",
            "gold_patch": change("calc.py", adds=["def add_all(numbers):"]),
            "test_patch": change("tests/test_calc.py", adds=["from calc import add_all", "def test_add():"]),
        },
        {"id": "acme__calc-3"},
    )
    common = {"problem_statement": STATEMENT.format("change that"), "gold_patch": change("calc.py", adds=FIX)}
    rows = [as_row(make_instance(**{**common, **each})) for each in changes]
    path = in_folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_findings_are_counted_and_told_with_their_evidence(assay: Callable, data: Path) -> None:
    done = assay("dataset", "audit", "rows.jsonl")
    assert done.code == 0, done.err
    assert "acme__calc-1: solution_in_issue (fault): most lines: the issue holds 2 of 3 distinctive lines" in done.out
    assert "    total = left + right [in the text: I expect 3, and would `total = left + right`" in done.out
    assert "acme__calc-2: undetermined (fault)" in done.out
    assert "33.3%" in done.out
    assert done.out.endswith("3 instances of rows: 2 at fault, 0 in doubt, 1 neither\n")


def test_a_mirror_says_where_a_name_is_stated(assay: Callable, data: Path) -> None:
    repository = begin(data.parent / "work", {"notes.md": "One day: add_all for lists.\n"})
    rows = [json.loads(line) for line in data.read_text().splitlines()]
    rows[1]["base_commit"] = repository.git("rev-parse", "HEAD")
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    mirror = data.parent / "mirrors" / rows[1]["repo"].replace("/", "__")
    repository.git("clone", "--quiet", "--bare", str(repository.folder), str(mirror))
    done = assay("dataset", "audit", "rows.jsonl", "-i", "acme__calc-2", "--mirror", "mirrors", "--json")
    (found,) = [each for each in done.json["findings"] if each["kind"] in {"determined", "undetermined"}]
    assert (found["kind"], found["severity"]) == ("determined", "note")
    stated = {key: found["demands"][0][key] for key in ("stated", "file", "line", "quote")}
    assert stated == {"stated": "tree", "file": "notes.md", "line": 1, "quote": "One day: add_all for lists."}


def test_strict_tells_by_its_exit_status(assay: Callable, data: Path) -> None:
    assert assay("dataset", "audit", "rows.jsonl", "--strict").code == 4
    assert assay("dataset", "audit", "rows.jsonl", "--strict", "-i", "acme__calc-3").code == 0
    assert assay("dataset", "audit", "rows.jsonl", "--strict", "--kind", "no_reproduction").code == 0
    done = assay("dataset", "audit", "rows.jsonl", "--strict", "-i", "acme__calc-3", "--cutoff", "2024-01-31")
    assert (done.code, "issue_before_cutoff (note): made 2023-01-02" in done.out) == (0, True)


def test_json_holds_every_finding(assay: Callable, data: Path) -> None:
    shown = assay("dataset", "audit", "rows.jsonl", "--json", "--cutoff", "2020-01-31").json
    assert (shown["dataset"], shown["instances"], shown["mutants"]) == ("rows", 3, {})
    assert [(each["instance_id"], each["kind"], each["severity"]) for each in shown["findings"]] == [
        ("acme__calc-1", "solution_in_issue", "fault"),
        ("acme__calc-1", "issue_after_cutoff", "note"),
        ("acme__calc-2", "undetermined", "fault"),
        ("acme__calc-2", "issue_after_cutoff", "note"),
        ("acme__calc-3", "issue_after_cutoff", "note"),
    ]
    assert shown["findings"][0]["share"] == pytest.approx(2 / 3)
    assert len(shown["findings"][0]["evidence"]) == 2


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (("--kind", "leak"), "'leak' is no kind of finding; known are broken_patch"),
        (("--stability", "no.json"), "no.json: cannot be read"),
        (("--null-run", "none"), "there is no run 'none'"),
        (("--cutoff", "soon"), "a date such as 2023-09-30"),
    ],
)
def test_wrong_input_is_one_line(assay: Callable, data: Path, args: tuple[str, str], part: str) -> None:
    assay("dataset", "audit", "rows.jsonl", *args).refuses(part)


def test_records_of_both_controls_are_looked_at(assay: Callable, data: Path) -> None:
    record = {"instance_id": "acme__calc-3", "gold": ["resolved"] * 2, "null": ["unresolved", "resolved"]}
    Path("s.json").write_text(json.dumps({"instances": [record, {**record, "instance_id": "acme__other-1"}]}))
    done = assay(
        "dataset", "audit", "rows.jsonl", "--kind", "weak_tests", "--stability", "s.json", "--json", "--strict"
    )
    assert done.code == 4
    assert [(each["instance_id"], each["evidence"]) for each in done.json["findings"]] == [
        ("acme__calc-3", ["unresolved", "resolved"])
    ]


def test_a_run_without_patches_shows_weak_tests(assay: Callable, data: Path, actor: Callable) -> None:
    engine = actor({FIXED: [True]})
    assert assay("evaluate", "rows.jsonl", "--null", "--run-id", "empty", "--engine", engine).code == 0
    assert assay("evaluate", "rows.jsonl", "--gold", "--run-id", "full").code == 0
    args = ("dataset", "audit", "rows.jsonl", "--kind", "weak_tests", "--null-run")
    found = assay(*args, "empty", "--json").json["findings"]
    assert [(each["instance_id"], each["severity"]) for each in found] == [
        (f"acme__calc-{number}", "fault") for number in (1, 2, 3)
    ]
    assay(*args, "full").refuses("no verdict on an empty patch")


def test_mutants_that_no_test_notices(assay: Callable, data: Path, actor: Callable) -> None:
    # what test_add says: with the gold patch, without any, with the first mutant and with the second
    engine = actor({FIXED: [True, False, True, False]})
    args = ("dataset", "audit", "rows.jsonl", "-i", "acme__calc-3", "--mutants", "2", "-j", "1")
    shown = assay(*args, "--engine", engine, "--json").json
    assert [each["outcome"] for each in shown["mutants"]["acme__calc-3"]] == ["resolved", "unresolved"]
    (found,) = shown["findings"]
    assert (found["kind"], found["severity"], found["share"]) == ("weak_tests", "doubt", 0.5)
    assert found["evidence"] == ["negate condition in calc.py: if total > limit: -> if not (total > limit):"]

    again = assay(*args, "--engine", engine)
    assert again.err.count("known already") == 4
    assert "acme__calc-3: mutants of the gold patch: 1 resolved, 1 unresolved" in again.out
    more = assay(*args[:-4], "--mutants", "3", "--engine", engine)
    assert more.err.count("known already") == 4
    assert Path("runs/rows.audit-mutant-3").is_dir()


def test_an_instance_that_fails_its_controls_has_no_mutants(assay: Callable, data: Path, actor: Callable) -> None:
    engine = actor({FIXED: [False, True]})
    args = ("dataset", "audit", "rows.jsonl", "-i", "acme__calc-3", "--mutants", "2", "--strict")
    done = assay(*args, "--engine", engine, "--json")
    assert (done.code, done.json["mutants"]) == (4, {})
    assert [each["kind"] for each in done.json["findings"]] == ["weak_tests", "gold_fails"]


def test_what_cannot_be_run_is_said(assay: Callable, data: Path) -> None:
    Path("broken.py").write_text(
        "from assay.harness.engines.fake import FakeEngine\n\n"
        "class Empty(FakeEngine):\n    def act_out(self, instance): return 'nothing'\n\n"
        "def make(): return Empty({})\n"
    )
    done = assay("dataset", "audit", "rows.jsonl", "-i", "acme__calc-3", "--mutants", "2", "--engine", "broken:make")
    assert (done.code, "acme__calc-3: no mutants, since its gold patch ended in" in done.err) == (3, True), done.err


@pytest.mark.docker
@pytest.mark.network
def test_mutants_in_real_containers(in_folder: Path) -> None:
    name = "andialbrecht__sqlparse-0.4.4"
    args = ("dataset", "audit", "releases", "-i", name, "--mutants", "2", "--timeout", "300", "--json")
    command = [sys.executable, "-m", "assay", *args]
    done = subprocess.run(command, capture_output=True, text=True, cwd=in_folder, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    judged = json.loads(done.stdout)["mutants"][name]
    assert [each["outcome"] for each in judged] == ["unresolved", "unresolved"]
    assert len({each["mutant"] for each in judged}) == 2
