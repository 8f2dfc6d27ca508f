"""A run in which every field that somebody else can write holds text that would harm a careless viewer."""

from pathlib import Path

from assay.harness.domain import (
    Apply,
    ApplyStatus,
    DatasetRef,
    Evidence,
    Instance,
    Outcome,
    Prediction,
    Status,
    TestPlan,
    TestReport,
    Tripwire,
    Verdict,
)
from assay.harness.domain.evidence import Channel
from assay.harness.evaluation.evaluate import Evaluation, Task
from assay.harness.runs.manifest import Run
from assay.harness.runs.store import RunStore

ATTACKS = (
    "<script>window.hacked=1</script>",
    "</script><script>window.hacked=2</script>",
    "<img src=x onerror=window.hacked=3>",
    "\"'><svg onload=window.hacked=4>",
    "<iframe src=http://evil.example/></iframe><link rel=stylesheet href=http://evil.example/x.css>",
    "<!--<script>window.hacked=5",
    "javascript:window.hacked=6",
    "[click](javascript:window.hacked=7) <javascript:window.hacked=8> [data](data:text/html,x)",
    "![picture](http://evil.example/x.png) ![x](javascript:window.hacked=9) [out](https://good.example/)",
    "[ref]\n\n[ref]: JaVaScRiPt:window.hacked=10 'title'\n\n<a href='http://evil.example' onclick=x>y</a>",
    "{{ 7*7 }} {% raw %} ${7*7} \u2028\u2029 \x1b[31mred\x1b]0;title\x07 \x00\x08\x7f \u202eright to left\u202c \ud800",
    "x" * 50_000,
)
EVERYTHING = "\n".join(ATTACKS)
ONE_LINE = " ".join(ATTACKS[:-1]).replace("\n", " ")
SAFE_JSON = EVERYTHING.replace("\ud800", "")
"""Without the half of a pair, which no JSON file of Assay's can hold."""
LINE = ONE_LINE.replace("\ud800", "")
NAME = LINE.replace("\x00", "")[:120]
"""An id that a folder can have."""
MARKDOWN = f"# {SAFE_JSON}\n\n```{LINE}\n{SAFE_JSON}\n```\n\n    {LINE}\n\n> {LINE}\n\n| {LINE} |\n|-|\n"


def diff(path: str) -> str:
    """A diff with attacks in its path, its section, its lines and behind it."""
    lines = "".join(f"+{line}\n" for line in SAFE_JSON.replace("\x00", "").split("\n"))
    count = lines.count("\n")
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,0 +1,{count} @@ {LINE[:500]}\n{lines}"


def make(root: Path) -> RunStore:
    """Save a run of four hostile evaluations; return it."""
    store = RunStore(root)
    ids = [f"acme__calc-{number}" for number in range(4)]
    predictions = [Prediction(instance_id=name, model=LINE, patch="") for name in [*ids, NAME]]
    store.save_run(
        Run(
            id=LINE,
            dataset=DatasetRef(name=LINE, revision=LINE),
            model=LINE,
            started=LINE,
            assay_version=LINE,
            instance_ids=[*ids, LINE, "../../escape"],
            settings={LINE: LINE, "oracle": LINE},
            engine={LINE: LINE},
            host={LINE: LINE},
        ),
        predictions,
    )
    outcomes = (Outcome.RESOLVED, Outcome.UNRESOLVED, Outcome.PATCH_REJECTED, Outcome.ENV_ERROR)
    patches = (diff("a/<script>window.hacked=11<\\script>.py"), diff("b.html"), SAFE_JSON, "")
    verdicts = []
    for name, outcome, patch in zip(ids, outcomes, patches, strict=True):
        instance = _instance(name, patch)
        evidence, verdict = _evidence(name), _verdict(name, outcome)
        reports = {f"{ATTACKS[2]}.xml": _junit(), "page.html": EVERYTHING.encode(errors="replace")}
        output = b"\xff\xfe" + EVERYTHING.encode(errors="replace") * 12
        evaluation = Evaluation(evidence, patch, output, reports)
        task = Task(instance, predictions[0], TestPlan(command="true"))
        store.save(task, evaluation, verdict, "0" * 64)
        verdicts.append(verdict)
    unfit = {ids[0]: LINE, LINE: LINE}
    store.save_report(store.summarise(verdicts, unfit=unfit), verdicts)
    return store


def _instance(name: str, patch: str) -> Instance:
    return Instance.model_validate(
        {
            "id": name,
            "repo": LINE,
            "base_commit": LINE,
            "language": LINE,
            "version": LINE,
            "problem_statement": MARKDOWN,
            "gold_patch": diff("b.html"),
            "test_patch": patch,
            "hints": SAFE_JSON,
            "fail_to_pass": [SAFE_JSON, LINE, "test_x"],
            "pass_to_pass": [f"{attack}!" for attack in ATTACKS[:-2]],
            "quarantined": [LINE + "?"],
            "created_at": "2024-01-01T00:00:00Z",
            "dataset": {"name": LINE, "revision": LINE},
        }
    )


def _evidence(name: str) -> Evidence:
    return Evidence(
        instance_id=name,
        image=LINE,
        image_digest=LINE,
        engine=LINE,
        user=LINE,
        apply=Apply(status=ApplyStatus.APPLIED, detail=SAFE_JSON, normalized=(LINE,)),
        exit_code=1,
        tripwires={LINE: Tripwire(expected=Status.PASSED)},
        restored=(LINE, SAFE_JSON),
        report=TestReport(
            channel=Channel.REPORT,
            format=LINE,
            tests={SAFE_JSON: Status.FAILED, LINE: Status.PASSED},
            disagreements=(LINE,),
            unprinted=(LINE,),
        ),
        flags=(LINE,),
        error=SAFE_JSON,
    )


def _verdict(name: str, outcome: Outcome) -> Verdict:
    return Verdict(
        instance_id=name,
        outcome=outcome,
        unfixed=(SAFE_JSON, "test_x"),
        broken=(LINE, f"{ATTACKS[0]}!"),
        reason=SAFE_JSON,
        flags=(LINE, "flaky", f"service:{LINE}"),
        flaky=(SAFE_JSON,),
    )


def _junit() -> bytes:
    from xml.sax.saxutils import quoteattr

    said = quoteattr(LINE.translate(dict.fromkeys(range(32))))
    return f'<testsuite><testcase classname="a" name="test_x"><failure message={said}/></testcase></testsuite>'.encode()
