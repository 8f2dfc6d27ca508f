"""An ensemble over files of predictions, in containers: members, choice and coverage in one table."""

import json
from pathlib import Path

import pytest

from assay.instances.dataset.load import load
from assay.jobs.workbench import make_sources
from front_door import run
from solving.known import FLASK, SLAB

pytestmark = [pytest.mark.docker, pytest.mark.network, pytest.mark.xdist_group("solving")]

NOTE = "diff --git a/NOTE b/NOTE\nnew file mode 100644\n--- /dev/null\n+++ b/NOTE\n@@ -0,0 +1 @@\n+{}\n"


def test_an_ensemble_reaches_what_its_best_members_do(in_folder: Path) -> None:
    gold = {
        each.id: each.gold_patch for each in load("releases", ids=[FLASK.id, SLAB.id], sources=make_sources()).instances
    }
    members = {
        "a": {FLASK.id: gold[FLASK.id], SLAB.id: NOTE.format("a")},
        "b": {FLASK.id: gold[FLASK.id], SLAB.id: gold[SLAB.id]},
        "c": {FLASK.id: NOTE.format("c"), SLAB.id: NOTE.format("c")},
    }
    for name, patches in members.items():
        rows = ({"instance_id": each, "model_name_or_path": name, "model_patch": patches[each]} for each in patches)
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ensemble = ("--agent", "best_of", "--set", "candidates=a.jsonl,b.jsonl,c.jsonl", "--set", "selector=vote")
    asked = ("solve", "releases", "-i", FLASK.id, "-i", SLAB.id, *ensemble, "--evaluate-candidates", "--json")
    done = run(in_folder, *asked, ASSAY_ENGINE="docker")
    assert done.code == 0, done.err
    found = done.json["coverage"]
    assert found["sources"] == [
        {"source": "b", "tried": 2, "resolved": 2},
        {"source": "a", "tried": 2, "resolved": 1},
        {"source": "c", "tried": 2, "resolved": 0},
    ]
    # Of the other instance the three patches differ: the shortest, which fixes nothing, is chosen.
    assert (found["solutions"], found["chosen"], found["covered"]) == (2, 1, 2)
    assert found["random"] == pytest.approx(1.0)
