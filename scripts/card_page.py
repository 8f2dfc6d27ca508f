"""Counts results of the error card, and writes them as a page and as the file that every bundle holds."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from error_card import Result

from assay.harness.statistics import CONFIDENCE, clopper_pearson
from corpus.model import corpus

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/evidence/error-card.md"
CARD = ROOT / "harness/bundles/error-card.json"
BEGIN, END = "<!-- figures, by a script -->\n\n", "<!-- end of the figures -->\n"
KINDS = ("hostile", "honest")
SOURCES = {
    "corpus": "cases of `tests/corpus`",
    "gold": "gold patches of the corpus's instances",
    "releases": "gold patches of the bundled data set `releases`",
    "rows": "gold patches of [real rows](rows.md)",
}


def write_card(results: Sequence[Result]) -> None:
    CARD.write_text(json.dumps(make_card(results), indent=1) + "\n", encoding="ascii")
    replace_figures(PAGE, make_figures(results))


def replace_figures(page: Path, figures: str) -> None:
    """Write figures between the two marks of a page."""
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    page.write_text(f"{before}{BEGIN}{figures}{END}{after}", encoding="utf-8")


def make_card(results: Sequence[Result]) -> dict[str, Any]:
    """Return all counts as plain data."""
    days = sorted(each.date for each in results)
    runners = sorted({(each.language, each.runner) for each in results})
    return {
        "format": 1,
        "measured": {"from": days[0], "to": days[-1], "commits": sorted({each.commit for each in results})},
        "confidence": CONFIDENCE,
        **count(results),
        "runners": [
            {"language": language, "runner": runner, **count(each for each in results if fits(each, language, runner))}
            for language, runner in runners
        ],
        "sources": [{"source": name, **count(each for each in results if each.source == name)} for name in SOURCES],
    }


def fits(result: Result, language: str, runner: str) -> bool:
    return (result.language, result.runner) == (language, runner)


def count(results: Iterable[Result]) -> dict[str, dict[str, Any]]:
    """Count tried and wrong patches of each kind, with bounds of the rate; a wrong one is let through or refused."""
    found, counts = list(results), {}
    for kind in KINDS:
        ran = [each for each in found if each.kind == kind and each.ran]
        wrong = sum(each.wrong for each in ran)
        bounds = clopper_pearson(wrong, len(ran))
        unjudged = sum(each.kind == kind and not each.ran for each in found)
        low, high = round(bounds.low, 4), round(bounds.high, 4)
        counts[kind] = {"tried": len(ran), "wrong": wrong, "low": low, "high": high, "not_judged": unjudged}
    return counts


def make_figures(results: Sequence[Result]) -> str:
    card = make_card(results)
    measured = card["measured"]
    commits = ", ".join(measured["commits"])
    lines = [f"Measured from {measured['from']} to {measured['to']} at these commits: {commits}.", ""]
    lines += make_table("", [("all", card)])
    lines += ["## By language and runner", "", "The runner of real rows was not recorded.", ""]
    lines += make_table("", [(f"{row['language']}, {row['runner'] or 'not known'}", row) for row in card["runners"]])
    lines += ["## By source", ""]
    lines += make_table("", [(SOURCES[row["source"]], row) for row in card["sources"]])
    titles = {each.id: each.title for each in corpus().cases}
    lines += ["## Let through", "", *list_wrong(results, "hostile", lambda each: titles.get(each.case, "")), ""]
    lines += ["## Refused", "", *list_wrong(results, "honest", lambda each: f"`{each.outcome}`"), ""]
    return "\n".join(lines) + "\n"


def make_table(title: str, rows: Iterable[tuple[str, dict[str, Any]]]) -> list[str]:
    names = "| hostile tried | let through | rate | honest tried | refused | rate | not judged |"
    lines = [f"| {title} {names}", "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    for name, row in rows:
        cells = [name]
        for kind in KINDS:
            found = row[kind]
            cells += [str(found["tried"]), str(found["wrong"]), format_bounds(found)]
        cells.append(str(sum(row[kind]["not_judged"] for kind in KINDS)))
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def format_bounds(found: dict[str, Any]) -> str:
    return f"{100 * found['low']:.1f} to {100 * found['high']:.1f} %" if found["tried"] else ""


def list_wrong(results: Iterable[Result], kind: str, describe: Callable[[Result], str]) -> list[str]:
    found = sorted((each for each in results if each.kind == kind and each.wrong), key=lambda each: each.case)
    lines = [f"| {each.case} | {each.language} | {describe(each).replace('|', '/')} |" for each in found]
    return ["| case | language | |", "| --- | --- | --- |", *lines]
