"""Lines of code without a parser: tokens, comments, literals, and whether a line is distinctive. Pure.

A diff shows fragments, which a grammar need not accept, and an audit of thousands of rows has no source trees.
"""

import re
from collections.abc import Iterable, Iterator

from assay.harness import languages
from assay.harness.languages.base import Lines

MIN_TOKENS, MIN_CHARACTERS = 4, 8  # least size of a distinctive line; white space does not count
MIN_NAME = 4  # least length of a name; shorter ones match by chance

_NO_NAMES = frozenset({"if", "for", "while", "switch", "catch", "function", "return", "constructor", "main", "test"})
_TOKEN = re.compile(r"\w+|[^\w\s]")
_IMPORT = re.compile(
    r"""(?x)\s* (?: (?:from\s+\S+\s+)?import\b | \#\s*include\b | using\s | use\s | package\s | export\s+\*
    | (?:const|let|var)\s.*=\s*require\( | require(?:_relative|_once)?\b | "[^"]*"\s*$ )"""
)
_LITERAL = re.compile(r"""(?P<quote>['"`])(?P<text>(?:\\.|(?!(?P=quote))[^\\])*)(?P=quote)""")
_FENCE = re.compile(r"\"{3}|'{3}")
_DOCTEST = re.compile(r"\s*>>>\s")
_KEYWORD_LINES = """
if else elif elsif for while do end try except finally catch throw raise return break continue pass default case switch
match in is not and or null nil none None True False true false undefined self this def function func fn class struct
enum let var const public private protected static final void new yield async await int then begin rescue ensure unless
mut pub unsafe super with as lambda char long bool del global nonlocal assert from import
"""
_KEYWORDS = frozenset(_KEYWORD_LINES.split())
_PROSE = re.compile(r"\w+(?: \w+){2,}")


def find_lines(language: str) -> Lines:
    """Return the line patterns of a language; the defaults for an unknown language."""
    known = languages.find_or_none(language)
    return known.LINES if known else Lines()


def tokens(line: str) -> tuple[str, ...]:
    """Split a line into words and single characters, without white space; all kinds of quotes become one."""
    return tuple("'" if token in {'"', "`"} else token for token in _TOKEN.findall(line))


def statement_tokens(line: str) -> tuple[str, ...]:
    """Return the tokens of a line without a final comma or semicolon, which people do not quote."""
    found = tokens(line)
    return found[:-1] if found and found[-1] in ",;" else found


def is_distinctive(line: str, language: str) -> bool:
    """Return whether a line of code is distinctive enough to give a solution away.

    Comments, imports, lines of only brackets, keywords and string literals, and very short lines (fewer than 4 tokens
    or 8 characters) are not: they occur in any program, or in any discussion of it.
    """
    if is_comment(line, language) or is_import(line):
        return False
    found = statement_tokens(line)
    if len(found) < MIN_TOKENS or sum(map(len, found)) < MIN_CHARACTERS:
        return False
    return any(
        len(token) > 1 and token.isidentifier() and token not in _KEYWORDS
        for token in tokens(mask_strings(line, language))
    )


def is_import(line: str) -> bool:
    return bool(_IMPORT.match(line))


def is_comment(line: str, language: str) -> bool:
    text, comments = line.strip(), find_lines(language).comments
    in_block = "//" in comments and (text.startswith(("/*", "* ", "*/")) or text == "*")
    return in_block or text.startswith(comments)


def drop_docstrings(lines: Iterable[str], language: str) -> Iterator[str]:
    """Yield lines of code, emptied if they are inside a docstring or are prose; in languages with docstrings only.

    A fragment may begin inside a docstring. The first quotes decide: they open one if the line begins with them and has
    more text, or if the line before ends in a colon. Without quotes, prose decides: a quarter of the lines with three
    words in a row that are not keywords, or the prompt of an example.
    """
    found = list(lines)
    if not find_lines(language).docstrings:
        yield from found
        return
    inside = _begins_inside(found, language)
    for line in found:
        fences = len(_FENCE.findall(line))
        yield "" if inside or fences or _DOCTEST.match(line) or _is_prose(line, language) else line
        inside ^= fences % 2 == 1


def _begins_inside(lines: list[str], language: str) -> bool:
    before = ""
    for line in lines:
        text = line.strip()
        if len(_FENCE.findall(text)) % 2:
            opens = before.endswith(":") or bool(re.match(r"[rRuUbBfF]{0,2}(\"{3}|'{3})\S", text)) or "=" in text
            return not (opens or "(" in text)
        before = text or before
    if any(map(_DOCTEST.match, lines)):
        return True
    filled = [line for line in lines if line.strip() and not is_comment(line, language)]
    return 4 * sum(_is_prose(line, language) for line in filled) >= len(filled) > 0


def _is_prose(line: str, language: str) -> bool:
    """Return whether there are three words in a row; code puts operators or keywords between names."""
    runs = (match[0].split(" ") for match in _PROSE.finditer(mask_strings(line, language)))
    return any(sum(word not in _KEYWORDS for word in run) >= 3 for run in runs)


def literals(line: str) -> Iterator[str]:
    """Yield the content of the string literals that begin and end on a line."""
    return (match["text"] for match in _LITERAL.finditer(line))


def mask_strings(line: str, language: str) -> str:
    """Return the line with string literals and a trailing comment blanked; its length stays the same."""
    blank = _blank_literals(line)
    code = blank[: _end_of_code(blank, language)]
    return code + " " * (len(line) - len(code))


def drop_comment(line: str, language: str) -> str:
    return line[: _end_of_code(_blank_literals(line), language)]


def _blank_literals(line: str) -> str:
    return _LITERAL.sub(lambda match: " " * len(match[0]), line)


def _end_of_code(blank: str, language: str) -> int:
    at = blank.find(find_lines(language).comments[0])
    return at if at >= 0 else len(blank)


def names_defined(line: str, language: str) -> tuple[str, ...]:
    """Return the names that a line of code defines: functions, types, methods, fields and top-level values."""
    found = (match[1] for pattern in find_lines(language).definitions for match in re.finditer(pattern, line))
    return tuple(
        name for name in found if len(name) >= MIN_NAME and name not in _NO_NAMES and not re.fullmatch("__.*__", name)
    )


def words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))
