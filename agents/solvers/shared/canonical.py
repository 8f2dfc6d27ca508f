"""Rewrite source in a canonical layout, from its syntax tree: texts that differ only in layout become equal.

One statement a line, indented by depth, without comments and docstrings, white space only where two words would run
together. The result is for comparison, not for reading or running.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assay.agents.solvers.shared.syntax_nodes import first_mistake, is_comment, read_source
from assay.harness.languages import Language
from assay.harness.languages.syntax import parse

if TYPE_CHECKING:
    from tree_sitter import Node

INDENT = "    "
LINE_BOUND = ("preproc_def", "preproc_function_def", "preproc_call", "preproc_include", "jsx_", "heredoc_beginning")
"""Prefixes of node types, in all grammars, in which white space has meaning: only its amount is normalised."""
VERBATIM = ("string", "template_string", "raw_", "char", "regex", "heredoc_body", "encapsed_string", "nowdoc", "text")
"""Prefixes of the node types of literals, in all grammars; literals are kept unchanged."""
VERBATIM_ENDS = ("string_literal", "_string", "character_literal", "heredoc", "shell_command_expression")
NO_LITERAL = frozenset(
    {"concatenated_string", "chained_string", "string_array", "character_class", "text_interpolation"}
)
COMMENT = re.compile(r'(?P<literal>"(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
"""Comment in a preprocessor line, whose node includes comments; or a string literal, which is no comment."""
CLOSING = frozenset({")", "]", "}", "end"})


@dataclass(slots=True)
class _Writer:
    language: Language
    lines: list[str] = field(default_factory=list)
    rename: Mapping[str, str] = field(default_factory=dict)
    depth: int = 0
    is_fresh: bool = True
    last_end: int = 0
    heredocs: list[str] = field(default_factory=list)

    def begin(self) -> None:
        self.is_fresh = True

    def write(self, node: "Node", token: str) -> None:
        token = self.rename.get(token, token)
        if node.type == "heredoc_body":  # stands below the line that it belongs to
            self.heredocs.append(token)
            return
        if self.is_fresh:
            self.end_line()
            self.lines.append(INDENT * self.depth + token)
        else:
            self.lines[-1] += self._space(node, token) + token
        self.is_fresh = False
        self.last_end = node.end_byte

    def end_line(self) -> None:
        """Write the here-documents that belong below the last line."""
        self.lines += self.heredocs
        self.heredocs.clear()

    def end_statement(self) -> None:
        if self.lines and self.lines[-1][-1:] != ";":
            self.lines[-1] += ";"

    def _space(self, node: "Node", token: str) -> str:
        before, after = self.lines[-1][-1], token[0]
        if self.language.SYNTAX.spaces_matter:
            return " " if node.start_byte > self.last_end else ""
        runs_together = any(kind(before) and kind(after) for kind in (_is_word, _is_operator))
        return " " if runs_together else ""

    def drop_comma(self) -> None:
        """Remove a trailing comma from the last line, unless it marks an omitted element."""
        last = self.lines[-1] if self.lines else ""
        if last.endswith(",") and not last.strip().endswith((",,", "[,", "(,", "{,")):
            self.lines[-1] = last.removesuffix(",")


def canonical(language: str, path: str, text: str, rename: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the lines of a file in canonical layout; ``rename`` maps old to new names.

    A file that does not parse, nests too deep or has no known language keeps its layout; comments (as far as the syntax
    tree shows them), blank lines and trailing white space are removed. Raises UserError for an unknown ``language``.
    """
    parsed = parse(language, path, text)
    if parsed is None:
        return plain_lines(text)
    known, root = parsed.language, parsed.root
    if first_mistake(root) is not None:
        return plain_lines(_strip_comments(root, read_source(root)))
    writer = _Writer(known, rename=rename or {})
    try:
        _put(root, writer, known)
        writer.end_line()
    except RecursionError:  # one expression, nested hundreds deep
        return plain_lines(_strip_comments(root, read_source(root)))
    return tuple(writer.lines)


def _put(node: "Node", writer: _Writer, language: Language) -> None:
    """Write a node: literals unchanged, statements line by line, everything else token by token."""
    if is_comment(node) or node.type == "line_continuation" or _is_docstring(node, language):
        return
    atom = _atom(node, language)
    if atom is not None:
        writer.write(node, atom)
    elif not node.child_count:
        _put_token(node, writer)
    elif node.type in language.SYNTAX.blocks | language.SYNTAX.sequences:
        _put_statements(node, writer, language)
    else:
        for child in node.children:
            _put(child, writer, language)
        if node.type in language.SYNTAX.ended:
            writer.end_statement()


