"""What words on a result's line, colours, cuts and a runner's own counts do to the results of a log."""

import random
import re
from pathlib import Path

import pytest
import yaml

from assay.harness.domain import FAILING, Instance, Outcome, Status
from assay.harness.grading.grade import grade
from assay.harness.grading.logs import read_evidence
from assay.harness.reports import FORMATS
from toy import make_instance

LOGS = yaml.safe_load((Path(__file__).parent / "sums.yaml").read_text("utf-8"))
GOLDENS = sorted((Path(__file__).parent / "goldens").glob("*/*[!n]"))  # without the expected.json
TEXTS = {
    f"{path.parent.name}-{path.stem}": (path.parent.name, path.read_text("utf-8"))
    for path in GOLDENS
    if path.parent.name.endswith("_text") or path.parent.name == "tap"
}
WORDS = ("raw words", "x", "progress    ", "look (1) ")


def failures(log_format: str, text: str) -> set[str]:
    return {test for test, status in FORMATS[log_format].parse(text).items() if status in FAILING}


def passes(log_format: str, text: str) -> set[str]:
    return {test for test, status in FORMATS[log_format].parse(text).items() if status is Status.PASSED}


@pytest.mark.parametrize("name", TEXTS)
def test_words_before_any_line_turn_no_failure_into_a_pass(name: str) -> None:
    log_format, text = TEXTS[name]
    failed, lines = failures(log_format, text), text.split("\n")
    for place, line in enumerate(lines):
        for words in WORDS:
            changed = "\n".join([*lines[:place], words + line, *lines[place + 1 :]])
            assert not failed & passes(log_format, changed), (words, line)


@pytest.mark.parametrize("name", TEXTS)
def test_colours_and_cuts_turn_no_failure_into_a_pass(name: str) -> None:
    log_format, text = TEXTS[name]
    dice = random.Random(name)
    colours = ("\x1b[32m", "\x1b[38;5;1m", "\x1b[0;1m", "\x1b[K", "\x1b]8;;\x07")
    coloured = "\n".join(dice.choice(colours) + line + "\x1b[0m" for line in text.split("\n"))
    assert FORMATS[log_format].parse(coloured) == FORMATS[log_format].parse(text)
    fenced = f">>>>> Start Test Output\n{text}\n>>>>> End Test Output"
    instance = judged(log_format, *failures(log_format, text))
    for place in range(len(">>>>> Start Test Output\n"), len(fenced), 7):
        assert not read_evidence(instance, fenced[:place]).report.tests


def judged(log_format: str, *labels: str) -> Instance:
    instance = make_instance(log_format=log_format, test_patch="", language="unknown", pass_to_pass=())
    return instance.model_copy(update={"test_id": "node", "fail_to_pass": labels or ("a",), "language": "python"})


_COUNT = re.compile(r"<(\d+)>")


@pytest.mark.parametrize("log_format", LOGS["counted"])
def test_a_count_that_is_larger_than_what_was_read_is_never_resolved(log_format: str) -> None:
    text = LOGS["counted"][log_format]
    plain = _COUNT.sub(r"\1", text)
    labels = sorted(passes(log_format, plain))
    instance = judged(log_format, *labels)
    assert labels
    assert grade(instance, read_evidence(instance, plain)).resolved
    for count in _COUNT.finditer(text):
        larger = text[: count.start()] + str(int(count[1]) + 1) + text[count.end() :]
        verdict = grade(instance, read_evidence(instance, _COUNT.sub(r"\1", larger)))
        assert (verdict.outcome, verdict.reason[:14]) == (Outcome.NOT_RUN, "the log counts"), larger


GLUED = """
cargo_text ok FAILED running 2 tests|wordstest a ... @|test b ... ok||test result: ok. 2 passed; 0 failed; 0
cargo_text ok FAILED running 2 tests|test a ... words@|test b ... ok||test result: ok. 2 passed; 0 failed; 0
cargo_text ok FAILED running 2 tests|test a ... @[x] words||test b ... ok||test result: ok. 2 passed; 0 failed; 0
cargo_text PASS FAIL words        @ [ 0.1s] (1/2) shop a|  PASS [ 0.1s] (2/2) shop b|Summary [1s] 2 tests run: 2 passed
mocha_text ✓ 1) |  s|    ✓ b|words    @ a||  2 passing (3ms)
tap ok not_ok |words@ 1 - a|ok 2 - b|1..2|# pass 2
unittest_text ok FAIL raw wordstest_a (m.T) ... @|test_b (m.T) ... ok|Ran 2 tests in 1s||OK
unittest_text ok ERROR test_a (m.T) ... words@|test_b (m.T) ... ok|Ran 2 tests in 1s||OK
unittest_text ok FAIL test_a (m.T) ... @words|test_b (m.T) ... ok|Ran 2 tests in 1s||OK
jest_text ✓ ✕ PASS a.test.js|  s|    ✓ b|words    @ a (2 ms)||Tests:       2 passed, 2 total
jest_text ✓ ✕ wordsPASS a.test.js|  s|    ✓ b|    @ a (2 ms)||Tests:       2 passed, 2 total
vitest_text ✓ ✗ words @ a.spec.ts > a 2ms| ✓ a.spec.ts > b||      Tests  2 passed (2)
phpunit_text ✔ ✘ |Cart| ✔ b|words @ a||OK (2 tests, 2 assertions)
minitest_text . F words T#a = 0.01 s = @|T#b = 0.01 s = .|2 runs, 2 assertions, 0 failures, 0 errors
minitest_text . F T#a = 0.01 s = @words|T#b = 0.01 s = .|2 runs, 2 assertions, 0 failures, 0 errors
googletest_text OK FAILED [ RUN ] T.a|[ @ ] T.a (0 ms)words|[ RUN ] T.b|[ OK ] T.b (0 ms)|[  PASSED  ] 2 tests.
sympy_text ok F wordstest_a @|test_b ok|=== tests finished: 2 passed, in 1 seconds ===
automake_text PASS FAIL words@: a|PASS: b|# TOTAL: 2|# PASS: 2
micropython_text pass FAIL words@  a|pass  b|2 tests performed (4 testcases)|2 tests passed
"""
"""Format, words for passed and failed, and a log in which other words are glued to a result at ``@``."""


