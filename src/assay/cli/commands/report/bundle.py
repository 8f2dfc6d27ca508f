"""``assay report bundle``: a finished run, packed and signed."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import options
from assay.cli.loading import find_run
from assay.harness.errors import UserError

if TYPE_CHECKING:
    from assay.harness.bundles.signing import PrivateKey

PASSPHRASE = "ASSAY_KEY_PASSPHRASE"
"""Variable with the passphrase of the key, for machines without a terminal."""


def bundle(
    run: options.RunName,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The bundle to write, a tar.")],
    key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Private ed25519 key of ssh-keygen, such as ~/.ssh/id_ed25519.")
    ] = None,
    new_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Make a key without a passphrase, and FILE.pub.")
    ] = None,
    runs_dir: options.RunsDir = options.RUNS_DIR,
    json: options.Json = False,
) -> None:
    """Pack a finished run, its evidence and what its environments are made of into one signed file.

    Anyone can check it with assay report verify. The same run and key give the same bytes. The key itself is never
    packed; the passphrase of an encrypted one is asked for, or read from ASSAY_KEY_PASSPHRASE. Runs of the controls
    (evaluate --controls) go into the bundle too. Secrets are taken out of outputs and reports; those in what decides a
    verdict, such as patches, stay and are counted.

    \b
    Examples:
      assay report bundle releases.gold -o gold.bundle --key ~/.ssh/id_ed25519
      assay report bundle mine -o mine.bundle --new-key signing-key
    """
    from assay.cli import console
    from assay.cli.commands.report.bundle_view import show_steps
    from assay.harness.redaction import describe
    from assay.jobs.bundle import seal_run

    store = find_run(run, runs_dir)
    _check_places(store.root, output, new_key or key)
    signing = _open_key(key, new_key)
    with show_steps() as show:
        sealed = seal_run(store, signing, output, show)
    trust = store.report().describe_counters()
    if json:
        about = {"file": str(output), "sha256": sealed.sha256, "bytes": sealed.size, "files": sealed.files}
        about |= {"key": str(signing.public), "fingerprint": signing.public.fingerprint}
        about["counter_tests"] = trust
        about |= {"redacted": sealed.redaction.taken, "secrets_left": sealed.redaction.kept}
        console.print_json({**about, "bundle": sealed.bundle})
        return
    print(f"{output}: {sealed.files} files, {sealed.size / 1e6:.1f} MB, sha256 {sealed.sha256}")
    print(trust)
    if said := describe(sealed.redaction.taken, sealed.redaction.kept, "files that decide verdicts"):
        print(said)
    print(f"signed by {signing.public.fingerprint}; those who check it need the public key: {signing.public}")


def _open_key(key: Path | None, new_key: Path | None) -> "PrivateKey":
    """Make or read the key to sign with; raises UserError if none is named."""
    from assay.harness.bundles.signing import new_private_key, read_private_key

    if new_key:
        return new_private_key(new_key.expanduser())
    if key is None:
        raise UserError("a bundle is signed: give --key FILE, such as ~/.ssh/id_ed25519, or make a key with --new-key")
    path = key.expanduser()
    return read_private_key(path, lambda: _ask_passphrase(path))


def _ask_passphrase(path: Path) -> bytes:
    given = os.environ.get(PASSPHRASE)
    if given is None:
        if not sys.stdin.isatty():
            raise UserError(f"{path} has a passphrase; set {PASSPHRASE}, or run this in a terminal")
        given = typer.prompt(f"Passphrase of {path}", hide_input=True, err=True)
    return given.encode()


def _check_places(root: Path, output: Path, key: Path | None) -> None:
    for path in (output, key):
        if path and path.expanduser().resolve().is_relative_to(root.resolve()):
            raise UserError(f"{path} is in the run's own folder; choose a place outside {root}")
    if output.is_dir():
        raise UserError(f"{output} is a folder; -o names the file to write")
