"""Read a shell command from a model's answer, and clip its output. Pure.

Two formats: a call of the tool ``bash``, as in SWE-agent and mini-swe-agent, and one fenced block for models without
tools. ``GBNF`` is the second one as a grammar, for servers that force a model into one.
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
"""Limits of the grammar; without them a weak model writes until its tokens are used up."""
_PROGRAMS = (
    "awk cargo cat cd cp diff echo find git go grep head ls make mkdir mv npm perl python rm sed sort tail touch"
)

GBNF = rf"""root ::= thought "\n```bash\n" ("submit" | line ("\n" line){{0,{_LINES - 1}}}) "\n```"
thought ::= [A-Z] [^`\n]{{1,{_THOUGHT}}}
line ::= program (" " [^`\n]{{1,{_REST}}})?
program ::= {" | ".join(f'"{name}"' for name in _PROGRAMS.split())}
"""
"""Grammar in llama.cpp's notation: a one-line thought and a fenced block of a few short lines, each starting with a
program that ends by itself."""


class NoAction(ValueError):
    """An answer does not hold exactly one action; the message is for the model."""


def read_action(answer: Answer) -> str:
    """Return the one command of an answer: its tool call, or its fenced block if it has no call. Raises NoAction."""
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
    """Return the content of the one fenced bash block. Raises NoAction: none, more than one, an empty or unclosed one.

    A block ends at the next fence of its own length, so that a longer fence may hold a shorter one. ``finish`` is named
    in the error if a limit cut the block off.
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
    """Return at most ``limit`` characters: head, tail and a note between them. mini-swe-agent's limit is 10,000."""
    if len(text) <= limit:
        return text
    head, tail = limit // 2, limit - limit // 2
    left_out = len(text) - limit
    note = f"[{left_out} characters are left out here; ask for less, with head, tail or grep]"
    return f"{text[:head]}\n{note}\n{text[-tail:]}" if tail else note
