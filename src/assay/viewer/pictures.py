"""Pictures of a run, and of several: outcomes by repository, times, cost against rate, and which instances overlap."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median

from assay.harness.domain import Outcome, PatchDiffFinding
from assay.harness.statistics import Interval
from assay.viewer import figures
from assay.viewer.charts import (
    LETTER,
    WIDTH,
    Bar,
    Dot,
    FigureTable,
    Label,
    Line,
    Picture,
    Scale,
    count_ticks,
    cut,
    finite,
    place_labels,
    ticks,
)

SHOWN = 20  # repositories that have a bar of their own; the rest share one
COMBINATIONS = 24  # groups of runs that have a bar in the picture of overlaps
ROUND = (0.125, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 240, 480, 900, 1800, 3600, 7200, 14400, 28800, 57600)
"""Borders of the bars of a distribution of times, in seconds, each about twice the one before."""
WIDE = 1120  # width of a picture that has a row of the page to itself
STEP_BARS = 150  # bars of the picture of a trajectory's tokens
SERIES = 5  # colours of runs; further runs begin again

GROUPS: dict[str, tuple[str, tuple[Outcome, ...]]] = {
    "resolved": ("resolved", (Outcome.RESOLVED,)),
    "unresolved": ("unresolved", (Outcome.UNRESOLVED,)),
    "unusable": ("no usable patch", (Outcome.EMPTY_PATCH, Outcome.PATCH_REJECTED, Outcome.PATCH_CONFLICT)),
    "unfinished": (
        "tests did not end",
        (Outcome.NOT_RUN, Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY, Outcome.OUTPUT_LIMIT),
    ),
    "tampered": ("tampered", (Outcome.TAMPERED,)),
    "infrastructure": ("environment or infrastructure", (Outcome.ENV_ERROR, Outcome.INFRA_ERROR)),
}
"""Classes of the style sheet, the word for each, and the outcomes that it holds."""
GROUP_OF = {outcome: group for group, (_word, outcomes) in GROUPS.items() for outcome in outcomes}


def outcomes_by_repository(counts: Mapping[str, Mapping[Outcome, int]]) -> Picture | None:
    """Return a bar for each repository, parted by outcome; None without a verdict."""
    rows = _largest(counts)
    if not rows:
        return None
    longest = max(row.total() for _, row in rows)
    left, right, height = 200, WIDTH - 90, 24
    scale = Scale(0, longest, 0, right - left)
    boxes, labels = [], []
    for number, (repo, row) in enumerate(rows):
        y, x = number * height + 4, float(left)
        labels.append(Label(left - 8, y + 13, cut(repo, 28), "end"))
        for group in GROUPS:
            if row[group]:
                hint = f"{cut(repo, 80)}: {row[group]} {GROUPS[group][0]}"
                boxes.append(Bar(x, y, scale(row[group]), height - 7, f"fill-{group}", hint))
                x += scale(row[group])
        labels.append(Label(x + 6, y + 13, f"{row['resolved']:,} of {row.total():,}", kind="label muted"))
    used = [group for group in GROUPS if any(row[group] for _, row in rows)]
    return Picture(
        name="repositories",
        title="Outcomes by repository",
        description=f"A bar for each of {len(rows)} repositories, parted by outcome, the largest repository first.",
        height=len(rows) * height + 6,
        table=FigureTable(
            ("repository", *(GROUPS[group][0] for group in used), "all", "resolved rate"),
            tuple(
                (
                    repo,
                    *(str(row[group]) for group in used),
                    str(row.total()),
                    figures.percent(row["resolved"] / row.total()),
                )
                for repo, row in rows
            ),
        ),
        boxes=tuple(boxes),
        labels=tuple(labels),
        legend=tuple((f"fill-{group}", GROUPS[group][0]) for group in used),
    )


def _largest(counts: Mapping[str, Mapping[Outcome, int]]) -> list[tuple[str, Counter[str]]]:
    """Return the groups of the largest repositories, and of all others together."""
    grouped: list[tuple[str, Counter[str]]] = []
    for repo, outcomes in counts.items():
        row: Counter[str] = Counter()
        for outcome, count in outcomes.items():
            row[GROUP_OF[outcome]] += count
        if row.total():
            grouped.append((repo, row))
    grouped.sort(key=lambda each: (-each[1].total(), each[0]))
    if len(grouped) <= SHOWN:
        return grouped
    rest: Counter[str] = sum((row for _, row in grouped[SHOWN - 1 :]), Counter())
    return [*grouped[: SHOWN - 1], (f"{len(grouped) - SHOWN + 1} others", rest)]


def time_distribution(times: Sequence[tuple[float | None, bool]]) -> Picture | None:
    """Return the distribution of durations, each with whether it resolved its instance; None without a time."""
    every = finite(seconds for seconds, _ in times)
    if not every:
        return None
    edges = _edges(min(every), max(every))
    found = [[0, 0] for _ in edges[1:]]
    for seconds, resolved in times:
        if seconds is not None and finite([seconds]):
            found[min(bisect_right(edges, seconds), len(found)) - 1][resolved] += 1
    return _histogram(edges, found, every)


def _edges(low: float, high: float) -> tuple[float, ...]:
    """Return the borders of the bars: the first is not above the shortest time, the last above the longest."""
    borders = (0.0, *ROUND, max(high, ROUND[-1]) + 1)
    found = borders[bisect_right(borders, low) - 1 : bisect_right(borders, high) + 1]
    if len(found) > 4:
        return found
    step = ticks(high - low or high or 1.0, 8)[1]
    first = int(low // step)
    return tuple(round(step * (first + n), 6) for n in range(int(high // step) - first + 2))


def _histogram(edges: Sequence[float], found: Sequence[Sequence[int]], every: Sequence[float]) -> Picture:
    left, bottom = 48, 190
    marks = count_ticks(max(sum(each) for each in found), 4)
    up = Scale(0, marks[-1], bottom, 16)
    width = (WIDTH - left - 16) / len(found)
    apart = ceil(50 / width)
    boxes, rows = [], []
    labels = [Label(left, bottom + 18, figures.border(edges[0]), "middle")]
    for number, (other, resolved) in enumerate(found):
        x, name = left + number * width, f"{figures.border(edges[number])} to {figures.border(edges[number + 1])}"
        for kind, low, high in (("resolved", 0, resolved), ("unresolved", resolved, resolved + other)):
            if high > low:
                word = "resolved" if kind == "resolved" else "not resolved"
                place = (round(x + 1, 1), up(high), round(width - 2, 1), round(up(low) - up(high), 1))
                boxes.append(Bar(*place, f"fill-{kind}", f"{name}: {high - low} {word}"))
        if (number + 1) % apart == 0:
            labels.append(Label(round(x + width, 1), bottom + 18, figures.border(edges[number + 1]), "middle"))
        rows.append((name, str(resolved), str(other), str(resolved + other)))
    middle = figures.seconds(median(every))
    return Picture(
        name="times",
        title="Time of the tests",
        description=f"{len(every)} evaluations by the time that their tests took; half of them took {middle} or less.",
        height=bottom + 28,
        table=FigureTable(("time", "resolved", "not resolved", "all"), tuple(rows)),
        boxes=tuple(boxes),
        lines=tuple(Line(left, up(mark), WIDTH - 16, up(mark), "axis" if not mark else "grid") for mark in marks),
        labels=(*labels, *(Label(left - 8, up(mark) + 4, figures.count(mark), "end") for mark in marks)),
        legend=tuple(
            (f"fill-{kind}", word)
            for kind, word in (("resolved", "resolved"), ("unresolved", "not resolved"))
            if any(each[kind == "resolved"] for each in found)
        ),
    )


@dataclass(frozen=True, slots=True)
class RunPoint:
    """A run with known cost, in US dollars, of its submitted patches."""

    name: str
    cost: float | None
    patches: int
    rate: Interval

    @property
    def each(self) -> float | None:
        """Dollars for one instance; None if unknown."""
        return self.cost / self.patches if self.patches and finite([self.cost]) and self.cost is not None else None


def cost_against_rate(runs: Sequence[RunPoint]) -> Picture | None:
    """Return runs by cost for one instance and resolved rate, with its interval; None if no cost is known."""
    placed = [(each.each, each) for each in runs if each.each is not None]
    if not placed:
        return None
    left, bottom, right = 56, 250, WIDTH - 24
    across = ticks(max(cost for cost, _ in placed))
    x, y = Scale(0, across[-1], left, right), Scale(0, 1, bottom, 12)
    grid = [Line(left, y(share), right, y(share), "axis" if not share else "grid") for share in _QUARTERS]
    bars = [Line(x(cost), y(run.rate.low), x(cost), y(run.rate.high), "interval") for cost, run in placed]
    dots = [
        (Dot(x(cost), y(run.rate.estimate), _series(number), _worth(run)), str(number))
        for number, (cost, run) in enumerate(placed, 1)
    ]
    return Picture(
        name="costs",
        title="Cost against rate",
        description=f"{len(placed)} runs: dollars for one instance across, resolved rate with its interval upwards.",
        height=bottom + 44,
        table=_costs_table(runs),
        dots=tuple(dot for dot, _ in dots),
        lines=(*grid, *bars),
        labels=(
            *(Label(left - 8, y(share) + 4, figures.percent(share, 0), "end") for share in _QUARTERS),
            *(Label(x(cost), bottom + 18, figures.money(cost), "middle") for cost in across),
            Label((left + right) / 2, bottom + 38, "US dollars for one instance", "middle", "label muted"),
            *place_labels(dots, right + 20),
        ),
        legend=tuple((_series(number), f"{number} {cut(run.name, 60)}") for number, (_, run) in enumerate(placed, 1)),
    )


def _series(number: int) -> str:
    return f"series-{(number - 1) % SERIES + 1}"


def _costs_table(runs: Sequence[RunPoint]) -> FigureTable:
    return FigureTable(
        ("run", "dollars an instance", "dollars", "resolved rate", "95 % interval"),
        tuple(
            (
                run.name,
                figures.money(run.each),
                figures.money(run.cost),
                figures.percent(run.rate.estimate),
                f"{figures.percent(run.rate.low)} to {figures.percent(run.rate.high)}",
            )
            for run in runs
        ),
    )


_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)


def _worth(run: RunPoint) -> str:
    return f"{cut(run.name, 80)}: {figures.percent(run.rate.estimate)} for {figures.money(run.each)} an instance"


def overlap(runs: Sequence[str], resolved_by: Sequence[frozenset[int]]) -> Picture | None:
    """Return the runs that resolve the same instances, as an UpSet plot (IEEE TVCG 20, 2014).

    Each column is a group of runs; its bar counts the instances that these resolve and no other does. ``resolved_by``
    has, for each compared instance, the numbers of the runs that resolve it.
    """
    names, counts = [cut(name, 27) for name in runs], Counter(resolved_by)
    groups = sorted(counts, key=lambda group: (-counts[group], -len(group), sorted(group)))
    shown = groups[:COMBINATIONS]
    if not shown:
        return None
    left, bottom, row = 24 + LETTER * max(map(len, names)), 150, 24
    marks = count_ticks(counts[shown[0]], 4)
    up, width = Scale(0, marks[-1], bottom, 22), min(44.0, (WIDTH - left - 8) / len(shown))
    columns = [(round(left + (number + 0.5) * width, 1), group) for number, group in enumerate(shown)]
    rows = [bottom + 24 + number * row for number in range(len(runs))]
    return Picture(
        name="overlap",
        title="Who resolves the same instances",
        description=f"A column for each of the {len(shown)} largest of {len(groups)} groups of runs, with the number "
        "of instances that these resolve and no other run does; "
        f"{counts[frozenset()]} instances are resolved by no run.",
        height=rows[-1] + row,
        table=FigureTable(
            ("resolved by just these runs", "instances"),
            tuple((_name_group(group, runs), str(counts[group])) for group in groups),
        ),
        boxes=tuple(
            Bar(
                round(x - width * 0.35, 1),
                up(counts[group]),
                round(width * 0.7, 1),
                round(bottom - up(counts[group]), 1),
                "fill-resolved" if group else "fill-nobody",
                f"{counts[group]:,} instances: {cut(_name_group(group, runs), 200)}",
            )
            for x, group in columns
        ),
        dots=tuple(
            Dot(x, y, "member" if number in group else "absent")
            for x, group in columns
            for number, y in enumerate(rows)
        ),
        lines=(
            Line(left, bottom, WIDTH - 8, bottom, "axis"),
            *(Line(x, rows[min(group)], x, rows[max(group)], "link") for x, group in columns if len(group) > 1),
        ),
        labels=(
            *(Label(x, up(counts[group]) - 5, f"{counts[group]:,}", "middle") for x, group in columns),
            *(Label(left - 12, y + 4, name, "end") for name, y in zip(names, rows, strict=True)),
        ),
    )


def _name_group(group: frozenset[int], runs: Sequence[str]) -> str:
    if not group:
        return "no run"
    return "all runs" if len(group) == len(runs) else " and ".join(runs[number] for number in sorted(group))


@dataclass(frozen=True, slots=True)
class StepTokens:
    """Tokens of one step of a trajectory."""

    number: int
    prompt: int
    completion: int


def tokens_by_step(steps: Sequence[StepTokens]) -> Picture | None:
    """Return the tokens of each step, several steps to a bar where there are many; None without a token."""
    if not any(each.prompt or each.completion for each in steps):
        return None
    size = ceil(len(steps) / STEP_BARS)
    groups = [steps[at : at + size] for at in range(0, len(steps), size)]
    sums = [(sum(each.prompt for each in group), sum(each.completion for each in group)) for group in groups]
    left, bottom = 64, 130
    marks = ticks(max(map(sum, sums)), 3)
    up, width = Scale(0, marks[-1], bottom, 10), min(90.0, (WIDE - left - 8) / len(groups))
    boxes, rows = [], []
    for number, (group, (prompt, completion)) in enumerate(zip(groups, sums, strict=True)):
        first, last = group[0].number, group[-1].number
        name = f"step {first}" if first == last else f"steps {first} to {last}"
        hint = f"{name}: {prompt:,} tokens read, {completion:,} written"
        x, wide = round(left + number * width, 1), round(width * 0.85, 2)
        for kind, low, high in (("prompt", 0, prompt), ("completion", prompt, prompt + completion)):
            if high > low:
                boxes.append(
                    Bar(x, up(high), wide, max(1.0, round(up(low) - up(high), 1)), f"fill-{kind}", hint, first)
                )
        if prompt or completion:
            rows.append((name, f"{prompt:,}", f"{completion:,}"))
    return Picture(
        name="tokens",
        title="Tokens by step",
        description=f"{sum(map(sum, sums)):,} tokens in {len(steps)} steps: read from the prompt, and written.",
        height=bottom + 12,
        width=WIDE,
        table=FigureTable(("step", "read", "written"), tuple(rows)),
        boxes=tuple(boxes),
        lines=tuple(Line(left, up(mark), WIDE - 8, up(mark), "axis" if not mark else "grid") for mark in marks),
        labels=tuple(Label(left - 8, up(mark) + 4, figures.count(mark), "end") for mark in marks),
        legend=(("fill-prompt", "read"), ("fill-completion", "written")),
    )


def findings_picture(counts: Mapping[PatchDiffFinding, int]) -> Picture | None:
    """Return a bar for each finding of a run's comparisons with gold; None if nothing was compared."""
    rows = [(finding, counts[finding]) for finding in PatchDiffFinding if counts.get(finding)]
    if not rows:
        return None
    left, height = 170, 26
    scale = Scale(0, max(count for _, count in rows), 0, WIDTH - left - 60)
    boxes, labels = [], []
    for number, (finding, count) in enumerate(rows):
        y, name = number * height + 4, finding.replace("_", " ")
        boxes.append(Bar(left, y, scale(count), height - 8, f"fill-{finding}", f"{name}: {count}"))
        labels.append(Label(left - 8, y + 14, name, "end"))
        labels.append(Label(left + scale(count) + 6, y + 14, str(count)))
    return Picture(
        name="findings",
        title="Findings",
        description="A bar for each finding, the most severe first.",
        height=len(rows) * height + 6,
        table=FigureTable(
            ("finding", "patches"), tuple((finding.replace("_", " "), str(count)) for finding, count in rows)
        ),
        boxes=tuple(boxes),
        labels=tuple(labels),
    )
