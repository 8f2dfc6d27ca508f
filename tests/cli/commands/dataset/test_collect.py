import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.instances.dataset.load import load
from histories import calc

pytestmark = pytest.mark.slow

COLLECT = ("dataset", "collect", "acme/calc", "--mirror", "mirrors", "-o", "out")
PAPER = ("--only", "find", "--only", "pair", "--only", "filter")


@pytest.fixture(autouse=True)
def mirrors(in_folder: Path) -> Path:
    calc(in_folder / "mirrors/acme__calc")
    return in_folder / "mirrors"


def lines(phase: str, folder: str = "out") -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(folder, f"{phase}.jsonl").read_text().splitlines()]


def test_the_funnel_counts_who_fell_out_by_which_rule(assay: Callable) -> None:
    done = assay(*COLLECT, *PAPER)
    assert done.code == 0, done.err
    _, *rows, last = done.out.splitlines()
    assert [line.split() for line in rows] == [
        ["find", "5", "3", "1", "reference,", "1", "root"],
        ["pair", "3", "3"],
        ["filter", "3", "2", "1", "code"],
    ]
    assert last == "Picture: out/funnel.html"
    assert "3 of 5" in Path("out/funnel.html").read_text()


def test_every_candidate_that_falls_out_keeps_its_reason(assay: Callable) -> None:
    assay(*COLLECT, *PAPER)
    fell = [each for phase in ("find", "pair", "filter") for each in lines(phase) if "rule" in each]
    assert {each["rule"]: each["reason"] for each in fell} == {
        "root": "it has no parent",
        "reference": "its message names no pull request and closes no issue",
        "code": "it changes no code of python",
    }


def test_the_same_clones_and_dates_give_the_same_files(assay: Callable) -> None:
    for folder in ("one", "two"):
        assay(*COLLECT[:-1], folder, *PAPER, "--since", "2024-03-02")
    for phase in ("find", "pair", "filter"):
        assert Path("one", f"{phase}.jsonl").read_bytes() == Path("two", f"{phase}.jsonl").read_bytes()


def test_a_later_call_continues_without_naming_repositories_and_dates(assay: Callable) -> None:
    assay(*COLLECT, "--only", "find", "--since", "2024-03-02", "--until", "2024-03-03")
    done = assay("dataset", "collect", "--mirror", "mirrors", "-o", "out", "--only", "pair", "--json")
    assert done.code == 0, done.err
    assert done.json["phases"][-1] == {"phase": "pair", "taken": 1, "kept": 1, "dropped": {}}


def test_a_pair_that_is_there_is_not_made_again(assay: Callable, mirrors: Path) -> None:
    assay(*COLLECT, *PAPER)
    before = Path("out/pair.jsonl").read_bytes()
    Path("out/pair.jsonl").write_bytes(before + b'{"id": "torn')
    mirrors.rename("elsewhere")
    mirrors.mkdir()
    done = assay("dataset", "collect", "--mirror", "mirrors", "-o", "out", "--only", "pair")
    assert done.code == 0, done.err
    assert Path("out/pair.jsonl").read_bytes() == before


def test_a_change_that_could_not_be_had_is_tried_again(assay: Callable) -> None:
    assay(*COLLECT, *PAPER)
    Path("out/pair.jsonl").write_text('{"id": "acme__calc-3", "rule": "not here", "reason": "no mirror"}\n')
    done = assay(*COLLECT, *PAPER, "--json")
    assert done.json["phases"][1] == {"phase": "pair", "taken": 3, "kept": 3, "dropped": {}}


def test_other_dates_need_another_folder(assay: Callable) -> None:
    assay(*COLLECT, *PAPER)
    assay(*COLLECT, "--since", "2024-03-02").refuses(
        "out is a collection of acme/calc from the beginning to today; give the same"
    )


def test_a_folder_that_is_no_collection_is_left_alone(assay: Callable) -> None:
    Path("out").mkdir()
    Path("out/thesis.tex").write_text("")
    assert "out holds something else" in assay(*COLLECT).err
    assert "out is no collection" in assay("dataset", "collect", "-o", "out").err


def test_a_phase_has_to_exist(assay: Callable) -> None:
    assay(*COLLECT, "--only", "filtre").refuses("--only 'filtre' is no phase; did you mean filter?")


