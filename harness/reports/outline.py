"""Read reports whose lines are indented under the titles of their suites."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Outline:
    """The open suites, as pairs of indentation and title."""

    open: list[tuple[int, str]] = field(default_factory=list)

    def suite(self, indent: int, title: str) -> None:
        """Open a suite; suites with the same or more indentation are closed."""
        self.close(indent)
        self.open.append((indent, title))

    def titles(self, indent: int) -> tuple[str, ...]:
        """Return the titles of the suites around a line of this indentation, outermost first."""
        self.close(indent)
        return tuple(title for _, title in self.open)

    def close(self, indent: int) -> None:
        while self.open and self.open[-1][0] >= indent:
            self.open.pop()


def count_indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
