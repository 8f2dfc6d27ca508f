"""Copies of tests beside their originals: as text for every runner, and in runs of pytest and unittest."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from assay.harness.counters.siblings import draw_siblings, read_siblings
from assay.harness.domain import Siblings, Status, TestPlan
from assay.harness.evaluation.evaluate import Evaluation
from assay.harness.evaluation.witnesses import read_witnesses
from assay.harness.languages.syntax import definitions
from assay.harness.runners import find
from assay.harness.runners.base import DoubledFile, DoubledTest
from judged import make_evidence
from tables import read_tables

TEXTS = read_tables(__file__)

PYTHON = TEXTS["python"]
ROWS = """\
import pytest


@pytest.mark.parametrize("number", [1, 2])
def test_rows(number):
    assert number != EXPECTED
"""
SYMPY = """\
from sympy import S


@slow
def test_other():
    pass


def test_sum():
    assert helper()


def helper():
    return S(1)
"""
GO = """\
package a

import "testing"

func TestSum(t *testing.T) {
\tt.Parallel()
\tif add(1, 2) != 3 {
\t\tt.Fatal()
\t}
}
"""
JAVASCRIPT = """\
describe("calc", () => {
  it("mul", () => expect(mul(2, 3)).toBe(6));

  it("adds", async () => {
    expect(add(1, 2)).toBe(3);
  });
});
"""
JAVA = """\
package acme;

public class CalcTest {
    CalcTest() {}

    @Test
    public void adds() {
        assertEquals(3, Calc.add(1, 2));
    }
}
"""
PYTEST = ("pytest", "-rA", "-p", "no:cacheprovider")


def double(runner: str, path: str, before: str, text: str, **names: str) -> Siblings:
    """Place copies of tests, by their labels, and draw their names."""
    language = {"go": "go", "cargo": "rust", "jest": "javascript", "maven": "java"}.get(runner, "python")
    tests = list[DoubledTest]()
    for label, name in names.items():
        found = [each for each in definitions(language, path, text) if each.name.rpartition(".")[2] == name]
        lines = [number for number, line in enumerate(text.split("\n"), 1) if name in line]
        first, last = (found[0].first, found[0].last) if found else (lines[0], lines[0])
        tests.append(DoubledTest(label, found[0].name if found else name, first, last))
    return draw_siblings(find(runner).place_siblings([DoubledFile(path, before, text, tuple(tests))]), "1")


def run_tests(tree: Path, siblings: Siblings, plan: TestPlan, *command: str) -> tuple[Mapping[str, Status], Evaluation]:
    """Run a command in a tree with copies; return the statuses of the project's own tests, and the run."""
    for path, text in siblings.files.items():
        (tree / path).write_text(text)
    words = [sys.executable, "-m", *command, *siblings.argument.split()]
    done = subprocess.run(words, cwd=tree, capture_output=True, text=True, check=False)
    output = (done.stdout + done.stderr).encode()
    report, _ = read_witnesses(plan, {}, output, {}, left_out=siblings.words)
    return report.tests, Evaluation(make_evidence({}), output=output)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "label"),
    [
        (PYTEST, "tests/test_calc.py::TestSum::test_sum"),
        (PYTEST, "tests/test_calc.py::TestInherited::test_sum"),
        (("unittest", "-v"), "test_sum (tests.test_calc.TestSum)"),
        (("unittest", "-v"), "Adds two numbers."),
    ],
)
@pytest.mark.parametrize(("expected", "status"), [(3, Status.PASSED), (4, Status.FAILED)])
def test_copy_runs_and_its_original_has_the_same_result(
    tmp_path: Path, command: tuple[str, ...], label: str, expected: int, status: Status
) -> None:
    path, text = "tests/test_calc.py", PYTHON.replace("EXPECTED", "3")
    (tmp_path / "tests").mkdir()
    (tmp_path / path).write_text(text)
    plan = TestPlan(command="", report_format="", log_format=f"{command[0]}_text", runner=command[0])
    before, _ = run_tests(tmp_path, Siblings(), plan, *command, path)
    copied = PYTHON.replace("EXPECTED", str(expected))
    siblings = double(command[0], path, text, copied, **{label: "test_sum"})
    after, found = run_tests(tmp_path, siblings, plan, *command, path)
    assert before == after != {}
    assert read_siblings(plan, found, siblings) == {label: status}


