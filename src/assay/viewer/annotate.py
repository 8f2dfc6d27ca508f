"""Pages on which a person grades instances and judges differences from gold, and the answers that they send."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pydantic import ValidationError

from assay.harness.domain import Instance, PatchDiffFinding
from assay.harness.errors import UserError, field_error
from assay.harness.metrics.annotations import (
    LEVELS,
    LONGEST_NOTE,
    Annotation,
    Difficulty,
    DivergenceAnnotation,
    DivergencePattern,
    DivergenceVerdict,
    InstanceAnnotation,
    identify_patch,
)
from assay.jobs.annotate import Annotator
from assay.viewer.findings import SHOWN, ShownDivergence, load_findings, show_divergence
from assay.viewer.judgement import load_judgement, load_patch
from assay.viewer.markdown import markdown
from assay.viewer.page import Keys, PageKind
from assay.viewer.patches import FileBeside, ShownPatch, align_files, show_patch
from assay.viewer.runs import ViewedRun, Viewer

if TYPE_CHECKING:
    from markupsafe import Markup

GRADES: Mapping[str, Mapping[str, str]] = {
    "Is it clear what the issue asks for?": {
        "0": "Yes, the issue says it.",
        "1": "Something is left open, and a sensible reader fills it in.",
        "2": "It can be read in several ways.",
        "3": "Nobody can know without more information.",
    },
    "Do the tests let every right fix pass?": {
        "0": "Every one.",
        "1": "Nearly: only an unusual one fails.",
        "2": "Some reasonable ones fail.",
        "3": "They are too narrow or too wide, or test something else.",
    },
    "Is there another reason to leave it out?": {"0": "No.", "1": "Yes; the note says which."},
    "How long does the fix take somebody who knows the code?": {each: f"{each}: {LEVELS[each]}" for each in Difficulty},
}
VERDICTS: Mapping[str, Mapping[str, str]] = {
    "Is the patch wrong?": {
        DivergenceVerdict.REGRESSION: "Wrong: it breaks what worked.",
        DivergenceVerdict.PARTIAL: "Wrong: the issue is fixed in part, or otherwise than asked.",
        DivergenceVerdict.UNRELATED: "Wrong: it changes what should stay.",
        DivergenceVerdict.RIGHT: "Right: gold does more than is asked, or the input does not count.",
        DivergenceVerdict.UNDECIDABLE: "It cannot be decided.",
    },
    "How do the two patches differ? (optional)": {
        DivergencePattern.DIVERGENT: "They change the same behaviour in different ways.",
        DivergencePattern.SUPPLEMENTARY: "The patch changes more.",
        DivergencePattern.ABSENT: "Gold changes what the patch leaves alone.",
        DivergencePattern.UNALIGNED: "They have nothing in common.",
    },
}
INSTANCE_FIELDS = ("clarity", "tests", "other", "difficulty")
DIVERGENCE_FIELDS = ("verdict", "pattern")
OPTIONAL = {"pattern"}


@dataclass(frozen=True, slots=True)
class PersonQuestion:
    """An instance to grade, or a difference to judge."""

    instance_id: str
    number: str
    """Number of the difference; empty for the instance itself."""
    subject: tuple[str, ...]
    answer: Annotation | None = field(compare=False)
    finding: PatchDiffFinding | None = None

    @property
    def keys(self) -> Keys:
        return {"instance": self.instance_id} | ({"number": self.number} if self.number else {})


@dataclass(frozen=True, slots=True)
class AskedScale:
    """A group of choices; the keys 0 to 9 take one."""

    name: str
    title: str
    choices: tuple[tuple[str, str, str], ...]
    """Key, value and text."""
    chosen: str
    is_required: bool


@dataclass(frozen=True, slots=True)
class QuestionsView:
    """All questions about a run, with the person's answers."""

    run: ViewedRun
    instances: tuple[PersonQuestion, ...]
    divergences: tuple[PersonQuestion, ...]
    next: PersonQuestion | None
    """The first question without an answer."""


@dataclass(frozen=True, slots=True)
class AnnotateView:
    """One question, with what a person needs to answer it, and the answer so far."""

    run: ViewedRun
    question: PersonQuestion
    scales: tuple[AskedScale, ...]
    place: int
    total: int
    previous: PersonQuestion | None
    following: PersonQuestion | None
    instance: Instance | None
    statement: "Markup | None"
    gold: ShownPatch
    tests: ShownPatch
    files: tuple[FileBeside, ...]
    """The patch beside gold; empty for the question about the instance, which is graded without looking at a patch."""
    divergence: ShownDivergence | None


def list_instances(run: ViewedRun, person: Annotator) -> list[PersonQuestion]:
    return [PersonQuestion(name, "", (name,), person.find((name,))) for name in run.now().judged]


def list_differences(run: ViewedRun, person: Annotator) -> list[PersonQuestion]:
    """Return the differences of a run's comparisons, those of the most severe comparison first."""
    found = []
    for line in load_findings(run):
        patch = identify_patch(load_patch(run, line.instance_id))
        for number, each in enumerate(line.comparison.divergences[:SHOWN], 1):
            subject = (line.instance_id, patch, each.generator, each.probe)
            found.append(PersonQuestion(line.instance_id, str(number), subject, person.find(subject), each.finding))
    return found


