import json
from collections.abc import Callable
from pathlib import Path

from changes import change
from rowfiles import lines
from stand_ins import as_row
from toy import make_instances


def test_a_leaked_instance_is_known_by_the_rules_and_by_an_audit_that_was_kept(
    assay: Callable, in_folder: Path
) -> None:
    one, two = map(as_row, make_instances((1, 2)))
    fix = ["    total = left + right", "    if total > limit:", "        total = limit"]
    one |= {"patch": change("calc.py", adds=fix), "problem_statement": "Adding is wrong. Do this:\n" + "\n".join(fix)}
    rows = lines(in_folder, one, two)
    assert assay("evaluate", rows, "--gold", "--run-id", "gold").code == 0
    found = assay("report", "screen", "gold", "--json").json
    assert found["reproaches"]["leaked"]["resolved_ids"] == [one["instance_id"]]
    assert (found["submitted"], found["resolved"]) == (2, 2)
    assert found["not_looked_for"] == ["weak", "old", "refuted", "suspicious", "unclear", "unfair"]
    assert assay("dataset", "audit", rows, "--cutoff", "2030-01-01", "-o", "audit.json").code == 0
    done = assay("report", "screen", "gold", "--audit", "audit.json")
    assert done.code == 0, done.err
    shown = done.out
    assert "leaked" in shown
    assert "not looked for: refuted (assay diff)" in shown
    found = assay("report", "screen", "gold", "--audit", "audit.json", "--json").json
    assert found["reproaches"]["leaked"]["resolved"] == 1


def test_a_wrong_audit_is_one_line(assay: Callable, run: Path) -> None:
    assay("report", "screen", "rows.gold", "--audit", "no.json").refuses("no.json: there is no such file", "-o no.json")
    Path("a.json").write_text("[")
    assay("report", "screen", "rows.gold", "--audit", "a.json").refuses("a.json: is no JSON; write it with")
    Path("a.json").write_text(json.dumps({"dataset": 1}))
    assay("report", "screen", "rows.gold", "--audit", "a.json").refuses("a.json", "field dataset")
