"""GSO rows: programs that each time one call; nearly the expert's speed-up of all of them is asked for.

A row has no tests of the project. Each program becomes a test, which only has to end well, and a workload.
"""

import ast
from collections.abc import Sequence
from typing import Any

from assay.harness.benchmarks.swe_fficiency.workload import MalformedWorkloadError, read_workload
from assay.harness.domain import DatasetRef, Instance, Rule
from assay.harness.errors import DataError
from assay.instances.dataset.formats import columns
from assay.instances.dataset.formats.columns import Row, row_error, row_id

NAME = "gso"
RULES: tuple[Rule, ...] = (Rule.GSO,)
TESTS, PATCH, RUN = "tests", "gt_diff", "run_test"
FOLDER = "gso_tests"
HELD = frozenset({"instance_id", "repo", "base_commit", "created_at", "hints_text", PATCH, TESTS})
UNUSED = frozenset({RUN, "main", "store_result", "load_result", "check_equivalence"})
"""Functions of a program whose part the clock and the hashes of Assay have."""

matches = columns.make_matcher("prob_script", "opt_commit")
find_id = row_id


def to_instance(row: Row, dataset: DatasetRef) -> Instance:
    programs = columns.names(row, TESTS)
    try:
        read = [_translate(each) for each in programs]
    except (MalformedWorkloadError, SyntaxError, ValueError, RecursionError) as error:
        raise row_error(row, TESTS, f"has a program that cannot be read: {error}") from None
    if not read:
        raise row_error(row, TESTS, "is empty: no program is timed")
    workloads = tuple(workload for workload, _ in read)
    return columns.build(
        {"id": "instance_id", "gold_patch": PATCH, "hints": "hints_text"},
        id=columns.text(row, "instance_id"),
        repo=columns.text(row, "repo"),
        base_commit=columns.commit(row, "base_commit"),
        problem_statement=f"Make this faster, with equal results:\n\n{columns.text(row, 'prob_script')}",
        gold_patch=columns.text(row, PATCH),
        test_patch="".join(_add_file(f"{FOLDER}/test_{n}.py", test) for n, (_, test) in enumerate(read)),
        fail_to_pass=(),
        pass_to_pass=tuple(f"{FOLDER}/test_{number}.py::test_program" for number in range(len(read))),
        created_at=columns.moment(row, "created_at", required=True),
        hints=columns.text(row, "hints_text", required=False),
        workload=workloads[0],
        other_workloads=workloads[1:],
        log_format="pytest",
        rule=RULES[0],
        origin=columns.origin(NAME, row, HELD - {TESTS}),
        dataset=dataset,
    )


def from_instance(instance: Instance) -> dict[str, Any]:
    """Write the columns of an instance that a row of this dialect made; raises DataError for any other."""
    kept = columns.read_origin(instance, NAME)
    if not kept:
        raise DataError("is no instance of GSO, whose rows have whole programs", instance=instance.id, field=TESTS)
    return {
        "instance_id": instance.id,
        "repo": instance.repo,
        "base_commit": instance.base_commit,
        **columns.iso(instance),
        "hints_text": instance.hints,
        PATCH: instance.gold_patch,
        **kept,
    }


def _translate(program: str) -> tuple[str, str]:
    """Return a workload and a test that do what a program times; what its ``run_test`` does before is the set-up."""
    body = ast.parse(program).body
    run = next((each for each in body if isinstance(each, ast.FunctionDef) and each.name == RUN), None)
    place = next((n for n, each in enumerate(run.body) if _find_timed(each)), None) if run else None
    if run is None or place is None:
        raise MalformedWorkloadError(f"no {RUN} calls timeit.timeit(lambda: ...)")
    timed, number = _find_timed(run.body[place]) or (ast.Constant(None), 1)
    before = run.body[:place]
    inside = [each for part in before for each in ast.walk(part)]
    names = sorted({each.id for each in inside if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)})
    shared = [ast.Global(names)] if names else []
    setup = _make_function("_prepare", [*shared, *before, ast.Pass()])
    workload = _make_function("_timed", [ast.Return(timed)])
    test = _make_function("test_program", [*before, ast.Expr(timed)])
    kept = [each for each in body if not _is_unused(each)]
    call = f"import timeit\ntimeit.repeat(_timed, number={number}, repeat=1, setup=_prepare)\n"
    written = f"{_write([*kept, setup, workload])}\n{call}"
    read_workload(written)
    return written, f"{_write([*kept, test])}\n"


def _find_timed(statement: ast.stmt) -> tuple[ast.expr, int] | None:
    """Return the expression that ``timeit.timeit(lambda: ...)`` times in a statement, and the number of calls."""
    for call in ast.walk(statement):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "timeit":
            number = next((each.value for each in call.keywords if each.arg == "number"), ast.Constant(1))
            if call.args and isinstance(call.args[0], ast.Lambda):
                return call.args[0].body, int(ast.literal_eval(number))
    return None


def _is_unused(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.FunctionDef):
        return statement.name in UNUSED
    if isinstance(statement, ast.Assign):
        return ast.unparse(statement.targets[0]) == "timeit.template"
    return isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test)


def _make_function(name: str, body: Sequence[ast.stmt]) -> ast.stmt:
    made = ast.parse(f"def {name}():\n    pass").body[0]
    assert isinstance(made, ast.FunctionDef)
    made.body = [*body]
    return made


def _write(body: Sequence[ast.stmt]) -> str:
    return ast.unparse(ast.fix_missing_locations(ast.Module([*body], [])))


def _add_file(path: str, text: str) -> str:
    lines = text.rstrip("\n").split("\n")
    head = f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
    return head + f"@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines)
