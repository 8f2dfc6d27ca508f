"""Whether a changed file still parses, in every language."""

import warnings
from collections.abc import Mapping

from assay.agents.solvers.shared.syntax_nodes import first_mistake
from assay.harness.languages.syntax import parse


def broken(language: str, before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """Return what no longer parses: path to what is wrong, in a few words.

    Only a file that parsed before can be broken, since macros and dialects are beyond some grammars; a new file must
    parse. Files in no known language are never broken.

    Args:
        language: name of the project's language.
        before: path to text of the files.
        after: path to text of those that changed.

    Raises:
        UserError: there is no language of that name. PluginError: its grammar is not installed.
    """
    problems = {path: first_error(language, path, text) for path, text in after.items()}
    return {
        path: problem
        for path, problem in problems.items()
        if problem and not (path in before and first_error(language, path, before[path]))
    }


def first_error(language: str, path: str, text: str) -> str:
    """Return where and why a file does not parse; empty if it does, or if its language is unknown.

    Args:
        language: name of the project's language.
        path: of the file.
        text: its content.
    """
    parsed = parse(language, path, text)
    if parsed is None:
        return ""
    wrong = first_mistake(parsed.root)
    if wrong is not None:
        what = f"{wrong.type} is missing" if wrong.is_missing else "does not parse"
        return f"line {wrong.start_point.row + 1}: {what}"
    return _python_error(text) if parsed.language.NAME == "python" and path.endswith(".py") else ""


def _python_error(text: str) -> str:
    """Return what Python itself says: it knows of more mistakes than the grammar, and nothing of the text is run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<file>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError):  # a NUL byte, or an expression nested too deep: not for us to say
        return ""
    return ""
