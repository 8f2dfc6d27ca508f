"""Pictures as shapes with places in them, and the scales that place them. ``templates/charts.html`` draws them as SVG.

A shape names a class of the style sheet and no colour, so that a picture follows light and dark. Every picture has its
figures as a table too, for whoever cannot see it or wants to copy them. Nothing here is markup: the template escapes.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

WIDTH = 640  # width of every picture, in units of its own; the style sheet scales it
LETTER = 6.6  # approximate width of a letter of a label
LINE = 14.0
STEPS = (1, 2, 2.5, 5, 10)  # distances of ticks, times a power of ten


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle; ``hint`` is shown when the pointer rests on it."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    hint: str = ""
    step: int | None = None
    """Step of a trajectory that a click goes to."""


@dataclass(frozen=True, slots=True)
class Dot:
    """A filled circle."""

    x: float
    y: float
    kind: str
    hint: str = ""
    radius: float = 5


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line."""

    x1: float
    y1: float
    x2: float
    y2: float
    kind: str


@dataclass(frozen=True, slots=True)
class Label:
    """A line of text; ``anchor`` is ``start``, ``middle`` or ``end``."""

    x: float
    y: float
    text: str
    anchor: str = "start"
    kind: str = "label"


@dataclass(frozen=True, slots=True)
class FigureTable:
    """The figures of a picture."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart: what it shows in words, its shapes, its legend (class and word), and its figures."""

    name: str
    """Distinguishes the pictures of a page; letters and hyphens."""
    title: str
    description: str
    height: float
    table: FigureTable
    boxes: tuple[Bar, ...] = ()
    dots: tuple[Dot, ...] = ()
    lines: tuple[Line, ...] = ()
    labels: tuple[Label, ...] = ()
    legend: tuple[tuple[str, str], ...] = ()
    width: float = WIDTH


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps figures from ``low`` to ``high`` to places from ``start`` to ``end``; figures outside go to the ends."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, figure: float) -> float:
        """Return the place of a figure, to a tenth of a unit."""
        share = (figure - self.low) / (self.high - self.low) if self.high > self.low else 0.0
        return round(self.start + min(1.0, max(0.0, share)) * (self.end - self.start), 1)


def ticks(high: float, about: int = 5) -> tuple[float, ...]:
    """Return round figures from 0 up to the first that is not below ``high``, in ``about`` as many steps."""
    top = high if math.isfinite(high) and high > 0 else 1.0
    power = 10.0 ** math.floor(math.log10(top / about))
    step = next((power * each for each in STEPS if power * each * about >= top), power * 10)
    return tuple(round(step * number, 12) for number in range(math.ceil(top / step - 1e-9) + 1))


def count_ticks(high: int, about: int) -> tuple[float, ...]:
    some = (ticks(high, distances) for distances in range(about, 0, -1))
    return next(found for found in some if all(each.is_integer() for each in found))


def finite(figures: Iterable[float | None]) -> list[float]:
    """Keep the figures that are finite and not negative."""
    return [each for each in figures if each is not None and math.isfinite(each) and each >= 0]


def cut(text: str, letters: int) -> str:
    """Return a text in one line of at most ``letters`` letters; its end gives way to an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= letters else f"{line[: letters - 1]}…"


def place_labels(dots: Sequence[tuple[Dot, str]], right: float) -> tuple[Label, ...]:
    """Return a label beside each dot, or below or above if another one is there; to its left at the picture's end."""
    found: list[Label] = []
    taken: list[tuple[float, float, float]] = []
    for dot, text in dots:
        width = LETTER * len(text)
        to_left = dot.x + dot.radius + 4 + width > right
        x = dot.x - dot.radius - 4 if to_left else dot.x + dot.radius + 4
        begin = x - width if to_left else x
        near = [at for left, end, at in taken if begin < end and left < begin + width]
        y = next(each for each in _places(dot.y + 4) if all(abs(each - at) >= LINE for at in near))
        taken.append((begin, begin + width, y))
        found.append(Label(round(x, 1), y, text, "end" if to_left else "start"))
    return tuple(found)


def _places(y: float) -> Iterator[float]:
    yield y
    for number in count(1):
        yield y + LINE * number
        if y - LINE * number > LINE:
            yield y - LINE * number
