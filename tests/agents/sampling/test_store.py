import json
from pathlib import Path

from assay.agents.contract import AgentTask, Budget, Candidate, Solution, SolutionStatus
from assay.agents.llm.budget import BudgetLimits
from assay.agents.sampling.store import SavedSolution, SolveStore, prediction_name
from assay.harness.domain import Instance, Origin, Rule, Stages


def solution(name: str = "acme__calc-1", **fields: object) -> Solution:
    defaults = {"instance_id": name, "agent": "a", "model": "m", "status": SolutionStatus.SUBMITTED, "patch": "p\n"}
    return Solution.model_validate(defaults | fields)


def test_saved_solution_is_found_by_its_key_only(tmp_path: Path) -> None:
    store = SolveStore(tmp_path)
    saved = SavedSolution(key="k", budget=Budget(), solution=solution(candidates=(Candidate(patch="one"),)))
    store.save(saved)
    assert store.find("acme__calc-1", 0, "k", Budget()) == saved
    assert store.find("acme__calc-1", 0, "other", Budget()) is None
    assert store.find("acme__calc-1", 1, "k", Budget()) is None
    assert store.find("acme__calc-1", 0, "k", Budget(steps=3)) == saved
    folder = tmp_path / "instances/acme__calc-1/0"
    assert (folder / "patch.diff").read_text() == "p\n"
    assert json.loads((folder / "candidates.jsonl").read_text())["patch"] == "one"


def test_torn_or_unfinished_solution_is_not_found(tmp_path: Path) -> None:
    store = SolveStore(tmp_path)
    store.save(SavedSolution(key="k", budget=Budget(), is_final=False, solution=solution()))
    assert store.find("acme__calc-1", 0, "k", Budget()) is None
    store.save(SavedSolution(key="k", budget=Budget(), solution=solution()))
    marker = tmp_path / "instances/acme__calc-1/0/solution.json"
    marker.write_bytes(marker.read_bytes()[:-20])
    assert store.find("acme__calc-1", 0, "k", Budget()) is None


def test_limited_solution_is_found_for_the_same_budget_only(tmp_path: Path) -> None:
    store = SolveStore(tmp_path)
    small = Budget(llm=BudgetLimits(calls=1))
    store.save(SavedSolution(key="k", budget=small, solution=solution(status=SolutionStatus.LIMIT_COST)))
    assert store.find("acme__calc-1", 0, "k", small) is not None
    assert store.find("acme__calc-1", 0, "k", Budget(llm=BudgetLimits(calls=2))) is None


def test_open_sample_empties_the_folder(tmp_path: Path) -> None:
    store = SolveStore(tmp_path)
    store.save(SavedSolution(key="k", budget=Budget(), solution=solution()))
    store.log("acme__calc-1", 0, "an earlier attempt")
    folder = store.open_sample("acme__calc-1", 0)
    assert [path.name for path in folder.iterdir()] == ["logs"]
    store.save_task("acme__calc-1", 0, AgentTask(repo="acme/calc", language="python", problem_statement="it"))
    assert json.loads((folder / "task.json").read_text())["repo"] == "acme/calc"


def of_multi_swe_bench(instance: Instance, name: str) -> Instance:
    origin = Origin(dialect="multi-swe-bench", columns=(("number", "17"),))
    defaults = {"id": name, "rule": Rule.MULTI_SWE_BENCH, "stages": Stages(), "origin": origin}
    return instance.model_copy(update=defaults)


def test_predictions_have_the_formats_of_the_benchmarks(tmp_path: Path, instance: Instance) -> None:
    multi = of_multi_swe_bench(instance, "acme__calc-9")
    store = SolveStore(tmp_path)
    tmp_path.mkdir(exist_ok=True)
    solutions = [solution(), solution("acme__calc-9", patch="q\n"), solution(sample=1, patch="again\n")]
    store.finish([instance, multi], solutions)

    def rows(name: str) -> list[dict[str, object]]:
        return [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]

    assert [(row["instance_id"], row["model_name_or_path"], row["model_patch"]) for row in rows("preds.jsonl")] == [
        ("acme__calc-1", "a.m", "p\n"),
        ("acme__calc-9", "a.m", "q\n"),
    ]
    assert [row["model_patch"] for row in rows("preds.1.jsonl")] == ["again\n"]
    assert rows("multi_swe_bench.jsonl") == [{"org": "acme", "repo": "calc", "number": 17, "fix_patch": "q\n"}]
    assert not (tmp_path / "multi_swe_bench.1.jsonl").exists()
    assert len(rows("solutions.jsonl")) == 3
    assert prediction_name("gold", "") == "gold"


def test_each_prediction_file_has_one_row_an_instance(tmp_path: Path, instance: Instance) -> None:
    multi = of_multi_swe_bench(instance, "acme__calc-9")
    solutions = [solution(multi.id, sample=sample, patch=f"{sample}\n") for sample in range(3)]
    SolveStore(tmp_path).finish([multi], solutions)

    def patches(name: str, field: str) -> list[str]:
        return [json.loads(line)[field] for line in (tmp_path / name).read_text().splitlines()]

    for sample, middle in enumerate(("", ".1", ".2")):
        assert patches(f"preds{middle}.jsonl", "model_patch") == [f"{sample}\n"]
        assert patches(f"multi_swe_bench{middle}.jsonl", "fix_patch") == [f"{sample}\n"]
