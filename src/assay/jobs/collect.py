"""A collection of instances, as every front door does it: phase after phase, each resumed from its file."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from assay.harness.domain import DatasetRef, Instance, Status
from assay.harness.errors import DataError
from assay.harness.files import replace_file
from assay.harness.names import count
from assay.harness.runs.manifest import RunKind
from assay.instances.collect.card import card
from assay.instances.collect.duplicates import KnownInstances
from assay.instances.collect.find import MirrorHistory, find
from assay.instances.collect.folder import CollectionFolder
from assay.instances.collect.funnel import FunnelPhase, funnel_phase
from assay.instances.collect.licenses import detect_license, is_license_file
from assay.instances.collect.pair import NOT_HERE, Issues, pair
from assay.instances.collect.releases import Package, find_releases, is_release_line, pair_releases, parse_package
from assay.instances.collect.rules import CandidateLimits, Sieve
from assay.instances.collect.steps import Filtered, Found, Paired, Phase, Prepared, Validated
from assay.instances.dataset.derive import Derivation
from assay.instances.dataset.formats import compact, native
from assay.instances.dataset.formats.columns import Row
from assay.instances.environments.recipes import has_recipe
from assay.instances.trees.sources import Sources, tree_ref
from assay.jobs.evaluate import EvaluationRun
from assay.jobs.validate import Measured, measure_labels
from assay.jobs.workplace import Workplace

BEYOND = "limit"  # the rule of candidates that ``limit`` leaves for a later call
FETCHES = 4  # changes and releases that are fetched and compared at once
AGAIN = frozenset({BEYOND, NOT_HERE})  # rules by which a candidate falls out of set-up for this call alone


@dataclass(frozen=True, slots=True)
class Collection:
    """The means of a collection; its settings and its state are in its folder."""

    folder: CollectionFolder
    place: Workplace
    sources: Sources
    limits: CandidateLimits = field(default_factory=CandidateLimits)
    known: KnownInstances = field(default_factory=KnownInstances)
    issues: Issues = field(default_factory=dict)
    statements: Mapping[str, str] = field(default_factory=dict)
    """Statements of releases by their ids, in place of those of change logs."""
    limit: int = 0
    """Candidates of each repository that are set up, newest first; 0 for all."""
    times: int = 3

    def run(self, phases: Sequence[Phase] = tuple(Phase)) -> tuple[FunnelPhase, ...]:
        """Do some phases, and publish what validation left; return the figures of all phases up to the last one done.

        Raises:
            UserError: a repository or the folder cannot be used.
            RunStopped, EngineError: the same call resumes.
        """
        for phase in phases:
            self.place.view.say(f"{phase} ...")
            self._work()[phase]()
            self.place.view.say(_summary(funnel_phase(phase, self.folder.steps(phase))))
        if Phase.VALIDATE in phases:
            self._publish()
        return funnel(self.folder, phases[-1])

    def _work(self) -> Mapping[Phase, Callable[[], None]]:
        return {
            Phase.FIND: self._find,
            Phase.PAIR: self._pair,
            Phase.FILTER: self._filter,
            Phase.SETUP: self._set_up,
            Phase.VALIDATE: self._validate,
        }

    def _find(self) -> None:
        settings = self.folder.settings()
        known = [each for each in self.folder.read(Phase.FIND, Found) if each.rule != NOT_HERE]
        lines: list[Found] = []
        for name in settings.repos:
            package = parse_package(name)
            if package is None:
                lines += find(MirrorHistory(self.sources.mirrors), [name], settings.since, settings.until)
            else:
                lines += self._releases(package, [each for each in known if is_release_line(package, each)])
        self.folder.write(Phase.FIND, lines)

    def _releases(self, package: Package, known: Sequence[Found]) -> Sequence[Found]:
        """Return the lines of a package; its index is asked once, if the span of the dates is over."""
        settings = self.folder.settings()
        if known and settings.until and settings.until < datetime.now(UTC).date():
            return known
        self.place.view.note(f"asking for the releases of {package}")
        return list(find_releases(package, self.sources, settings.since, settings.until))

    def _pair(self) -> None:
        done = {each.id: each for each in self.folder.read(Phase.PAIR, Paired) if each.rule != NOT_HERE}
        found = [each for each in self.folder.read(Phase.FIND, Found) if each.kept]
        wanted = [each for each in found if each.id not in done or self._is_stated(each, done[each.id])]
        with ThreadPoolExecutor(FETCHES) as fetches:
            for line in fetches.map(self._pair_candidate, wanted):
                done[line.id] = line
                self.folder.add(Phase.PAIR, line)
        self.folder.write(Phase.PAIR, [done[each.id] for each in found])

    def _is_stated(self, found: Found, line: Paired) -> bool:
        """Return whether the user's texts may give a statement that a line does not have yet."""
        if found.change:
            return bool(self.issues)
        given = self.statements.get(found.id)
        return given is not None and (line.instance is None or line.instance.problem_statement != given)

    def _pair_candidate(self, found: Found) -> Paired:
        if found.releases:
            self.place.view.note(f"comparing {found.id} with the release before it")
            return pair_releases(found, self.sources, self.statements.get(found.id, ""))
        return pair(found, self.sources, self.issues)

    def _filter(self) -> None:
        changes = {each.id: each.change for each in self.folder.read(Phase.FIND, Found) if each.change}
        authors = {name: change.author for name, change in changes.items()}
        sieve = Sieve(self.limits, self.known)
        paired = [each for each in self.folder.read(Phase.PAIR, Paired) if each.instance]
        decided = (
            sieve.decide(each, authors.get(each.id, ""), _find_license(self.sources, each.instance))
            for each in paired
            if each.instance
        )
        self.folder.write(Phase.FILTER, decided)

    def _set_up(self) -> None:
        done = {each.id: each for each in self.folder.read(Phase.SETUP, Prepared) if each.rule not in AGAIN}
        wanted = self._instances(Phase.FILTER, Filtered)
        chosen = {each.id for each in _newest(wanted, self.limit)}
        for each in reversed(wanted):  # newest first, so that a limit that grows searches for nothing twice
            if each.id in chosen and each.id not in done:
                done[each.id] = self._prepare(each)
                self.folder.add(Phase.SETUP, done[each.id])
        beyond = f"beyond the newest {self.limit} of its repository"
        lines = {each.id: Prepared(id=each.id, rule=BEYOND, reason=beyond) for each in wanted}
        self.folder.write(Phase.SETUP, (lines | {each: done[each] for each in chosen}).values())

    def _prepare(self, instance: Instance) -> Prepared:
        """Return the line of one candidate: a folder names its recipe, or set-up finds one."""
        recipes = tuple(Path(folder).expanduser() for folder in self.place.recipes)
        if self.place.images is None or has_recipe(instance, recipes):
            return Prepared(id=instance.id)
        record = self.place.setter(self.folder.recipes).find_record(instance)
        if record is None:
            return Prepared(id=instance.id, rule=NOT_HERE, reason="its tree cannot be had")
        if not record.accepted:
            return Prepared(id=instance.id, rule="no recipe", reason=record.reason)
        return Prepared(id=instance.id, recipe=record.recipe)

    def _validate(self) -> None:
        instances = self._load_prepared()
        lines = [_summarise_validation(each) for each in self._measure(instances)] if instances else []
        self.folder.write(Phase.VALIDATE, lines)

    def _measure(self, instances: Sequence[Instance]) -> list[Measured]:
        """Measure all labels once, then usable ones ``times`` times."""
        run = EvaluationRun("validate", self.folder.runs, self.place, alone=True, kind=RunKind.VALIDATE)
        first = measure_labels(run, instances, 1)
        sound = [each.instance for each in first if not each.problem]
        again = measure_labels(run, sound, self.times) if sound and self.times > 1 else []
        measured = {each.instance.id: each for each in (*first, *again)}
        return [measured[each.id] for each in instances]

    def _load_prepared(self) -> list[Instance]:
        recipes = {each.id: each.recipe for each in self.folder.read(Phase.SETUP, Prepared)}
        found = self._instances(Phase.SETUP, Prepared)
        return [each.model_copy(update={"environment": recipes[each.id]}) for each in found]

    def _instances(self, phase: Phase, kind: type[Filtered] | type[Prepared]) -> list[Instance]:
        """Return the instances that a phase kept, without labels, in the order in which they were found."""
        kept = {each.id for each in self.folder.read(phase, kind) if each.kept}
        paired = self.folder.read(Phase.PAIR, Paired)
        name = DatasetRef(name=self.folder.settings().name)
        found = [each.instance for each in paired if each.instance and each.id in kept]
        return [each.model_copy(update={"dataset": name}) for each in found]

    def _publish(self) -> None:
        """Write the data set: a folder in the native format with a card; of releases, a table that holds only facts."""
        lines = {each.id: each for each in self.folder.read(Phase.VALIDATE, Validated) if each.kept}
        licenses = {each.id: each.license for each in self.folder.read(Phase.FILTER, Filtered)}
        labelled = [
            _label(each, lines[each.id], licenses[each.id]) for each in self._load_prepared() if each.id in lines
        ]
        settings = self.folder.settings()
        derivations = {each.id: each.derivation for each in self.folder.read(Phase.PAIR, Paired)}
        rows = [_facts(each, found) for each in labelled if (found := derivations[each.id])]
        changes = [each for each in labelled if derivations[each.id] is None]
        native.open_folder(self.folder.dataset, settings.name)
        native.keep_tasks(self.folder.dataset, {each.id for each in changes})
        if rows:
            compact.write_table(self.folder.dataset / f"{settings.name}{compact.SUFFIX}", rows)
        for each in changes:
            native.write_task(self.folder.dataset, each)
            stability = lines[each.id].stability
            if stability:
                native.write_stability(self.folder.dataset, stability)
        own = [licenses[each.id] for each in labelled]
        text = card(settings, funnel(self.folder), labelled, own, self.times)
        replace_file(self.folder.dataset / "README.md", text.encode())


