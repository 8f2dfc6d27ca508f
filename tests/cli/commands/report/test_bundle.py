"""``assay report bundle``: what it prints, what it needs, and where it writes."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest


def test_a_run_is_sealed_with_a_new_key_and_said_how_to_trust_it(assay: Callable, run: Path) -> None:
    done = assay("report", "bundle", "rows.gold", "-o", "gold.bundle", "--new-key", "key")
    assert done.code == 0
    public = Path("key.pub").read_text().rpartition(" ")[0]
    assert done.out.startswith("gold.bundle: ")
    assert public in done.out
    assert done.err == ""


def test_json_names_file_hash_and_signer(assay: Callable, run: Path) -> None:
    found = assay("report", "bundle", "rows.gold", "-o", "gold.bundle", "--new-key", "key", "--json").json
    assert found["bytes"] == Path("gold.bundle").stat().st_size
    assert found["bundle"]["run"] == "rows.gold"
    assert found["fingerprint"].startswith("SHA256:")
    assert len(found["sha256"]) == 64


def test_the_same_run_and_key_give_the_same_file(assay: Callable, run: Path) -> None:
    first = assay("report", "bundle", "rows.gold", "-o", "one", "--new-key", "key", "--json").json
    second = assay("report", "bundle", "rows.gold", "-o", "two", "--json", ASSAY_KEY="key").json
    assert first["sha256"] == second["sha256"]


def test_a_bundle_without_a_key_is_refused_with_both_ways_to_have_one(assay: Callable, run: Path) -> None:
    assay("report", "bundle", "rows.gold", "-o", "gold.bundle").refuses("--key FILE", "--new-key")
    assert not Path("gold.bundle").exists()


@pytest.mark.parametrize(
    ("output", "key", "says"),
    [
        ("runs/rows.gold/x", "key", "is in the run's own folder"),
        ("x", "runs/rows.gold/instances/acme__calc-1/key", "is in the run's own folder"),
        (".", "key", "is a folder; -o names the file to write"),
    ],
)
def test_a_place_that_would_end_in_the_bundle_is_refused(
    output: str, key: str, says: str, assay: Callable, run: Path
) -> None:
    assay("report", "bundle", "rows.gold", "-o", output, "--new-key", key).refuses(says)
    assert not Path(key).exists()


def test_a_run_whose_evidence_says_otherwise_is_not_sealed(assay: Callable, run: Path) -> None:
    verdict = run / "instances/acme__calc-2/verdict.json"
    verdict.write_text(verdict.read_text().replace('"resolved"', '"unresolved"'))
    assay("report", "bundle", "rows.gold", "-o", "gold.bundle", "--new-key", "key").refuses(
        "acme__calc-2/verdict.json: outcome is unresolved, its evidence gives resolved"
    )


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")
def test_an_encrypted_key_takes_its_passphrase_from_the_environment(assay: Callable, run: Path) -> None:
    make = ["ssh-keygen", "-q", "-t", "ed25519", "-a", "1", "-N", "secret", "-f", "key"]
    subprocess.run(make, check=True)
    bundle = ("report", "bundle", "rows.gold", "-o", "gold.bundle", "--key", "key")
    assert "ASSAY_KEY_PASSPHRASE" in assay(*bundle).err
    assert assay(*bundle, ASSAY_KEY_PASSPHRASE="secret").code == 0
