"""Statements, commands and words of shell text, read from its syntax tree. Nothing is expanded."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from assay.harness.languages.syntax import parse_tree

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node

COMMANDS = frozenset({"command", "declaration_command", "unset_command", "test_command", "function_definition"})
"""Node types that run something by a name of their own, or give it one."""
ASSIGNMENTS = frozenset({"variable_assignment", "variable_assignments"})
REDIRECTIONS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution"})
RESERVED = frozenset(
    ["if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "{", "}"]
)
"""No command has such a name: the grammar has lost its way."""
PIECE = re.compile(r"""'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)|([^'"\\]+)""", re.DOTALL)
"""A part of a word: in single quotes, in double quotes, one escaped character, or bare."""
ESCAPE = re.compile(r'\\(?:([$`"\\])|\n)')  # what a backslash does within double quotes
EXPANDED = re.compile(r"[$`*?\[~(]|\{[^}]*[,.]")  # found in bare text that a shell replaces
VERBATIM = frozenset({"raw_string", "string", "string_content", "heredoc_body", "comment"})
"""Node types in which the end of a line, with a backslash before it, is text."""
BLANK = b"\f"  # put before a continued line that begins with a word


class UnreadableError(ValueError):
    """Text that is no shell text, such as a quote that does not end."""


class ShellWord(NamedTuple):
    """One word of a command, without quotes."""

    text: str
    is_literal: bool = True
    """Whether the shell takes it as it stands."""


@dataclass(frozen=True, slots=True)
class ShellStatement:
    """What a shell reads before it runs anything of it: a line with its continuations, or a compound command."""

    source: str
    nodes: tuple["Node", ...]
    """Its commands, lists and pipelines, and what separates them, as syntax trees; comments are left out."""

    @property
    def commands(self) -> tuple[tuple[str, ...], ...]:
        """The words of its simple commands, in order, without assignments before them and redirections."""
        return tuple(words for _, words in self.assigned_commands)

    @property
    def assigned_commands(self) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
        """The same, each behind the assignments before it."""
        found = (read_command(node) for node in self._walk() if node.type in COMMANDS)
        texts = ((tuple(each.text for each in before), tuple(each.text for each in words)) for before, words in found)
        return tuple((before, words) for before, words in texts if words)

    @property
    def files_written(self) -> tuple[str, ...]:
        """The files into which it redirects output."""
        into = (node.children for node in self._walk() if node.type == "file_redirect")
        marks = {">", ">>", ">|", "&>", "&>>"}
        return tuple(read_word(get_text(nodes[-1])).text for nodes in into if any(node.type in marks for node in nodes))

    def _walk(self) -> Iterator["Node"]:
        """Yield all nodes outside of substitutions, in order of the text."""
        rest = [*reversed(self.nodes)]
        while rest:
            node = rest.pop()
            yield node
            rest += () if node.type in SUBSTITUTIONS else reversed(node.children)


def read_statements(text: str) -> list[ShellStatement]:
    """Read shell text; raises UnreadableError if quotes, a heredoc or a compound command do not end."""
    text = text.replace("\r\n", "\n")
    root = _parse(text)
    lines, groups, end = text.split("\n"), list[list["Node"]](), -1
    for node in root.children:
        if node.start_point.row > end:
            groups.append([])
        groups[-1].append(node)
        end = max(end, node.end_point.row)
    found = []
    for group in groups:
        source = "\n".join(lines[group[0].start_point.row : group[-1].end_point.row + 1])
        found.append(ShellStatement(source, tuple(node for node in group if node.type != "comment")))
    if any(words[0] in RESERVED for statement in found for words in statement.commands):
        raise UnreadableError("a compound command is not read as one")
    return found


def _parse(text: str) -> "Node":
    content = text.encode(errors="replace") + b"\n"
    root = parse_tree(content, _load_grammar())
    continued = [found.start() for found in re.finditer(rb"\\\n(?=\S)", content)]
    if root is not None and continued:  # the grammar reads a continued line as such only if it begins with a blank
        types = {at: root.descendant_for_byte_range(at, at + 1) for at in continued}
        for at in reversed(continued):
            if (node := types[at]) is None or node.type not in VERBATIM:
                content = content[: at + 2] + BLANK + content[at + 2 :]
        root = parse_tree(content, _load_grammar())
    if root is None or root.has_error:
        raise UnreadableError("this is no shell text")
    return root


def read_command(node: "Node") -> tuple[list[ShellWord], list[ShellWord]]:
    """Return the assignments before a simple command, and its words."""
    if node.type == "function_definition":
        return [], [ShellWord(get_text(name)) for name in node.children_by_field_name("name")]
    texts: tuple[list[str], list[str]] = ([], [])
    end = node.start_byte - 1
    for child in node.children:
        if child.type not in REDIRECTIONS:
            part = texts[0 if child.type == "variable_assignment" and node.type == "command" else 1]
            between = (node.text or b"")[end - node.start_byte : child.start_byte - node.start_byte] if part else b" "
            if between in {b"", b"\\\n" + BLANK}:
                part[-1] += get_text(child)
            else:
                part.append(get_text(child))
            end = child.end_byte
    return [*map(read_word, texts[0])], [*map(read_word, texts[1])]


def list_commands(statement: ShellStatement, *, filtered: bool = False) -> list["Node"]:
    """Return the simple commands of ``a && b``, without ``( ... )``, ``| cat``, ``2>&1`` or ``|| true`` around it.

    Empty if the statement is anything else. With ``filtered``, programs that read what it prints may be any.
    """
    found = _flatten(_unwrap(statement.nodes[0], filtered=filtered)) if len(statement.nodes) == 1 else []
    simple = {"command", "declaration_command"}
    bare = all(node.type in simple and REDIRECTIONS.isdisjoint(each.type for each in node.children) for node in found)
    return found if bare else []


def _unwrap(node: "Node", *, filtered: bool) -> "Node":
    while True:
        inner = [each for each in node.children if get_text(each).strip()]
        match node.type, [get_text(each) for each in inner]:
            case ("subshell", [_, _, _]):
                node = inner[1]
            case ("pipeline", [_, "|", "cat"]) | ("redirected_statement", [_, "2>&1"]) | ("list", [_, "||", "true"]):
                node = inner[0]
            case ("pipeline", [_, "|", *_]) if filtered:
                node = inner[0]
            case _:
                return node


def _flatten(node: "Node") -> list["Node"]:
    found, rest = list["Node"](), [node]
    while rest:
        node = rest.pop()
        if node.type == "list" and node.children[1].type == "&&":
            rest += (node.children[2], node.children[0])
        else:
            found.append(node)
    return found


def read_word(source: str) -> ShellWord:
    text, is_literal = "", True
    for single, double, escaped, bare in PIECE.findall(source):
        is_literal = is_literal and not EXPANDED.search(bare) and not re.search("[$`]", re.sub(r"\\.", "", double))
        text += single + ESCAPE.sub(lambda found: found[1] or "", double) + escaped.strip("\n") + bare
    return ShellWord(text, is_literal)


def get_text(node: "Node") -> str:
    return (node.text or b"").decode(errors="replace")


@cache
def _load_grammar() -> "Grammar":
    import tree_sitter_bash
    from tree_sitter import Language

    return Language(tree_sitter_bash.language())
