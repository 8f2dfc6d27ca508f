"""Applies a patch that git refuses with ``patch --fuzz=5``, as some benchmarks do.

It works on a copy of the files that the patch names. The difference that it leaves there is the patch from then on.
"""

import re
from contextlib import suppress
from dataclasses import replace

from assay.harness.domain import FUZZED, TestPlan
from assay.harness.engines.base import Box
from assay.harness.engines.tars import pack_tar
from assay.harness.evaluation.delivery import GIT, format_list
from assay.harness.evaluation.supervising import HOME, MODEL
from assay.harness.patches.diff import MalformedPatchError
from assay.harness.patches.gate import MAX_FILES, GatedPatch, check_path, gate
from assay.harness.templates import read_program

SECONDS = 60.0
MAX_NAMES = 4 * MAX_FILES
_NAMED, _COPY = f"{HOME}/named", "/tmp/assay-copy"
_HEADER = re.compile(
    r"^[ \tX]*(?:---|\+\+\+|\*\*\*|Index:|diff --git|(?:rename|copy) (?:from|to))[ \t]+(.+)$", re.MULTILINE
)
_SCRIPT = read_program(__file__, "scripts/apply_with_fuzz.sh", COPY=_COPY, GIT=GIT, NAMED=_NAMED, MODEL=MODEL)
"""Copies the listed files of the base commit, patches the copy, and prints the difference. ``patch`` goes nowhere
but into the copy, in which there is neither a link nor a repository."""


def respell(box: Box, plan: TestPlan, patch: GatedPatch, *, allow_binary: bool) -> GatedPatch | None:
    """Write a patch anew by the changes that ``patch --fuzz=5`` makes; None if it refuses them, or the image lacks it.

    It runs as the tests' user, before any code of the patch. Raises EngineError, and MalformedPatchError as ``gate``.
    """
    box.put(pack_tar({_NAMED.strip("/"): format_list(_find_names(patch.text))}))
    script, most = ["bash", "-c", _SCRIPT], 2 * len(patch.text) + 2**20
    done = box.exec(script, user=plan.user, workdir=plan.workdir, seconds=SECONDS, output_bytes=most)
    if done.exit_code or done.timed_out or done.truncated or not done.output:
        return None
    try:
        text = done.output.decode()
    except UnicodeDecodeError as error:
        raise MalformedPatchError("a file that it changes is not UTF-8") from error
    found = gate(text, allow_binary=allow_binary)
    box.put(pack_tar({MODEL.strip("/"): found.text}))
    return replace(found, normalized=(*patch.normalized, FUZZED), strays=(*patch.strays, *found.strays))


def _find_names(text: str) -> list[str]:
    """Find the paths that a patch may name, with and without their first folder, in all that looks like a header."""
    found = dict[str, None]()
    for line in _HEADER.finditer(text):
        for word in (line[1].strip(), *line[1].split()):
            name = word.strip('"')
            for path in (name, name.partition("/")[2]):
                with suppress(MalformedPatchError, UnicodeEncodeError):
                    found[check_path(path.encode())] = None
        if len(found) > MAX_NAMES:
            break
    return [*found]
