"""Test files for divergences: written, then confirmed by running.

All files are run as a person would run them: ``python -m pytest FILE``, with the project's own settings.
"""

import json
import shlex
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import decode_source
from pathlib import PurePosixPath

from assay.harness.patchdiff.contract import Context
from assay.harness.patchdiff.probing import PYTHON, Suspects
from assay.harness.patchdiff.reproduction.writing import FAILURE, Check, Draft, MakeDraft
from assay.harness.patchdiff.sides import OUT, Side, SideJob, read_files

LIMIT = 20.0  # seconds for one file, the import of the project included
BOTH = (Side.GOLD, Side.CANDIDATE)


def reproduce(
    context: Context, suspects: Suspects, make_draft: MakeDraft, laid: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return test files that pass with gold and fail with the candidate, by probe; raises as ``Sides.run``.

    ``laid`` has the test files that are in no tree, path to text.
    """
    tests = (str((line.get("literal") or {}).get("test", "")) for line in suspects.values())
    paths = sorted({test.partition("::")[0] for test in tests} - {""})
    contents = read_files(context.sides, Side.GOLD, paths) if paths else {}
    sources = {path: text for path, raw in contents.items() if (text := decode(raw))} | dict(laid or {})
    drafts = {probe: draft for probe, line in suspects.items() if (draft := make_draft(line, sources))}
    began = time.monotonic()
    seen = dict(zip(drafts, _explore(context.part(0.5), [*drafts.values()]), strict=True)) if drafts else {}
    each = (time.monotonic() - began) / max(1, len(drafts))
    texts = {probe: drafts[probe].write(check) for probe, check in seen.items() if check}
    files = {text: drafts[probe].folder for probe, text in texts.items() if text}
    held = _confirm(context, files, each) if files else set()
    return {probe: text for probe, text in texts.items() if text in held}


def _explore(context: Context, drafts: Sequence[Draft]) -> list[Check | None]:
    """Run drafts once on both sides; return the checks that fail where these differ."""
    written = {number: each.write(Check(log=f"{OUT}/{number}.jsonl")) for number, each in enumerate(drafts)}
    files = {number: (_path(drafts[number].folder, number), text) for number, text in written.items() if text}
    gold, candidate = _run_both(context, files, (0,))
    names = [f"{number}.jsonl" for number in range(len(drafts))]
    return [find_check(gold.get(name, b""), candidate.get(name, b"")) for name in names]


def find_check(gold: bytes, candidate: bytes) -> Check | None:
    """Return the check that fails at the first look in which two logs differ; None if none does."""
    of_gold, of_candidate = ([tuple(json.loads(line)) for line in log.splitlines()] for log in (gold, candidate))
    for at, (one, other) in enumerate(zip(of_gold, of_candidate, strict=False)):
        if one != other:
            return Check(tuple(of_gold[: at + 1]), other)
    return None


def _confirm(context: Context, files: Mapping[str, str], each: float) -> set[str]:
    """Return the texts of files that pass with gold and fail for their difference with the candidate, every time.

    ``files`` has the folder of each text; one file takes ``each`` seconds.
    """
    numbered = {number: (_path(folder, number), text) for number, (text, folder) in enumerate(files.items())}
    seeds = range(context.rounds(each * len(files)))
    gold, candidate = _run_both(context, numbered, seeds)
    return {
        text
        for number, (_, text) in numbered.items()
        if all(gold.get(f"{number}-{seed}.end", b"").split() == [b"0", b"0"] for seed in seeds)
        and all(candidate.get(f"{number}-{seed}.end", b"").split() == [b"1", b"1"] for seed in seeds)
    }


def _run_both(
    context: Context, files: Mapping[int, tuple[str, str]], seeds: Sequence[int]
) -> list[Mapping[str, bytes]]:
    """Run files once for each hash seed on both sides; return each side's output files.

    ``NUMBER-SEED.end`` has pytest's exit status, and 1 if the file's own check failed.
    """
    runs = [
        f"PYTHONHASHSEED={seed} timeout -k 5 {int(LIMIT)} {PYTHON} -m pytest {shlex.quote(path)} < /dev/null"
        f" > /tmp/assay-run.txt 2>&1; echo $? $(grep -qF 'Failed: {FAILURE}' /tmp/assay-run.txt && echo 1 || echo 0)"
        f" > {OUT}/{number}-{seed}.end"
        for number, (path, _) in files.items()
        for seed in seeds
    ]
    contents = {path: text.encode() for path, text in files.values()}
    job = SideJob("\n".join([f"mkdir -p {OUT}", *runs, ""]), contents, seconds=context.seconds_left)
    return context.sides.map_sides(BOTH, lambda side: context.sides.run(side, job))


def _path(folder: str, number: int) -> str:
    return (PurePosixPath(folder) / f"test_assay_divergence_{number}.py").as_posix()


def decode(content: bytes) -> str:
    """Return the text of Python source, by its own encoding; "" if it has none."""
    with suppress(SyntaxError, UnicodeDecodeError):
        return decode_source(content)
    return ""