def test_only_changes_in_a_language_that_is_named_are_kept(assay: Callable) -> None:
    assert assay(*COLLECT, *PAPER, "--language", "go").code == 4
    assert {each["reason"] for each in lines("filter")} == {"its language is python"}
    assert assay(*COLLECT, *PAPER, "--language", "python").code == 0
    assay(*COLLECT, *PAPER, "--language", "pyton").refuses("python")


def test_the_text_of_issues_comes_from_a_file(assay: Callable) -> None:
    issue = {"repo": "acme/calc", "number": 2, "title": "total([]) raises", "body": None}
    Path("issues.jsonl").write_text(json.dumps(issue) + "\n")
    assay(*COLLECT, *PAPER, "--issues", "issues.jsonl")
    assert lines("pair")[0]["instance"]["problem_statement"] == "total([]) raises"
    Path("issues.jsonl").write_text("[]\n")
    done = assay(*COLLECT, *PAPER, "--issues", "issues.jsonl")
    assert "issues.jsonl:1: is no object with repo, number, title and body" in done.err


def test_a_known_data_set_takes_its_instances_out(assay: Callable) -> None:
    assay(*COLLECT, *PAPER)
    row = {**lines("pair")[0]["instance"], "fail_to_pass": ["tests/test_calc.py::test_total_of_nothing"]}
    row |= {"instance_id": row.pop("id"), "created_at": "2024-03-02", "pass_to_pass": []}
    row.pop("origin")
    row.pop("dataset", None)
    Path("theirs.jsonl").write_text(json.dumps(row) + "\n")
    done = assay(*COLLECT, *PAPER, "--known", "theirs.jsonl", "--json")
    assert done.code == 0, done.err
    assert done.json["phases"][-1]["dropped"] == {"code": 1, "known id": 1}


def test_an_engine_that_acts_instances_out_gives_no_labels(assay: Callable) -> None:
    done = assay(*COLLECT, "-k", "1", "--json")
    assert done.code == 4
    assert done.json["phases"][-1]["kept"] == 0
    assert Path(done.json["dataset"], "README.md").read_text().startswith("# out\n\n0 instances, collected by Assay")


def test_a_collection_that_is_moved_keeps_its_name(assay: Callable) -> None:
    assay(*COLLECT, "-k", "1")
    Path("out").rename("moved")
    done = assay("dataset", "collect", "--mirror", "mirrors", "-o", "moved", "-k", "1")
    assert done.code == 4, done.err
    assert Path("moved/dataset/assay.yaml").read_text() == "name: out\n"


def test_the_newest_candidates_are_built_first(assay: Callable) -> None:
    assay(*COLLECT, "--limit", "1", "-k", "1")
    assert [(each["id"], each.get("rule")) for each in lines("setup")] == [
        ("acme__calc-3", "limit"),
        ("acme__calc-5", None),
    ]
    assay(*COLLECT, "--limit", "2", "-k", "1")
    assert not [each for each in lines("setup") if "rule" in each]


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


RECIPE = "packages: [pytest]\n"


@pytest.mark.docker
@pytest.mark.network
@pytest.mark.xdist_group("build")
def test_instances_are_validated_in_containers_and_the_same_again(assay: Callable) -> None:
    Path("recipes/python").mkdir(parents=True)
    Path("recipes/python/acme__calc.yaml").write_text(RECIPE)
    for folder in ("one", "two"):
        done = assay(*COLLECT[:-1], folder, "--recipes", "recipes", "--json", ASSAY_ENGINE="docker")
        assert done.code == 0, done.err
    assert done.json["phases"][-1] == {"phase": "validate", "taken": 2, "kept": 2, "dropped": {}}
    found = {each.id: each for each in load("two/dataset").instances}
    assert found["acme__calc-3"].fail_to_pass == ("tests/test_calc.py::test_total_of_nothing",)
    assert found["acme__calc-3"].pass_to_pass == ("tests/test_calc.py::test_total",)
    files = [path.relative_to("one/dataset") for path in Path("one/dataset/tasks").rglob("*") if path.is_file()]
    assert len(files) == 2 * 6
    assert not [
        path for path in files if Path("one/dataset", path).read_bytes() != Path("two/dataset", path).read_bytes()
    ]