@pytest.mark.parametrize("case", GLUED.strip().splitlines())
def test_a_result_with_words_around_it_counts_if_it_failed_or_the_runner_counts_it(case: str) -> None:
    log_format, passed, failed, lines = case.split(" ", 3)
    text = lines.replace("|", "\n") + "\n"
    log = text.replace("@", passed)
    assert len(passes(log_format, log)) == 2
    instance = judged(log_format, *passes(log_format, log))
    assert grade(instance, read_evidence(instance, log)).resolved
    assert len(failures(log_format, text.replace("@", failed.replace("_", " ")))) == 1
    uncounted = re.sub(r"\b2( passed| passing| tests| runs|$)", r"1\1", log, flags=re.MULTILINE)
    assert len(passes(log_format, uncounted)) < 2
    assert not grade(instance, read_evidence(instance, uncounted)).resolved


@pytest.mark.parametrize("case", LOGS["sessions"], ids=lambda case: case["format"])
@pytest.mark.parametrize("turned", [False, True])
def test_no_session_hides_what_failed_in_another(case: dict[str, str], *, turned: bool) -> None:
    text = case["two"] + case["one"] if turned else case["one"] + case["two"]
    assert len(failures(case["format"], text)) == 1
    assert len(passes(case["format"], text)) == 2


PYTEST_ENDS = "==== 1 passed in 0.1s ====\n"


@pytest.mark.parametrize(
    ("log_format", "log", "doubt"),
    [
        ("pytest_text", "=== test session starts ===\nt.py::a PASSED\nKilled\n", "does not end"),
        ("pytest_text", "=== short test summary info ===\nPASSED t.py::a\nPASSED t.py::b\n" + PYTEST_ENDS, "shows 2"),
        ("pytest_text", "PASSED t.py::a\n2 passed in 0.1s\n", "shows 1"),
        ("cargo_text", "running 1 test\ntest a ... ok\n", "ends before"),
        ("go_text", "=== RUN   TestA\n--- PASS: TestA (0.00s)\nFAIL\nFAIL\tx.org/a\t0.01s\n", "shows 0"),
    ],
)
def test_a_session_that_ends_early_or_contradicts_its_counts_is_not_resolved(
    log_format: str, log: str, doubt: str
) -> None:
    instance = judged(log_format, *passes(log_format, log))
    verdict = grade(instance, read_evidence(instance, log))
    assert verdict.outcome is Outcome.NOT_RUN
    assert doubt in verdict.reason


def test_a_session_in_captured_output_is_no_session_of_the_log() -> None:
    start, summary = "=== test session starts ===\n", "=== short test summary info ===\n"
    inner = f"{start}{summary}PASSED in.py::x\n==== 5 passed in 0.1s ====\n"
    log = f"{start}t.py .\n=== PASSES ===\n{inner}{inner}{summary}PASSED t.py::a\n{PYTEST_ENDS}"
    assert FORMATS["pytest_text"].parse(log) == {"t.py::a": Status.PASSED}
    instance = judged("pytest_text", "t.py::a")
    assert grade(instance, read_evidence(instance, log)).resolved


def test_builds_of_maven_are_paired_with_a_trace_that_comes_late() -> None:
    late = "[INFO] BUILD SUCCESS\n+ mvn test -Dtest=x.T#a\n+ mvn test -Dtest=x.T#b\n[INFO] BUILD {}\n"
    assert passes("maven_text", late.format("SUCCESS")) == {"x.T::a", "x.T::b"}
    assert passes("maven_text", late.format("FAILURE")) == set()
    assert passes("maven_text", "[INFO] BUILD SUCCESS\n" + late.format("SUCCESS")) == set()
