"""Hidden tests in Python that run in this process, with a function of the base commit, of gold or of a patch."""

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from assay.harness.counters.runs import TestRun
from assay.harness.domain import Apply, ApplyStatus, Channel, Evidence, Instance, Prediction, Status, TestReport
from assay.harness.engines.fake import FakeEngine
from assay.harness.evaluation.evaluate import Evaluation, Task
from assay.harness.languages.recorders import RECORDS

PATH = "tests/test_f.py"
Code = Callable[..., Any]


class Equal(str):
    """A text that equals everything."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class ToyRun(TestRun):
    """Runs a file of tests of ``f``; a patch is the name of a function."""

    text: str = ""
    codes: Mapping[str, Code] = field(default_factory=dict)
    runs: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    """The tests as each run has them."""

    def read(self, paths: Sequence[str], patch: str = "") -> dict[str, str]:
        return {PATH: self.text} if PATH in paths else {}

    def run(self, patch: str, files: Mapping[str, bytes] | None = None) -> Evaluation:
        self.runs.append(patch)
        text = (files or {}).get(PATH, self.text.encode()).decode()
        self.texts.append(text)
        with NamedTemporaryFile() as records:
            found = self._run_all(text.replace(RECORDS, records.name), patch)
            return replace(found, records=Path(records.name).read_bytes())

    def _run_all(self, text: str, patch: str) -> Evaluation:
        siblings = self.task.siblings
        tests, printed = self._run_file(PATH, text, patch)
        for path, copied in siblings.files.items():
            found, more = self._run_file(path, copied, patch)
            chosen = {test: status for test, status in found.items() if test.rpartition("::")[2] in siblings.words}
            printed += more + "".join(f"{status.upper()} {test}\n" for test, status in chosen.items())
        report = TestReport(channel=Channel.REPORT, tests=tests)
        applied, status = Apply(status=ApplyStatus.APPLIED), int(Status.FAILED in tests.values())
        evidence = Evidence(instance_id="a", apply=applied, report=report, exit_code=status)
        return Evaluation(evidence, output=printed.encode())

    def _run_file(self, path: str, text: str, patch: str) -> tuple[dict[str, Status], str]:
        tests, printed = dict[str, Status](), ""
        scope: dict[str, Any] = {"f": self.codes[patch]}
        try:
            exec(compile(text, path, "exec"), scope)
        except SyntaxError:
            scope = {}
        for name, test in scope.items():
            if name.startswith("test_"):
                try:
                    test()
                    tests[f"{path}::{name}"] = Status.PASSED
                except Exception:
                    tests[f"{path}::{name}"] = Status.FAILED
                    printed += traceback.format_exc()
        return tests, printed


def make_run(instance: Instance, plan: Any, text: str, **codes: Code) -> ToyRun:
    """Make a run of a test file; ``codes`` are the functions by the name of a patch, ``base`` without any."""
    labels = tuple(f"{PATH}::{line[4:].partition('(')[0]}" for line in text.splitlines() if line.startswith("def test"))
    patch = f"--- /dev/null\n+++ b/{PATH}\n@@ -0,0 +1 @@\n+x\n"
    own = {"fail_to_pass": labels, "pass_to_pass": (), "test_patch": patch, "gold_patch": "gold"}
    instance = instance.model_copy(update=own)
    task = Task(instance, Prediction(instance_id=instance.id), plan.model_copy(update={"test_patch": patch}))
    return ToyRun(task, "", FakeEngine({}), text=text, codes={"": codes.pop("base"), **codes})
