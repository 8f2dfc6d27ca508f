"""Reading reports whose lines are indented under the titles of the suites they belong to."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Outline:
    """The open suites: titles by how far they are indented."""

    open: list[tuple[int, str]] = field(default_factory=list)

    def suite(self, indent: int, title: str) -> None:
        """Open a suite; it closes those that are indented as far or further."""
        self.close(indent)
        self.open.append((indent, title))

    def titles(self, indent: int) -> tuple[str, ...]:
        """Return the titles of the suites that a line of this indent lies in, outermost first."""
        self.close(indent)
        return tuple(title for _, title in self.open)

    def close(self, indent: int) -> None:
        """Close the suites that are indented as far or further."""
        while self.open and self.open[-1][0] >= indent:
            self.open.pop()


def indent_of(line: str) -> int:
    """Return how many blanks a line starts with."""
    return len(line) - len(line.lstrip(" "))
