"""cargo test and nextest: tripwires are at the end of the main file of every test program."""

import random
import shlex
from collections.abc import Sequence

from assay.harness.domain import Siblings, Status
from assay.harness.languages.rust import EXIT, RUN_DOCUMENTATION, RUN_PROGRAMS
from assay.harness.runners.appending import append_copies
from assay.harness.runners.base import (
    DEFINES_EXPECTED,
    PLACE,
    PLACEHOLDER,
    Adapted,
    DoubledFile,
    Tripwires,
    read_placing,
    read_sources,
    snake_name,
)
from assay.harness.runners.choosing import KINDS, OPTIONS, read_choice
from assay.harness.runners.commands import ProgramCommand, arguments, part
from assay.harness.runners.templates import draw, fill

NAME = "cargo"
PRINTS = frozenset({Status.PASSED, Status.FAILED})

LEFT_OUT = frozenset({"--offline", "--no-fail-fast", "--frozen", "-q", "--quiet"})
OTHER_WORK = frozenset({"--doc", "--bench", "--benches", "--example", "--examples", "--all-targets", "--no-run"})
SHOWING = frozenset({"--nocapture", "--no-capture", "--show-output", "--exact", "--quiet", "-q"})
"""Options of a test program that change its output, or ask for whole names, which the tripwires' are not."""
HARNESS_WITH_VALUE = frozenset({"--skip", "--test-threads", "--color", "--format", "--logfile", "-Z"})
SELECTING = ("--skip", "--ignored", "--format", "--logfile", "--list", "--test")
RUNNERS = """\
export CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=/opt/assay/run-tests
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=/opt/assay/run-tests
"""

TEST = "\n#[cfg(test)]\n#[::core::prelude::v1::test]\nfn $name() {\n    %s\n}\n"
PANICS = TEST.replace("fn", "#[should_panic]\nfn")
RETURNS = TEST.replace("()", "() -> ::core::result::Result<(), u64>")
TEXTS, GROUPS = read_sources(NAME)
TEMPLATES = {"tests": TEST, "panics": PANICS, "returns": RETURNS}
BODIES = [(status, TEMPLATES[group] % body) for group, bodies in GROUPS.items() for status, body in bodies]
HELPERS = "total same"

PLACING = DEFINES_EXPECTED + read_placing("cargo.sh")
"""Every target is a process; a test in documentation is one by itself, in which nothing else can be.

Arguments are a command's options that choose packages and targets.
"""


def tripwires(dice: random.Random) -> Tripwires:
    """Return functions for the outermost scope, where macros are the ones that the real tests use."""
    wires = draw(dice, BODIES, lambda dice: f"{snake_name(dice)}{PLACE}")
    text = fill(dice, TEXTS["head"] + "".join(wire.source for wire in wires), HELPERS)
    names = " ".join(wire.name.replace(PLACE, "") for wire in wires)
    return Tripwires({f"{snake_name(dice)}.rs": text}, {wire.name: wire.status for wire in wires}, names)


def place_siblings(files: Sequence[DoubledFile]) -> Siblings:
    """Return files with copies of their outermost functions at the end; those in a module would not find its names."""
    return append_copies(files, r"^(?:async )?fn (\w+)\(", "@snake:NUMBER@", lambda copy, _: copy)


def adapt(words: Sequence[str]) -> Adapted | None:
    """Adapt ``cargo test``; a filter of tests lets the tripwires pass, and then selects names that contain it.

    Test programs are started by ``/opt/assay/run-tests``, as in Assay's own images.
    """
    place = list(words).index("--") if "--" in words else len(words)
    words, behind = words[:place], words[place + 1 :]
    command = part(words, "cargo", OPTIONS[NAME].value_options)
    if command is None or command.targets[:1] != ("test",) or command.has(OTHER_WORK):
        return None
    options = [word for each in command.arguments if each[0] not in (*command.targets, *LEFT_OUT) for word in each]
    inner = ProgramCommand((), tuple(arguments(behind, HARNESS_WITH_VALUE)))
    filters = [*command.targets[1:], *inner.targets]
    harness = inner.without({*inner.targets, *SHOWING})
    runs_tripwires = not any(word.startswith(SELECTING) for word in harness)
    selected = shlex.join([*filters, *harness]) + f" {PLACEHOLDER}" * bool(filters and runs_tripwires)
    tail = f" -- {selected}" if filters or harness else ""
    chosen = read_choice(NAME, [("cargo", "test", *options)]).chosen
    has_kinds = any(word.partition("=")[0] in KINDS for word in chosen)
    programs = f"{shlex.join(options)}{'' if has_kinds else ' --tests'}{tail}"
    text = RUNNERS + RUN_PROGRAMS.replace("@PROGRAMS@", programs.strip())
    if not has_kinds:
        documentation = shlex.join(["", *options, *(("--", *filters) if filters else ())])[2:]
        text += RUN_DOCUMENTATION.replace("@DOCUMENTATION@", documentation)
    return Adapted((text + EXIT).replace("@CARGO@", words[0]), "cargo_text", chosen, runs_tripwires)