def _put_token(node: "Node", writer: _Writer) -> None:
    token = " ".join(read_source(node).split())
    if not token or (token == ";" and _ends_for_nothing(node, writer.language)):
        return
    if token in CLOSING and _allows_no_comma(node.parent):
        writer.drop_comma()
    writer.write(node, token)


def _ends_for_nothing(semicolon: "Node", language: Language) -> bool:
    """Return whether a semicolon may be left out: it does not separate what stands in the head of a statement."""
    in_head = semicolon.parent is not None and semicolon.parent.type in language.SYNTAX.heads
    return language.SYNTAX.optional_semicolons and not in_head


def _allows_no_comma(parent: "Node | None") -> bool:
    """Return whether a comma before the closing bracket has no meaning; in a tuple of one it has."""
    if parent is None or parent.named_child_count != 1:
        return True
    return not parent.type.startswith(("tuple", "subscript", "pattern"))


def _put_statements(node: "Node", writer: _Writer, language: Language) -> None:
    """Write each member of a block on its own line; the brackets stay on the lines around it."""
    step = 1 if node.type in language.SYNTAX.blocks else 0
    before = len(writer.lines)
    writer.depth += step
    for index, child in enumerate(node.children):
        if child.is_named and node.field_name_for_child(index) not in {"name", "condition"}:
            writer.begin()
            _put(child, writer, language)
        else:
            _put_mark(child, writer, step)
    writer.depth -= step
    if language.LINES.empty_statement and step and len(writer.lines) == before:
        writer.lines.append(INDENT * (writer.depth + 1) + language.LINES.empty_statement)
    if not node.children or node.children[-1].type not in CLOSING:
        writer.begin()


def _put_mark(node: "Node", writer: _Writer, step: int) -> None:
    """Write a bracket or separator of a block."""
    token = read_source(node).strip()
    if not token or (token == ";" and writer.language.SYNTAX.optional_semicolons):
        return
    if token in CLOSING or token.startswith("#"):
        writer.begin()
        writer.depth -= step
        writer.write(node, token)
        writer.depth += step
    else:
        writer.write(node, token)


def _is_docstring(node: "Node", language: Language) -> bool:
    if not language.LINES.docstrings or node.type != "expression_statement":
        return False
    return [each.type for each in node.children if not is_comment(each)] in (["string"], ["concatenated_string"])


def _atom(node: "Node", language: Language) -> str | None:
    """Return the text of a node that counts as one token although the grammar gives it parts; None for other nodes."""
    kind = node.type
    if kind.startswith(LINE_BOUND):
        is_preprocessor = kind.startswith("preproc")
        text = read_source(node) if is_preprocessor else _strip_comments(node, read_source(node))
        return " ".join((COMMENT.sub(lambda found: found["literal"] or " ", text) if is_preprocessor else text).split())
    is_literal = kind.startswith(VERBATIM) or kind.endswith(VERBATIM_ENDS)
    if not is_literal or not node.is_named or kind in NO_LITERAL:
        return None
    text = read_source(node).strip("\n")
    is_plain = len(text) > 1 and text[0] == text[-1] == "'" and not {*text[1:-1]} & {*"'\"\\\n"}
    return f'"{text[1:-1]}"' if is_plain and language.SYNTAX.either_quote else text


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter in "_$\"'`@\\" or ord(letter) > 127


def _is_operator(letter: str) -> bool:
    return not _is_word(letter) and letter not in "()[]{},;"


def _strip_comments(root: "Node", text: str) -> str:
    content = text.encode(errors="replace")
    parts, done = [], 0
    for node in _comments(root):
        start, end = node.start_byte - root.start_byte, node.end_byte - root.start_byte
        parts.append(content[done:start])
        done = end - content[:end].endswith(b"\n")
    return b"".join([*parts, content[done:]]).decode(errors="replace")


def _comments(root: "Node") -> "Iterator[Node]":
    waiting = [root]
    while waiting:
        each = waiting.pop()
        if is_comment(each):
            yield each
        else:
            waiting.extend(reversed(each.children))


def plain_lines(text: str) -> tuple[str, ...]:
    """Return the lines of a text without blank lines and trailing white space."""
    return tuple(line.rstrip() for line in text.splitlines() if line.strip())