def funnel(folder: CollectionFolder, last: Phase = Phase.VALIDATE) -> tuple[FunnelPhase, ...]:
    """Return the figures of the phases that have been done, up to the last one that is asked for."""
    phases = tuple(Phase)[: list(Phase).index(last) + 1]
    return tuple(funnel_phase(phase, folder.steps(phase)) for phase in phases if folder.has(phase))


def read_issues(path: Path) -> Issues:
    """Read issues: a JSON object a line, with repo, number, title and body; raises DataError."""

    def read(row: dict[str, Any]) -> tuple[tuple[str, int], str]:
        key = str(row["repo"]).lower(), int(row["number"])
        return key, f"{row['title']}\n\n{row.get('body') or ''}".strip()

    return dict(_read_rows(path, read, "repo, number, title and body"))


def read_statements(path: Path) -> dict[str, str]:
    """Read statements of releases: a JSON object a line, with id and statement; raises DataError."""

    def read(row: dict[str, Any]) -> tuple[str, str]:
        return str(row["id"]), f"{str(row['statement']).strip()}\n"

    return dict(_read_rows(path, read, "id and statement"))


def _read_rows(path: Path, read: Callable[[Any], tuple[Any, str]], fields: str) -> Iterator[tuple[Any, str]]:
    """Yield each object as ``read`` gives it; an error names the ``fields`` that one has to have."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", file=str(path)) from None
    for number, line in enumerate(lines, 1):
        try:
            yield read(json.loads(line))
        except (ValueError, TypeError, KeyError, AttributeError):
            raise DataError(f"is no object with {fields}", file=str(path), line=number) from None


def _find_license(sources: Sources, instance: Instance) -> str:
    """Return the SPDX name of a tree's license; empty if it has none, or none that is known."""
    ref = tree_ref(instance)
    paths = sorted(filter(is_license_file, sources.paths(ref)))
    texts = (sources.read_file(ref, path) or b"" for path in paths)
    return next((name for text in texts if (name := detect_license(text.decode(errors="replace")))), "")


