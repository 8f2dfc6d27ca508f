"""What a model writes when it wants a command run, and what it is shown of the output. Pure.

Two grammars: a call of the tool ``bash``, as SWE-agent and mini-swe-agent have models with tools do it, and one fenced
block, for models without. ``GBNF`` states the second one for servers that hold a model to a grammar.
"""

import json
import re
from collections.abc import Sequence

from assay.agents.llm.chat import Answer, Finish, Tool, ToolCall

BASH = Tool(
    name="bash",
    description="Run a command in a new shell in the root of the repository and see what it prints.",
    parameters={
        "type": "object",
        "properties": {"command": {"type": "string", "description": "The command; may have several lines."}},
        "required": ["command"],
    },
)

_OPENING = re.compile(r"^(?P<fence>`{3,})[ \t]*(?:bash|sh|shell)[ \t]*$", re.MULTILINE)
_THOUGHT, _REST, _LINES = 100, 80, 2
"""Bounds of the grammar: a weak model that may go on does so until its tokens are used up."""
_PROGRAMS = (
    "awk cargo cat cd cp diff echo find git go grep head ls make mkdir mv npm perl python rm sed sort tail touch"
)

GBNF = rf"""root ::= thought "\n```bash\n" ("submit" | line ("\n" line){{0,{_LINES - 1}}}) "\n```"
thought ::= [A-Z] [^`\n]{{1,{_THOUGHT}}}
line ::= program (" " [^`\n]{{1,{_REST}}})?
program ::= {" | ".join(f'"{name}"' for name in _PROGRAMS.split())}
"""
"""One thought in one line and one fenced block of a few short lines that begin with a program that ends by itself, in
the notation of llama.cpp."""


class NoAction(ValueError):
    """An answer does not hold exactly one action; says what is wrong with it, to the model."""


def read_action(answer: Answer) -> str:
    """Return the one command of an answer: its tool call, or the fenced block of an answer without calls.

    Raises:
        NoAction: there is none, more than one, or one that cannot be read.
    """
    return read_call(answer.tool_calls) if answer.tool_calls else read_block(answer.content, answer.finish)


def read_call(calls: Sequence[ToolCall]) -> str:
    """Return the command of the one call of the tool ``bash``. Raises NoAction."""
    if len(calls) != 1:
        raise NoAction(f"There were {len(calls)} tool calls. Make exactly one; none of these was run.")
    call = calls[0]
    if call.name != BASH.name:
        raise NoAction(f"There is no tool {call.name!r}. The only tool is {BASH.name!r}.")
    try:
        arguments = json.loads(call.arguments)
    except ValueError as error:
        raise NoAction(f"The arguments of the tool call are no valid JSON: {error}.") from error
    command = arguments.get("command") if isinstance(arguments, dict) else None
    if not isinstance(command, str) or not command.strip():
        raise NoAction("The tool call has no 'command'; give it a text that is not empty.")
    return command


def read_block(text: str, finish: Finish = Finish.STOP) -> str:
    """Return the content of the one block that is fenced as bash.

    A block ends at the next fence that is as long as its own, so that a longer one may hold a shorter one.

    Args:
        text: what the model said.
        finish: why it ended there; a block that is cut off by a limit is told as such.

    Raises:
        NoAction: there is not exactly one, or it is empty or has no end.
    """
    blocks = []
    at = 0
    while opening := _OPENING.search(text, at):
        closing = re.compile(rf"^{opening['fence']}[ \t]*$", re.MULTILINE).search(text, opening.end())
        if closing is None:
            cut = " The answer was cut off: be shorter." if finish is Finish.LENGTH else ""
            raise NoAction(f"The bash block has no end.{cut}")
        blocks.append(text[opening.end() : closing.start()].strip("\n"))
        at = closing.end()
    if len(blocks) != 1:
        raise NoAction(f"There were {len(blocks)} bash blocks. Write exactly one; nothing was run.")
    if not blocks[0].strip():
        raise NoAction("The bash block is empty.")
    return blocks[0]


def clip(text: str, limit: int) -> str:
    """Return a text of at most ``limit`` characters and a note: head and tail, half of the limit each.

    mini-swe-agent's figures are 10,000 characters, 5,000 and 5,000.
    """
    if len(text) <= limit:
        return text
    head, tail = limit // 2, limit - limit // 2
    left_out = len(text) - limit
    note = f"[{left_out} characters are left out here; ask for less, with head, tail or grep]"
    return f"{text[:head]}\n{note}\n{text[-tail:]}" if tail else note
