"""Records what a command prints as a picture (SVG) that plays it, line by line, once.

    python scripts/record_terminal.py docs/pictures/demo.svg -- assay demo

The picture needs no script and no font from elsewhere. Pauses of more than two seconds are played as two seconds.
"""

import argparse
import os
import pty
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from html import escape
from pathlib import Path

from rich.color import Color
from rich.console import Console
from rich.style import Style
from rich.terminal_theme import MONOKAI
from rich.text import Text

COLUMNS = 100
LONGEST_PAUSE = 2.0  # seconds
LINE, CHARACTER, MARGIN = 18, 8.4, 16  # pixels
STYLE = """\
text { font: 14px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; fill: #d9d9d9 }
g { opacity: 0; animation: show 0s forwards }
@keyframes show { to { opacity: 1 } }
@media (prefers-reduced-motion: reduce) { g { animation-delay: 0s !important } }"""

Shown = tuple[float, str]
"""Seconds from the start, and a line with the terminal's escapes."""


def main() -> None:
    """Run the command and write the picture; the exit status is the command's."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", type=Path, help="file to write")
    parser.add_argument("command", nargs="+", help="after --")
    given = parser.parse_args()
    lines, code = record(given.command)
    given.picture.parent.mkdir(parents=True, exist_ok=True)
    given.picture.write_text(draw([(0.0, f"$ {shlex.join(given.command)}"), *shorten_pauses(lines)]), encoding="utf-8")
    sys.exit(code)


def record(command: Sequence[str]) -> tuple[list[Shown], int]:
    """Run a command in a terminal where no line changes; return its lines and its exit status."""
    began, lines = time.monotonic(), list[Shown]()
    ours, theirs = pty.openpty()
    environment = {**os.environ, "CI": "true", "TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        # Linux ends the reading of a terminal that nobody holds any more with an error.
        with suppress(OSError), os.fdopen(ours, encoding="utf-8", errors="replace", newline="\n") as printed:
            for line in printed:
                lines.append((time.monotonic() - began, line.rstrip("\r\n")))
                print(line, end="", flush=True)
    return lines, process.returncode


def shorten_pauses(lines: Iterable[Shown]) -> list[Shown]:
    """Return the lines with each pause cut to ``LONGEST_PAUSE``."""
    shown, now, last = list[Shown](), 0.5, 0.0
    for at, line in lines:
        now, last = now + min(at - last, LONGEST_PAUSE), at
        shown.append((now, line))
    return shown


def draw(lines: Sequence[Shown]) -> str:
    """Return the picture in which each line appears at its time."""
    width, height = COLUMNS * CHARACTER + 2 * MARGIN, (len(lines) + 1) * LINE + 2 * MARGIN
    drawn = [
        f'<g style="animation-delay: {at:.2f}s">'
        f'<text x="{MARGIN}" y="{MARGIN + LINE * number}">{draw_line(line)}</text></g>'
        for number, (at, line) in enumerate(lines, 1)
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img">',
            f"<title>{escape(Text.from_ansi(lines[0][1]).plain)}</title>",
            f"<style>{STYLE}</style>",
            '<rect width="100%" height="100%" rx="8" fill="#1b1d23"/>',
            *drawn,
            "</svg>\n",
        ]
    )


def draw_line(line: str) -> str:
    """Return a line's pieces, each in its style; lines that are too long end in an ellipsis."""
    text = Text.from_ansi(line)
    text.truncate(COLUMNS, overflow="ellipsis")
    pieces = [
        f"<tspan{name_style(style or Style())}>{escape(piece)}</tspan>"
        for piece, style, _ in text.render(Console(), end="")
    ]
    return "".join(pieces)


def name_style(style: Style) -> str:
    """Return a style as attributes of SVG, with a blank before each."""
    given = {
        "fill": name_color(style.color) if style.color else "",
        "font-weight": "bold" if style.bold else "",
        "opacity": "0.6" if style.dim else "",
    }
    return "".join(f' {name}="{value}"' for name, value in given.items() if value)


def name_color(color: Color) -> str:
    """Return a terminal's color as the web names it."""
    return color.get_truecolor(MONOKAI).hex


if __name__ == "__main__":
    main()