def find_open(questions: Iterable[PersonQuestion]) -> PersonQuestion | None:
    """Return the first question without an answer; None if all have one."""
    return next((each for each in questions if each.answer is None), None)


def view_list(viewer: Viewer, keys: Keys) -> QuestionsView | None:
    run, person = viewer.run(keys["run"]), viewer.annotator
    if run is None or person is None or run.is_solve:
        return None
    instances, divergences = list_instances(run, person), list_differences(run, person)
    return QuestionsView(
        run=run,
        instances=tuple(instances),
        divergences=tuple(divergences),
        next=find_open([*instances, *divergences]),
    )


def view(viewer: Viewer, keys: Keys) -> AnnotateView | None:
    """Return a question; None if nobody annotates, or there is no such instance or difference."""
    run, person = viewer.run(keys["run"]), viewer.annotator
    if run is None or person is None or run.is_solve:
        return None
    alike, question = _find(run, person, keys["instance"], keys.get("number", ""))
    found = load_judgement(run, keys["instance"]) if question else None
    if question is None or found is None:
        return None
    at = alike.index(question)
    gold = show_patch(found.instance.gold_patch if found.instance else "")
    saved = run.store.load_patchdiff(found.id) if question.number else None
    divergence = saved.comparison.divergences[int(question.number) - 1] if saved else None
    return AnnotateView(
        run=run,
        question=question,
        scales=tuple(_ask(question)),
        place=at + 1,
        total=len(alike),
        previous=alike[at - 1] if at else None,
        following=alike[at + 1] if at + 1 < len(alike) else None,
        instance=found.instance,
        statement=markdown(found.instance.problem_statement) if found.instance else None,
        gold=gold,
        tests=show_patch(found.instance.test_patch if found.instance else ""),
        files=align_files((show_patch(found.patch), gold)) if question.number else (),
        divergence=show_divergence(run, found.id, int(question.number), divergence) if divergence else None,
    )


def _find(
    run: ViewedRun, person: Annotator, instance_id: str, number: str
) -> tuple[Sequence[PersonQuestion], PersonQuestion | None]:
    """Return the questions of the same kind, and the one that is asked for."""
    alike = list_differences(run, person) if number else list_instances(run, person)
    return alike, next((each for each in alike if (each.instance_id, each.number) == (instance_id, number)), None)


def _ask(question: PersonQuestion) -> Iterator[AskedScale]:
    asked, names = (VERDICTS, DIVERGENCE_FIELDS) if question.number else (GRADES, INSTANCE_FIELDS)
    for name, (title, texts) in zip(names, asked.items(), strict=True):
        chosen = getattr(question.answer, name, None)
        chosen = "" if chosen is None else str(int(chosen)) if isinstance(chosen, bool) else str(chosen)
        first = 0 if "0" in texts else 1
        choices = tuple((str(key), value, text) for key, (value, text) in enumerate(texts.items(), first))
        if name == "other" and question.answer is None:
            chosen = "0"
        yield AskedScale(name, title, choices, chosen, name not in OPTIONAL)


def save_answer(viewer: Viewer, run: ViewedRun, form: Mapping[str, str]) -> str:
    """Write the answer that a page sent; return the path of the next page. Raises UserError, OSError."""
    person = viewer.annotator
    if person is None or run.is_solve:
        raise UserError("nobody annotates this run; assay view --annotate FILE does")
    alike, question = _find(run, person, form.get("instance", ""), form.get("number", ""))
    if question is None:
        raise UserError("there is no such instance or difference")
    fields: dict[str, object] = {name: form[name] for name in (*INSTANCE_FIELDS, *DIVERGENCE_FIELDS) if form.get(name)}
    fields |= {"instance_id": question.instance_id, "by": (person.name,), "at": datetime.now(UTC)}
    fields["note"] = form.get("note", "").strip()[:LONGEST_NOTE]
    if question.number:
        fields |= dict(zip(("patch", "generator", "probe"), question.subject[1:], strict=True))
    try:
        person.add((DivergenceAnnotation if question.number else InstanceAnnotation).model_validate(fields))
    except ValidationError as error:
        raise UserError(str(field_error(error))) from None
    others = list_instances(run, person) if question.number else list_differences(run, person)
    at = alike.index(question)
    following = find_open([*alike[at + 1 :], *alike[:at], *others])
    kind = LIST if following is None else JUDGE if following.number else GRADE
    return kind.make_url({"run": run.key, **(following.keys if following else {})})


def pages(_viewer: Viewer) -> Iterator[Keys]:
    """No page is written to the disk: what a person answers is asked by a server alone."""
    yield from ()


LIST = PageKind("annotate", "{run}/annotate.html", "annotate.html", view_list, pages)
GRADE = PageKind("grade", "{run}/annotate/{instance}.html", "annotate_instance.html", view, pages)
JUDGE = PageKind("judge", "{run}/annotate/{instance}/{number}.html", "annotate_difference.html", view, pages)
