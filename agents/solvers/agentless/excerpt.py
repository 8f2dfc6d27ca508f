"""Cut code to the room in a prompt, with a remark on what is left out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from assay.agents.solvers.agentless import prompts
from assay.agents.solvers.agentless.locations import show_lines
from assay.harness.edits.file_edits import Interval, merge_intervals
from assay.harness.edits.solution import show_file

Places = Mapping[str, Sequence[Interval]]  # lines by file; a file without lines means all of it


@dataclass(frozen=True, slots=True)
class PromptExcerpt:
    """The text for a prompt and the lines in it, by file; a file is missing if none of its lines fits."""

    text: str
    places: Places


def excerpt(texts: Mapping[str, str], places: Places, characters: int, numbered: bool = False) -> PromptExcerpt:
    """Return the lines of files that fit into a prompt, starting with the first lines of each.

    Headings and remarks do not count as ``characters``; line ends and, if ``numbered``, line numbers do.
    """
    costs = {path: _costs(texts[path], spans, numbered) for path, spans in places.items()}
    granted = shares({path: sum(each.values()) for path, each in costs.items()}, characters)
    fitting = {
        path: [number for number, end in zip(each, accumulate(each.values()), strict=True) if end <= granted[path]]
        for path, each in costs.items()
    }
    cut = {path: len(each) - len(fitting[path]) for path, each in costs.items() if len(fitting[path]) < len(each)}
    kept = {
        path: merge_intervals([(number, number) for number in fitting[path]], max(costs[path]))
        if path in cut
        else spans
        for path, spans in places.items()
        if fitting[path] or path not in cut
    }
    parts = [show_file(path, show_lines(texts[path], spans, numbered)) for path, spans in kept.items()]
    remarks = [prompts.CUT.format(path=path, count=count, all=len(costs[path])) for path, count in cut.items()]
    return PromptExcerpt("\n\n".join([*parts, *(["\n".join([prompts.LEFT_OUT, *remarks])] if remarks else [])]), kept)


def shares(needs: Mapping[str, int], room: int) -> dict[str, int]:
    """Divide room among files: each gets what it needs, or an equal share of what smaller files leave."""
    granted = dict.fromkeys(needs, 0)
    for waiting, path in zip(range(len(needs), 0, -1), sorted(needs, key=needs.__getitem__), strict=True):
        granted[path] = min(needs[path], room // waiting)
        room -= granted[path]
    return granted


def _costs(text: str, spans: Sequence[Interval], numbered: bool) -> dict[int, int]:
    """Return the characters of each line in ``spans`` (all lines if empty) by its number, line end included."""
    lines = text.splitlines()
    return {
        number: len(lines[number - 1]) + 1 + (len(f"{number}|") if numbered else 0)
        for first, last in spans or [(1, len(lines))]
        for number in range(first, last + 1)
    }
