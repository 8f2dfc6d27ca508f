"""Print how many wrong and right patches PatchDiff flags, by generator, over several seeds, with intervals.

The patches are those of ``tests/patchdiff``: each passes its instance's tests. Results are kept in a file, so that the
same command resumes:

    python scripts/bench_patchdiff.py RESULTS.jsonl [--lite ROWS] [--mirror DIR] [--seeds 5] [--table]

With ``--model`` the generator llm runs, alone, and its results stand beside those of the others: a model's answers take
their time, and the others are to have the same with and without them.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/support")]

from assay.agents.llm.ask import make_ask  # noqa: E402
from assay.harness.domain import Instance, Model, PatchDiffFinding, PatchDiffResult, Prediction, ProbeObservation  # noqa: E402
from assay.harness.patchdiff.assess import assess  # noqa: E402
from assay.harness.patchdiff.contract import ALL_OPERATORS, Ask, Settings  # noqa: E402
from assay.harness.patchdiff.decide import is_flagged  # noqa: E402
from assay.harness.patchdiff.sides import Sides  # noqa: E402
from assay.harness.statistics import wilson  # noqa: E402
from assay.instances.dataset.load import load  # noqa: E402
from assay.jobs.workbench import make_sources  # noqa: E402
from assay.jobs.workplace import Workplace  # noqa: E402
from patchdiff.model import Case, load_cases, load_trees, make_patch  # noqa: E402

SEEDED = ("compose", "amplify", "replay")
ALL = ("suites", *SEEDED)
MODEL = ("llm",)
LONGEST = 100
"""Characters of a text in the file of results."""
HEAD = """\
| generators | wrong flagged | right flagged | wrong, any difference | right, any difference |
| --- | --- | --- | --- | --- |"""
Counts = Callable[[PatchDiffFinding], bool]
COUNTED: tuple[Counts, ...] = (is_flagged, lambda finding: is_flagged(finding) or finding is PatchDiffFinding.DIVERGENT)
"""The counted findings: what counts against a patch, and the same with the undecided ones."""


class Result(Model):
    """The result of one comparison of one case."""

    case: str
    label: str
    phase: str
    seed: int
    comparison: PatchDiffResult

    def ran(self, generators: Iterable[str]) -> bool:
        """Return whether these generators ran; the suite is the same for every seed."""
        ran = {each.name for each in self.comparison.generators}
        wanted = {"compose" if name in ALL_OPERATORS else name for name in generators} - {"suites"}
        return wanted <= ran if wanted else not ran.isdisjoint(SEEDED)

    def flags(self, names: Iterable[str], counts: Counts) -> bool:
        """Return whether some of these generators, or operators of ``compose``, have a finding that counts."""
        wanted = set(names)
        found = [each for each in self.comparison.divergences if counts(each.finding)]
        return any({each.generator, each.operator} & wanted for each in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("--lite", default="lite", help="data set of the published instances")
    parser.add_argument("--mirror", type=Path, action="append", default=[])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--budget", type=float, default=600.0, help="seconds for one comparison")
    parser.add_argument("--generators", default=",".join(ALL), help="those that run; suites runs with the first seed")
    parser.add_argument("--case", action="append", help="only this patch; may be repeated")
    parser.add_argument("--phase", action="append", help="only patches of this phase, as the cases name it")
    parser.add_argument("--model", help="of the generator llm, which runs alone then")
    parser.add_argument("--base-url", default="", help="endpoint of the model")
    parser.add_argument("--cassette", type=Path, help="file that records and replays its answers")
    parser.add_argument("--table", action="store_true", help="only print the tables of what is there")
    options = parser.parse_args()
    known = [each for each in _read(options.results) if not options.phase or each.phase in options.phase]
    if not options.table:
        with options.results.open("a", encoding="utf-8") as file:
            wanted = MODEL if options.model else options.generators.split(",")
            for result in _missing(options, {(each.case, each.seed) for each in known if each.ran(wanted)}):
                file.write(result.model_dump_json() + "\n")
                file.flush()
                known.append(result)
    _print_tables(_repeat_suites(_merge(known)))


def _read(path: Path) -> list[Result]:
    if not path.exists():
        return []
    return [Result.model_validate_json(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _missing(options: argparse.Namespace, known: set[tuple[str, int]]) -> Iterator[Result]:
    sources = make_sources(options.mirror)
    ask = make_ask(options.model, options.base_url, cassette=options.cassette) if options.model else None
    named = [case for case in load_cases() if not options.case or case.name in options.case]
    wanted = [case for case in named if not options.phase or case.phase in options.phase]
    usual = tuple(options.generators.split(","))
    for dataset, here in _group_by_dataset(options.lite, wanted):
        ids = sorted({case.instance for case in here})
        instances = {each.id: each for each in load(dataset, ids=ids, sources=sources).instances}
        place = Workplace(mirrors=options.mirror)
        for seed in range(options.seeds):
            for case in here:
                if (case.name, seed) not in known:
                    instance = place.bench.settle(instances[case.instance])
                    patch = make_patch(case, *load_trees(instance, sources))
                    seeded = tuple(name for name in usual if name != "suites")  # the suite is the same for every seed
                    generators = MODEL if ask else usual if seed == 0 else seeded
                    settings = Settings(generators, seed=seed, budget=options.budget, test_files=False)
                    comparison = _compare(place, instance, patch, case, settings, ask)
                    _say(f"{case.name} ({case.label}), seed {seed}: {comparison.finding}, {comparison.seconds:.0f} s")
                    brief = _shorten(comparison)
                    yield Result(case=case.name, label=case.label, phase=case.phase, seed=seed, comparison=brief)


def _shorten(comparison: PatchDiffResult) -> PatchDiffResult:
    """Leave of a comparison what the tables count: the first divergence of each generator and finding, in short."""
    first = {(each.generator, each.operator, each.finding): each for each in reversed(comparison.divergences)}
    sides = ("base", "gold", "candidate")
    brief = (
        each.model_copy(update={side: _cut(getattr(each, side)) for side in sides} | {"probe": each.probe[:LONGEST]})
        for each in first.values()
    )
    return comparison.model_copy(update={"divergences": tuple(brief)})


def _cut(seen: ProbeObservation) -> ProbeObservation:
    return seen.model_copy(update={"text": seen.text[:LONGEST]})


def _group_by_dataset(lite: str, wanted: Sequence[Case]) -> list[tuple[str, list[Case]]]:
    names = sorted({case.dataset for case in wanted}, reverse=True)
    return [(lite if name == "lite" else name, [each for each in wanted if each.dataset == name]) for name in names]


def _compare(
    place: Workplace, instance: Instance, patch: str, case: Case, settings: Settings, ask: Ask | None = None
) -> PatchDiffResult:
    prediction = Prediction(instance_id=instance.id, model=case.name, patch=patch)
    task, bench = place.task(instance, prediction), place.bench
    with bench.image(instance, instance.gold_patch) as image:
        return assess(Sides(task, image, bench.engine), settings, bench.plan_files, ask).comparison


def _merge(results: Iterable[Result]) -> list[Result]:
    """Put the results of one case and seed together, which are of other generators each."""
    found: dict[tuple[str, int], Result] = {}
    for each in sorted(results, key=lambda each: each.ran(MODEL)):
        before = found.get((each.case, each.seed))
        found[each.case, each.seed] = _join(before, each) if before else each
    return list(found.values())


def _join(one: Result, other: Result) -> Result:
    both = one.comparison, other.comparison
    several = {name: sum((getattr(each, name) for each in both), ()) for name in ("divergences", "generators")}
    return one.model_copy(update={"comparison": one.comparison.model_copy(update=several)})


def _repeat_suites(results: Sequence[Result]) -> list[Result]:
    """Give every seed what the suite showed with the first."""
    suite = {
        each.case: tuple(d for d in each.comparison.divergences if d.generator == "suites")
        for each in results
        if each.seed == 0
    }
    return [
        each
        if each.seed == 0
        else each.model_copy(
            update={
                "comparison": each.comparison.model_copy(
                    update={"divergences": (*each.comparison.divergences, *suite.get(each.case, ()))}
                )
            }
        )
        for each in results
    ]


def _print_tables(results: Sequence[Result]) -> None:
    phases = sorted({each.phase for each in results})
    for phase in phases:
        _print_table(phase, [each for each in results if each.phase == phase])
    if len(phases) > 1:
        _print_table("all", results)
    noise = sum(each.comparison.null_divergences for each in results)
    unassessed = sum(each.comparison.finding == "not_assessed" for each in results if each.ran(("suites",)))
    print(f"\n{len(results)} comparisons; gold against its copy: {noise} differences; not assessed: {unassessed}")


def _print_table(title: str, results: Sequence[Result]) -> None:
    print(f"\n{title}\n\n{HEAD}")
    ran = {each.name for result in results for each in result.comparison.generators}
    usual = tuple(name for name in ALL if name in ran or (name == "suites" and "compose" not in ran))
    sets: list[tuple[str, ...]] = [(name,) for name in usual]
    if "compose" in ran:
        sets += [(name,) for name in ALL_OPERATORS]
    if len(usual) > 1:
        sets += [tuple(name for name in usual if name != "compose")] if "compose" in ran else []
        sets.append(usual)
    if any(each.ran(MODEL) for each in results):
        sets += [MODEL, (*usual, *MODEL)]
    for names in sets:
        cells = [_share(results, label, names, counts) for counts in COUNTED for label in ("wrong", "right")]
        print(f"| {' + '.join(names)} | {' | '.join(cells)} |")


def _share(results: Sequence[Result], label: str, generators: Sequence[str], counts: Counts) -> str:
    """Return the share of flagged patches in percent: the mean over all seeds, their range, an interval over patches.

    The interval is Wilson's (95 %) for as many patches as there are: seeds of one patch are no further evidence.
    """
    here = [each for each in results if each.label == label and each.ran(generators)]
    seeds = sorted({each.seed for each in here})
    rates = [_rate([each for each in here if each.seed == seed], generators, counts) for seed in seeds]
    if not rates:
        return "-"
    patches = len({each.case for each in here})
    mean = sum(rates) / len(rates)
    interval = wilson(round(mean * patches), patches)
    figures = mean, interval.low, interval.high, min(rates), max(rates)
    share, low, high, least, most = (round(100 * each) for each in figures)
    spread = f", {least} to {most}" if len(rates) > 1 else ""
    return f"{share} % of {patches}{spread} ({low} to {high})"


def _rate(results: Sequence[Result], generators: Sequence[str], counts: Counts) -> float:
    return sum(each.flags(generators, counts) for each in results) / len(results)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
