"""Check that changed files still parse, in every language."""

from collections.abc import Mapping

from assay.agents.solvers.shared.syntax_nodes import first_mistake
from assay.harness.languages.syntax import parse


def find_broken(language: str, before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """Return the files that no longer parse: path to a short error. Raises UserError for an unknown language.

    A file that did not parse before is ignored, since some grammars cannot read macros and dialects; a new file must
    parse. Files in unknown languages are ignored.
    """
    problems = {path: first_error(language, path, text) for path, text in after.items()}
    return {
        path: problem
        for path, problem in problems.items()
        if problem and not (path in before and first_error(language, path, before[path]))
    }


def first_error(language: str, path: str, text: str) -> str:
    """Return line and reason of the first syntax error; empty if there is none or the language is unknown."""
    parsed = parse(language, path, text)
    if parsed is None:
        return ""
    wrong = first_mistake(parsed.root)
    if wrong is not None:
        what = f"{wrong.type} is missing" if wrong.is_missing else "does not parse"
        return f"line {wrong.start_point.row + 1}: {what}"
    return parsed.language.mistake(path, text)
