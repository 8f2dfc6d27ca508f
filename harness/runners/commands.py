"""Test commands of somebody else, in their parts."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

STARTERS = ((), ("npx",), ("yarn",), ("yarn", "run"), ("pnpm",), ("pnpm", "exec"), ("bundle", "exec"))
"""What may stand before a program: nothing, or what finds it among a project's packages."""


@dataclass(frozen=True, slots=True)
class ProgramCommand:
    start: tuple[str, ...]
    """Everything up to the program's name."""
    arguments: tuple[tuple[str, ...], ...]
    """Options, with their values, and other words; each a tuple of words."""

    @property
    def targets(self) -> tuple[str, ...]:
        """The words that are no options."""
        return tuple(words[0] for words in self.arguments if not words[0].startswith("-"))

    def has(self, options: Collection[str]) -> bool:
        return any(_name(words) in options for words in self.arguments)

    def without(self, options: Collection[str]) -> tuple[str, ...]:
        kept = (words for words in self.arguments if _name(words) not in options)
        return (*self.start, *(word for words in kept for word in words))


def part(words: Sequence[str], program: str, with_value: Collection[str]) -> ProgramCommand | None:
    """Part a command that starts a program, by its name or by a path that ends with it; None for any other program.

    ``program`` is a regular expression. The value of an option in ``with_value`` may be a word of its own.
    """
    for starter in STARTERS:
        count = len(starter)
        if tuple(words[:count]) == starter and words[count:] and re.fullmatch(program, words[count].rpartition("/")[2]):
            return ProgramCommand(tuple(words[: count + 1]), tuple(arguments(words[count + 1 :], with_value)))
    return None


def arguments(words: Sequence[str], with_value: Collection[str]) -> Iterator[tuple[str, ...]]:
    """Yield options, each with its value if that is a word of its own, and other words."""
    rest = list(words)
    while rest:
        count = 2 if rest[0] in with_value else 1
        yield tuple(rest[:count])
        del rest[:count]


def _name(words: Sequence[str]) -> str:
    return words[0].partition("=")[0]
