"""Gold with its signatures and bodies that only fail: tests that pass with it ask no more than that it compiles."""

from collections.abc import Iterable

from assay.harness.counters.runs import TestRun
from assay.harness.domain import PASSING, Edit
from assay.harness.languages.copying import edit_text
from assay.harness.languages.syntax import list_defining_nodes, parse
from assay.harness.patches.diff import read_diff


def find_compile_only(run: TestRun) -> tuple[str, ...]:
    """Return the fail-to-pass tests that never call what gold changes; raises as ``TestRun.run``."""
    instance = run.task.instance
    changed = {change.path: [*change.list_changed_lines()] for change in read_diff(instance.gold_patch) if change.new}
    texts = run.read(sorted(changed), instance.gold_patch)
    stubbed = {path: stub_functions(instance.language, path, text, changed[path]) for path, text in texts.items()}
    files = {path: text.encode() for path, text in stubbed.items() if text != texts[path]}
    if not files:
        return ()
    statuses = run.read_statuses(run.run_gold(files))
    return tuple(label for label in instance.fail_to_pass if statuses(label) and statuses(label) <= PASSING)


def stub_functions(language: str, path: str, text: str, lines: Iterable[int]) -> str:
    """Return a source in which the functions around some lines, from 1, only fail."""
    parsed, changed = parse(language, path, text), {*lines}
    if parsed is None or not parsed.language.SYNTAX.stub:
        return text
    edits = list[Edit]()
    for kind, node in list_defining_nodes(parsed):
        inside = changed.intersection(range(node.start_point.row + 1, node.end_point.row + 2))
        body = node.child_by_field_name("body") or next(
            (each for each in node.children if each.type in parsed.language.SYNTAX.bodies), None
        )
        if kind == "function" and inside and body:
            edits.append((body.start_byte, body.end_byte, parsed.language.SYNTAX.stub))
    return edit_text(text, edits)