@pytest.mark.slow
def test_each_row_of_a_table_has_its_own_result(tmp_path: Path) -> None:
    path, text = "test_rows.py", ROWS.replace("EXPECTED", "3")
    (tmp_path / path).write_text(text)
    plan = TestPlan(command="", report_format="", log_format="pytest_text", runner="pytest")
    labels = dict.fromkeys((f"{path}::test_rows[1]", f"{path}::test_rows[2]"), "test_rows")
    siblings = double("pytest", path, text, ROWS.replace("EXPECTED", "2"), **labels)
    _, found = run_tests(tmp_path, siblings, plan, *PYTEST, path)
    assert read_siblings(plan, found, siblings) == dict(zip(labels, (Status.PASSED, Status.FAILED), strict=True))


def test_results_of_copies_that_are_not_there_are_none() -> None:
    siblings = Siblings(files={"a": ""}, names={"test_a": "test_x"}, words=("test_x",))
    plan = TestPlan(command="", log_format="pytest_text", report_format="")
    assert read_siblings(plan, Evaluation(make_evidence({}), output=b"PASSED a.py::test_a\n"), siblings) == {}


def test_django_loads_a_copy_without_the_docstring_that_would_name_it() -> None:
    names = {"test_sum (app.tests.TestInherited)": "test_sum"}
    made = double("django", "tests/app/tests.py", PYTHON, PYTHON, **names)
    module, name = made.words
    assert made.argument == f" app.{module}"
    text = made.files[f"tests/app/{module}.py"]
    assert f'cases = [TestInherited("{name}")]' in text
    assert "_testMethodDoc = None" in text
    assert f"def {name}(self):" in text


def test_sympy_gets_a_file_without_other_tests() -> None:
    made = double("sympy", "sympy/core/tests/test_a.py", SYMPY, SYMPY, test_sum="test_sum")
    assert made.argument.split() == list(made.files)
    (copied,) = made.files.values()
    assert "test_other" not in copied
    assert "def helper" in copied
    assert f"def {made.names['test_sum']}():" in copied


def test_go_gets_a_function_at_the_end_of_the_file_that_does_not_go_parallel() -> None:
    made = double("go", "a/a_test.go", GO, GO.replace("3", "4"), **{"TestSum/small": "TestSum"})
    (word,) = made.words
    copy = f"func {word}(t *testing.T) {{\n\t\n\tif add(1, 2) != 4 {{\n\t\tt.Fatal()\n\t}}\n}}\n"
    assert made.files == {"a/a_test.go": f"{GO}\n{copy}"}
    assert made.names == {"TestSum/small": f"{word}/small"}
    assert made.argument == f"|^{word}$"


def test_method_of_a_suite_in_go_has_no_copy() -> None:
    text = "package a\n\nfunc (s *Suite) TestSum() {\n\ts.Equal(3, add(1, 2))\n}\n"
    assert not double("go", "a/a_test.go", text, text, TestSum="TestSum").names


def test_rust_gets_a_function_at_the_end_of_the_file_unless_it_is_in_a_module() -> None:
    text = (
        "#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n\nmod more {\n    #[test]\n    fn muls() {\n    }\n}\n"
    )
    made = double("cargo", "tests/calc.rs", text, text, adds="adds", muls="muls")
    (word,) = made.words
    assert made.names == {"adds": word}
    assert made.files == {"tests/calc.rs": f"{text}\n#[test]\nfn {word}() {{\n    assert_eq!(add(1, 2), 3);\n}}\n"}


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("test/calc.test.js", "test/{}.test.js"),
        ("__tests__/calc.ts", "__tests__/{}.ts"),
        ("test/test-calc.mjs", "test/test-{}.mjs"),
        ("calc_spec.cjs", "{}_spec.cjs"),
    ],
)
def test_javascript_gets_a_file_without_other_tests_whose_titles_are_longer(path: str, pattern: str) -> None:
    made = double("jest", path, JAVASCRIPT, JAVASCRIPT, adds="adds")
    stem, word = made.words
    assert made.targets == (pattern.format(stem),)
    (copied,) = made.files.values()
    assert f'it("adds {word}", async' in copied
    assert '"mul"' not in copied


def test_java_gets_a_class_of_which_one_method_runs() -> None:
    path = "src/test/java/acme/CalcTest.java"
    made = double("maven", path, JAVA, JAVA, **{"acme.CalcTest#adds": "adds"})
    method, name = made.words
    assert made.argument == f",{name}#{method}"
    text = made.files[path.replace("CalcTest", name)]
    assert f"public void {method}()" in text
    assert f"    {name}() {{}}" in text
