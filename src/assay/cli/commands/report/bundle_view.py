"""Output of ``assay report bundle`` and ``verify``."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli import console
from assay.harness.names import count
from assay.harness.runs.manifest import WORDS
from assay.version import __version__

if TYPE_CHECKING:
    from assay.harness.bundles.commitments import CommitmentLine
    from assay.harness.bundles.consistency import Shown
    from assay.harness.bundles.seal import Bundle
    from assay.harness.bundles.verify import Signed
    from assay.jobs.bundle import VerifiedBundle
    from assay.jobs.commit import CheckedLog

SHOWN = 20  # problems that are printed one by one; ``--json`` has all


@contextmanager
def show_steps() -> "Iterator[Shown]":
    """Show the steps of long work on a live line, or elsewhere in a line every half minute."""
    with console.live_line(100, "") as line:
        said = time.monotonic()
        every = console.EVERY_LIVE / 10 if line else console.EVERY

        def show(step: str, done: int, total: int) -> None:
            nonlocal said
            if time.monotonic() - said < every:
                return
            said = time.monotonic()
            text = f"{step}: {100 * done // max(total, 1)} %"
            if line:
                line(text)
            else:
                console.say(text)

        yield show


def print_verification(found: "VerifiedBundle", file: Path) -> None:
    """Print a line for each kind of check, then the problems; only the problems if the file is no bundle."""
    if found.signature is None:
        _print(f"WRONG  {file}: {'; '.join(map(str, found.problems))}")
        return
    if found.bundle:
        _print_about(found.bundle)
    print(f"  signature   {_signature(found.signature)}")
    if found.files:
        print(f"  files       {found.files} compared with the signed list")
    if found.graded is None:
        print("  verdicts    not graded again: the files are not those that were signed")
    else:
        print(f"  verdicts    {found.graded} graded again from the evidence, and the report's figures from those")
        described = f"{found.environments - found.undescribed} of {found.environments}"
        print(f"  images.lock says what {described} images are made of")
        print(f"  labels      {_labels(found)}")
    if found.gold_patches:
        gold = count(found.gold_patches, "patch", "patches")
        print(f"  answers     byte for byte the gold patch of their instance: {gold}")
    _print_replay(found)
    for problem in found.problems[:SHOWN]:
        _print(f"WRONG  {problem}")
    if len(found.problems) > SHOWN:
        print(f"WRONG  and {len(found.problems) - SHOWN} more; --json has all")
    print(_conclusion(found))


def print_commitment(log: Path, line: "CommitmentLine", *, as_json: bool) -> None:
    about = line.commitment
    if as_json:
        console.print_json({"log": str(log), "line": line.number, "hash": line.digest, "commitment": about})
        return
    made = count(len(about.patches), "patch", "patches") if about.patches else "a solver"
    print(f"{about.run}: {count(len(about.rows), 'row')} and {made}, line {line.number} of {log}")
    print(f"publish this hash of the line before you run anything: {line.digest}")


def print_log(found: "CheckedLog", file: Path) -> None:
    """Print how runs keep a log of commitments."""
    _print(f"{file}: {count(found.committed, 'run')} committed; hash of the last line {found.head or 'none'}")
    for each in found.runs:
        if not each.problems:
            _print(f"  {each.run} keeps what line {each.line} commits to")
    for problem in (*found.problems, *(problem for each in found.runs for problem in each.problems)):
        _print(f"WRONG  {problem}")
    for title, names in (("not reported", found.not_reported), ("not committed", found.not_committed)):
        if names:
            _print(f"  {title}: {', '.join(names[:SHOWN])}{' ...' if len(names) > SHOWN else ''}")
    print(f"{len(found.not_reported)} of {count(found.committed, 'committed run')} not reported.")


def _print_about(about: "Bundle") -> None:
    _print(
        f"{about.run}: {count(about.instances, 'instance')} of {about.dataset.name} {about.dataset.revision}".rstrip()
    )
    _print(f"  run         {WORDS[about.kind]}, by Assay {about.assay_version}")
    _print(f"  model       {about.model or 'unnamed'}")
    if about.assay_version != __version__:
        print(f"  version     this is Assay {__version__}, which may grade in another way")
    if about.oracle:
        _print(f"  oracle      the solver was given the {about.oracle} of each instance")


def _labels(found: "VerifiedBundle") -> str:
    left_out = f"; {found.quarantined} tests quarantined" if found.quarantined else ""
    if found.dataset_instances is None:
        return f"those that the bundle brings; --dataset compares them{left_out}"
    asked = found.bundle.instances if found.bundle else 0
    return f"compared with the data set's; {asked} of its {found.dataset_instances} instances are in the run{left_out}"


def _print(text: str) -> None:
    """Print a line with text of a stranger: nothing in it may steer the terminal or look like another line."""
    print("".join(each if each.isprintable() else repr(each)[1:-1] for each in text))


def _signature(signed: "Signed") -> str:
    who = {
        "trusted": f"trusted: {signed.name or 'your key'}, {signed.fingerprint}",
        "unknown": f"valid, by a key that nobody vouches for here: {signed.fingerprint}; name its owner with --signers",
        "stranger": f"valid, by a key that is not among yours: {signed.fingerprint}",
        "invalid": "invalid",
    }
    return who[signed.state]


def _print_replay(found: "VerifiedBundle") -> None:
    for each in found.replayed:
        same = "as before" if each.before == each.after and not each.difference else f"{each.before} before"
        _print(f"  evaluated   {each.instance_id}: {each.after}, {same}")
        for text in (each.image, *each.other_tests):
            if text:
                _print(f"              {text}")
    if found.seed is not None:
        print(f"  seed        {found.seed} chose {count(len(found.replayed), 'instance')}")


def _conclusion(found: "VerifiedBundle") -> str:
    if found.problems:
        return f"The bundle does not hold: {count(len(found.problems), 'problem')}."
    if found.signature and found.signature.state == "trusted":
        return "The bundle holds, and its signer is trusted."
    return "The bundle holds; who signed it is not known here."
