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


@dataclass(frozen=True, slots=True)
class ToyRun(TestRun):
    """Runs a file of tests of ``f``; a patch is the name of a function."""

    text: str = ""
    codes: Mapping[str, Code] = field(default_factory=dict)
    runs: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    """The tests as each run has them."""

    def read(self, paths: Sequence[str]) -> dict[str, str]:
        return {PATH: self.text} if PATH in paths else {}

    def run(self, patch: str, files: Mapping[str, bytes] | None = None) -> Evaluation:
        self.runs.append(patch)
        text = (files or {}).get(PATH, self.text.encode()).decode()
        self.texts.append(text)
        with NamedTemporaryFile() as records:
            found = self._run(patch, text.replace(RECORDS, records.name))
            return replace(found, records=Path(records.name).read_bytes())

    def _run(self, patch: str, text: str) -> Evaluation:
        tests, printed = dict[str, Status](), ""
        scope: dict[str, Any] = {"f": self.codes[patch]}
        try:
            exec(compile(text, PATH, "exec"), scope)
        except SyntaxError:
            scope = {}
        for name, test in scope.items():
            if name.startswith("test_"):
                try:
                    test()
                    tests[f"{PATH}::{name}"] = Status.PASSED
                except Exception:
                    tests[f"{PATH}::{name}"] = Status.FAILED
                    printed += traceback.format_exc()
        report = TestReport(channel=Channel.REPORT, tests=tests)
        applied = Apply(status=ApplyStatus.APPLIED)
        return Evaluation(Evidence(instance_id="a", apply=applied, report=report), output=printed.encode())


def make_run(instance: Instance, plan: Any, text: str, **codes: Code) -> ToyRun:
    """Make a run of a test file; ``codes`` are the functions by the name of a patch, ``base`` without any."""
    labels = tuple(f"{PATH}::{line[4:].partition('(')[0]}" for line in text.splitlines() if line.startswith("def test"))
    patch = f"--- /dev/null\n+++ b/{PATH}\n@@ -0,0 +1 @@\n+x\n"
    own = {"fail_to_pass": labels, "pass_to_pass": (), "test_patch": patch, "gold_patch": "gold"}
    instance = instance.model_copy(update=own)
    task = Task(instance, Prediction(instance_id=instance.id), plan.model_copy(update={"test_patch": patch}))
    return ToyRun(task, "", FakeEngine({}), text=text, codes={"": codes.pop("base"), **codes})
