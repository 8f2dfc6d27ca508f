"""jest: every file of tests has its own globals, so tripwires are appended to each."""

import random
import shlex
from collections.abc import Sequence

from assay.harness.domain import Status
from assay.harness.runners import commands, javascript
from assay.harness.runners.base import Adapted, Tripwires
from assay.harness.runners.choosing import OPTIONS, read_choice

NAME = "jest"
place_siblings = javascript.place_siblings
PRINTS = frozenset({Status.PASSED, Status.FAILED})
PLACING = javascript.appending("source=jest.js")
BODIES = (*javascript.ENDINGS, *javascript.CALLBACK, *javascript.EXPECT, *javascript.LIBRARIES)


FORWARDING = {
    **dict.fromkeys(("react-scripts", "react-app-rewired", "craco", "tsdx", "dts", "kcd-scripts", "razzle"), "test"),
    "vue-cli-service": "test:unit",
    "wp-scripts": "test-unit-js",
    "umi-test": "",
}
"""Programs that start jest with all further words, and the word that makes them."""
OTHER_WORK = frozenset({"--watch", "--watchAll", "--listTests", "--showConfig", "--version", "--init", "--clearCache"})
NO_WATCH = ("--watch=false", "--watchAll=false", "--no-watch")
LEFT_OUT = frozenset(
    {"--json", "--outputFile", "--reporters", "--bail", "-b", "--verbose", "--silent", "--ci", "--coverage"}
)
LEFT_OUT |= frozenset({"--collectCoverage", "--colors", "--color", "--logHeapUsage"})


def tripwires(dice: random.Random) -> Tripwires:
    """Return tests that declare and expect with what the file itself does."""
    return javascript.make(dice, "jest.js", BODIES)


def adapt(words: Sequence[str]) -> Adapted | None:
    command = _part([word for word in words if word not in NO_WATCH])
    if not command or command.has(OTHER_WORK):
        return None
    options = "--ci --json --verbose --bail=0 --outputFile={report} --reporters=default"
    text = f"exec {shlex.join(command.without(LEFT_OUT))} {options}"
    runs_tripwires = read_choice(NAME, [command.without(LEFT_OUT)]).runs_tripwires
    return Adapted(text, "jest_json", command.targets, runs_tripwires)


def _part(words: Sequence[str]) -> commands.ProgramCommand | None:
    known = OPTIONS[NAME].value_options
    for program, word in FORWARDING.items():
        found = commands.part(words, program, known)
        if found and (not word or found.arguments[:1] == ((word,),)):
            rest = found.arguments[1:] if word else found.arguments
            return commands.ProgramCommand((*found.start, *filter(None, [word])), rest)
    return commands.part(words, r"jest(\.js)?", known)