def _newest(instances: Sequence[Instance], limit: int) -> list[Instance]:
    """Return the last ``limit`` of each repository; all if it is 0."""
    seen: Counter[str] = Counter()
    chosen = []
    for each in reversed(instances):
        seen[each.repo] += 1
        if not limit or seen[each.repo] <= limit:
            chosen.append(each)
    return chosen


def _summarise_validation(measured: Measured) -> Validated:
    name = measured.instance.id
    if measured.problem:
        reason = measured.problem.strip().splitlines()[0]
        skipped = sum(Status.SKIPPED in seen.gold for seen in measured.stability.tests.values())
        if skipped:  # often a package that the recipe lacks
            reason += f"; {skipped} of {count(len(measured.stability.tests), 'test')} are skipped"
        return Validated(id=name, rule=_rule(measured), reason=reason)
    return Validated(
        id=name,
        fail_to_pass=tuple(sorted(measured.instance.fail_to_pass)),
        pass_to_pass=tuple(sorted(measured.instance.pass_to_pass)),
        stability=measured.stability.keep_unstable_tests(),
    )


def _rule(measured: Measured) -> str:
    odd = [each for each in (*measured.result.gold, *measured.result.null) if each not in {"resolved", "unresolved"}]
    return str(odd[0]) if odd else "no fail to pass" if not measured.result.fail_to_pass else "not steady"


def _label(instance: Instance, line: Validated, license_name: str) -> Instance:
    labels = {"fail_to_pass": line.fail_to_pass, "pass_to_pass": line.pass_to_pass}
    assert instance.origin is not None
    columns = (*instance.origin.columns, ("license", json.dumps(license_name)))
    origin = instance.origin.model_copy(update={"columns": columns})
    return instance.model_copy(update={**labels, "origin": origin})


def _facts(instance: Instance, derivation: Derivation) -> Row:
    """Return the row of an instance whose patches and statement are derived when it is loaded."""
    row = native.from_instance(instance)
    for name in ("archive", "gold_patch", "test_patch", *(["problem_statement"] if derivation.statement else [])):
        row.pop(name, None)
    return {**row, "derive": derivation.model_dump(mode="json", by_alias=True, exclude_defaults=True)}


def _summary(figures: FunnelPhase) -> str:
    return f"{figures.phase}: {figures.kept} of {figures.taken} kept" + (
        f" (fell out: {figures.why})" * bool(figures.why)
    )
