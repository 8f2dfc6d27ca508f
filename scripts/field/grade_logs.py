"""Grades logs with the functions of Multi-SWE-bench, SWE-PolyBench or SWE-bench Pro; runs with what they import.

Reads a job (`harness`, `checkout`, `rows`, `triples`, `logs`) from the file it is given and prints one outcome a line.
`logs` holds, by triple, what its tests printed. Labels are made as those data sets make them: by the harness's own
parser, from the log without a fix and the log with the gold patch.
"""

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Status = dict[str, bool]
"""Whether each test passed, by its name in the harness."""
Grade = Callable[[str, str, str], bool]
"""Whether a log is resolved: of the patch, without a fix, with the gold patch."""


def main(job: dict[str, Any]) -> None:
    """Grade all triples that have a log and print their outcomes."""
    grade = HARNESSES[job["harness"]](Path(job["checkout"]))
    for triple in job["triples"]:
        log, null, gold = (job["logs"].get(each) for each in (triple["id"], triple["null"], triple["gold"]))
        if log is None or null is None or gold is None:
            outcome, reason = "not run", "there is no log"
        else:
            try:
                outcome, reason = ("resolved" if grade(log, null, gold) else "unresolved"), ""
            except Exception as error:  # whatever a harness raises is an error of that harness
                outcome, reason = "error", f"{type(error).__name__}: {error}"[:300]
        print(json.dumps({"id": triple["id"], "outcome": outcome, "reason": reason}))


def load_multi_swe_bench(checkout: Path) -> Grade:
    """Its Report of three runs, and the comparison with the labels that gen_report makes."""
    sys.path.insert(0, str(checkout))
    from multi_swe_bench.harness.report import Report
    from multi_swe_bench.harness.repos.python.napari.napari import napari

    def parse(log: str) -> Any:
        return napari.parse_log(None, log)

    def report(log: str, null: str) -> Any:
        runs = {"run_result": parse(null), "test_patch_result": parse(null), "fix_patch_result": parse(log)}
        return Report("acme", "calc", 1, **runs)

    def grade(log: str, null: str, gold: str) -> bool:
        wanted, found = report(gold, null), report(log, null)
        kinds = ("p2p_tests", "f2p_tests", "s2p_tests", "n2p_tests")
        return found.valid and all(set(getattr(wanted, kind)) <= set(getattr(found, kind)) for kind in kinds)

    return grade


def load_polybench(checkout: Path) -> Grade:
    """Its parser of Python's runners and its scoring."""
    sys.path.insert(0, str(checkout / "src"))
    from poly_bench_evaluation.parsers.python_parsers import PythonPyUnit
    from poly_bench_evaluation.scoring import instance_level_scoring

    def grade(log: str, null: str, gold: str) -> bool:
        with_gold, without = (set(PythonPyUnit(each).parse()["passed_tests"]) for each in (gold, null))
        fixed, kept = sorted(with_gold - without), sorted(with_gold & without)
        return instance_level_scoring("acme__calc-1", PythonPyUnit(log).parse(), fixed, kept, True, True).resolved

    return grade


def load_pro(checkout: Path) -> Grade:
    """A parser of one of its pytest repositories, and the comparison that swe_bench_pro_eval makes."""
    folder = min((checkout / "run_scripts").glob("instance_qutebrowser*"))
    spec = importlib.util.spec_from_file_location("parser_of_pro", folder / "parser.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)

    def passed(log: str) -> set[str]:
        return {each.name for each in module.parse_test_output(log, "") if each.status.name == "PASSED"}

    def grade(log: str, _null: str, gold: str) -> bool:
        wanted = passed(gold)
        if not wanted:
            raise ValueError("the parser finds no test in the log of the gold patch")
        return wanted <= passed(log)

    return grade


HARNESSES = {"multi-swe-bench": load_multi_swe_bench, "swe-polybench": load_polybench, "swe-bench-pro": load_pro}

if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text(encoding="ascii")))
