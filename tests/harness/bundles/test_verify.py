"""A bundle holds as it was sealed, and every change to it is found and named."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.bundles.seal import MANIFEST, SIGNATURE
from assay.harness.bundles.signing import new_private_key
from assay.harness.bundles.tar import END
from assay.harness.bundles.verify import SignatureState, Verification
from sealed import RUN, Files, SealedRun, member, named, packed, verified

EVALUATION = r"runs/mine/instances/acme__calc-\d"
KINDS = (
    r"MANIFEST",
    r"MANIFEST\.sig",
    r"bundle\.json",
    r"error-card\.json",
    r"images\.lock",
    r"runs/mine/journal\.jsonl",
    r"runs/mine/predictions\.jsonl",
    r"runs/mine/report\.json",
    r"runs/mine/run\.json",
    r"runs/mine/stability\.json",
    r"runs/mine/verdicts\.jsonl",
    rf"{EVALUATION}/evidence\.json",
    rf"{EVALUATION}/instance\.json",
    rf"{EVALUATION}/patch\.diff",
    rf"{EVALUATION}/verdict\.json",
    rf"{EVALUATION}/test_output\.txt",
    rf"{EVALUATION}/reports/report\.json",
    rf"{EVALUATION}/reports/line%0Aend.*",
    rf"{EVALUATION}/patchdiff/comparison\.json",
    rf"{EVALUATION}/patchdiff/test_suites\.py",
    rf"{EVALUATION}/reruns/1/(evidence|instance|verdict)\.json",
    rf"{EVALUATION}/reruns/1/(patch\.diff|test_output\.txt|reports/.*)",
    r"runs/mine\.control-(gold|null)/(journal|predictions|verdicts)\.jsonl",
    r"runs/mine\.control-(gold|null)/(report|run)\.json",
    r"runs/mine\.control-(gold|null)/instances/.*",
)
"""One pattern for every kind of member."""
FORGERIES = yaml.safe_load(Path(__file__).with_name("forgeries.yaml").read_text())
FIRST = f"runs/{RUN}/instances/acme__calc-1"
SECOND = f"runs/{RUN}/instances/acme__calc-2"


def resealed(files: Files, sealed: SealedRun, *, signs: bool) -> bytes:
    """Pack changed files with a new list of hashes; signed anew, or with the old signature."""
    rest = {name: text for name, text in files.items() if name not in {MANIFEST, SIGNATURE}}
    manifest = "".join(f"{hashlib.sha256(text).hexdigest()}  {name}\n" for name, text in rest.items()).encode()
    signature = sealed.key.sign(manifest).encode() if signs else files[SIGNATURE]
    return packed({MANIFEST: manifest, SIGNATURE: signature, **rest})


def edited(text: bytes, **changes: object) -> bytes:
    return json.dumps({**json.loads(text), **changes}).encode()


def test_a_bundle_as_it_was_sealed_holds(sealed: SealedRun, tmp_path: Path) -> None:
    found = verified(sealed.path.read_bytes(), tmp_path, sealed.signers)
    assert found.problems == ()
    assert found.bundle is not None
    assert (found.bundle.runs, found.bundle.instances) == (("mine", "mine.control-gold", "mine.control-null"), 3)
    assert found.bundle.dataset.revision == "r1"
    assert (found.files, found.graded) == (len(sealed.files()) - 2, 3)
    assert found.signature is not None
    assert (found.signature.state, found.signature.name) == (SignatureState.TRUSTED, "me")


def test_every_member_is_of_a_kind_that_is_tested(sealed: SealedRun) -> None:
    assert not [name for name in sealed.files() if not any(re.fullmatch(kind, name) for kind in KINDS)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_flipped_bit_in_a_member_of_each_kind_is_found_and_its_file_named(
    kind: str, sealed: SealedRun, tmp_path: Path
) -> None:
    files = sealed.files()
    name = next(name for name in files if re.fullmatch(kind, name) and files[name])
    content = bytearray(files[name])
    content[len(content) // 2] ^= 1
    found = verified(packed({**files, name: bytes(content)}), tmp_path, sealed.signers)
    assert not found.holds
    assert name in named(found) or any(name in each.what for each in found.problems)


@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_any_flipped_bit_anywhere_in_the_archive_is_found(
    place: float, bit: int, sealed: SealedRun, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = bytearray(sealed.path.read_bytes())
    content[int(place * len(content))] ^= 1 << bit
    found = verified(bytes(content), tmp_path_factory.mktemp("flipped"))
    assert found.problems
    assert all("\n" not in str(each) for each in found.problems)


@given(place=st.floats(0, 1, exclude_max=True))
def test_a_truncated_archive_is_refused_in_one_line(
    place: float, sealed: SealedRun, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = sealed.path.read_bytes()
    found = verified(content[: int(place * len(content))], tmp_path_factory.mktemp("cut"))
    (problem,) = (each for each in found.problems)
    assert re.search("cut off|ends inside", str(problem))
    assert found.graded is None


def test_an_added_file_is_named(sealed: SealedRun, tmp_path: Path) -> None:
    added = f"{FIRST}/reports/more.xml"
    found = verified(packed({**sealed.files(), added: b"<x/>"}), tmp_path)
    assert str(found.problems[0]) == f"{added}: was added: it is not in the signed list"


@pytest.mark.parametrize("kind", KINDS)
def test_a_removed_file_is_named(kind: str, sealed: SealedRun, tmp_path: Path) -> None:
    files = sealed.files()
    name = next(name for name in files if re.fullmatch(kind, name))
    del files[name]
    found = verified(packed(files), tmp_path)
    assert any(name in str(each) for each in found.problems)


def test_a_renamed_file_is_named_with_both_names(sealed: SealedRun, tmp_path: Path) -> None:
    old, new = f"{FIRST}/test_output.txt", f"{FIRST}/output.txt"
    files = {new if name == old else name: text for name, text in sealed.files().items()}
    found = verified(packed(files), tmp_path)
    assert str(found.problems[0]) == f"{new}: is {old} under another name"
    assert str(found.problems[1]) == f"{old}: is missing"


def test_a_repeated_file_is_named_even_if_it_is_the_same(sealed: SealedRun, tmp_path: Path) -> None:
    files, name = sealed.files(), f"{FIRST}/verdict.json"
    content = packed(files)[: -len(END)] + member(name, files[name]) + END
    found = verified(content, tmp_path)
    assert [str(each) for each in found.problems] == [f"{name}: is in the archive more than once"]


def test_a_second_copy_with_another_content_is_named_and_nothing_graded(sealed: SealedRun, tmp_path: Path) -> None:
    files, name = sealed.files(), f"{SECOND}/verdict.json"
    forged = member(name, files[name].replace(b'"unresolved"', b'"resolved"'))
    found = verified(packed(files)[: -len(END)] + forged + END, tmp_path)
    assert named(found) == {name}
    assert found.graded is None


def test_members_in_another_order_are_named(sealed: SealedRun, tmp_path: Path) -> None:
    files = sealed.files()
    names = [*files]
    names[-1], names[-2] = names[-2], names[-1]
    found = verified(packed({name: files[name] for name in names}), tmp_path)
    assert "another order" in str(found.problems[0])


@pytest.mark.parametrize(
    ("kind", "says"), [(b"1", "a hard link"), (b"2", "a symbolic link"), (b"5", "a folder"), (b"3", "a device")]
)
def test_what_is_no_regular_file_is_refused(kind: bytes, says: str, sealed: SealedRun, tmp_path: Path) -> None:
    files, name = sealed.files(), f"{FIRST}/evidence.json"
    header = bytearray(member(name, b""))
    header[156:157] = kind
    header[157:168] = b"/etc/passwd"
    found = verified(packed(files)[: -len(END)] + bytes(header) + END, tmp_path)
    assert [str(each) for each in found.problems] == [f"{name}: is {says}; a bundle holds regular files only"]
    assert found.graded is None


@pytest.mark.parametrize("name", ["../outside", "/etc/passwd", "runs/../../outside", "runs//x", "runs/./x"])
def test_a_path_that_leads_out_is_refused_and_nothing_written(name: str, sealed: SealedRun, tmp_path: Path) -> None:
    found = verified(packed(sealed.files())[: -len(END)] + member(name, b"x") + END, tmp_path)
    assert [str(each) for each in found.problems] == [f"{name}: leads out of its folder, or names one twice"]
    assert {path.name for path in tmp_path.iterdir()} == {"scratch", "tried.bundle"}


@pytest.mark.parametrize(
    "content",
    [b"", b"PK\3\4" + bytes(600), bytes(2048), b"\x1f\x8b\x08" + bytes(2000), b"not a bundle\n" * 100],
    ids=["empty", "zip", "zeros", "gzip", "text"],
)
def test_a_file_that_is_no_bundle_is_refused_in_one_line(content: bytes, tmp_path: Path) -> None:
    found = verified(content, tmp_path)
    (problem,) = found.problems
    assert re.search("no bundle|cut off|is compressed|has bytes after its end", str(problem))
    assert found.signature is None


def test_a_member_that_claims_eight_gigabytes_is_refused_without_reading_them(
    sealed: SealedRun, tmp_path: Path
) -> None:
    from assay.harness.bundles.tar import MEMBER_BYTES, header

    for name in (MANIFEST, f"{FIRST}/evidence.json"):
        folder = tmp_path / name.replace("/", "-")
        folder.mkdir()
        before = {} if name == MANIFEST else sealed.files()
        found = verified(packed(before)[: -len(END)] + header(name, MEMBER_BYTES) + b"x" * 512, folder)
        assert re.search("more than it can have|ends inside|cut off", str(found.problems[-1]))


def test_bytes_after_the_end_are_found(sealed: SealedRun, tmp_path: Path) -> None:
    found = verified(sealed.path.read_bytes() + b"\0", tmp_path)
    assert [str(each) for each in found.problems] == ["the archive has bytes after its end"]


def test_a_forged_verdict_with_new_hashes_but_no_key_is_named_twice(sealed: SealedRun, tmp_path: Path) -> None:
    files, name = sealed.files(), f"{SECOND}/verdict.json"
    files[name] = files[name].replace(b'"unresolved"', b'"resolved"')
    found = verified(resealed(files, sealed, signs=False), tmp_path, sealed.signers)
    assert found.signature is not None
    assert found.signature.state is SignatureState.INVALID
    assert {MANIFEST, name} <= named(found)
    assert any("outcome is resolved, its evidence gives unresolved" in str(each) for each in found.problems)


def test_what_another_key_signed_is_no_forgery_and_not_trusted(sealed: SealedRun, tmp_path: Path) -> None:
    other = SealedRun(sealed.store, new_private_key(tmp_path / "other"), sealed.path)
    content = resealed(sealed.files(), other, signs=True)
    (tmp_path / "a").mkdir()
    found = verified(content, tmp_path / "a", sealed.signers)
    assert found.signature is not None
    assert found.signature.state is SignatureState.STRANGER
    assert str(found.problems[0]) == f"{MANIFEST}: is signed by {other.key.public.fingerprint}, which is not in me.pub"
    found = verified(content, tmp_path)
    assert found.holds
    assert found.signature is not None
    assert found.signature.state is SignatureState.UNKNOWN


def test_the_signature_of_another_bundle_does_not_fit(sealed: SealedRun, tmp_path: Path) -> None:
    files = {**sealed.files(), SIGNATURE: sealed.key.sign(b"another list").encode()}
    found = verified(packed(files), tmp_path, sealed.signers)
    assert named(found) == {MANIFEST}


def forge(files: Files, how: dict[str, Any]) -> None:
    """Change files as the table says."""
    for name, fields in how.get("set", {}).items():
        files[name] = edited(files[name], **fields)
    if "replace" in how:
        name, old, new = how["replace"]
        assert old.encode() in files[name]
        files[name] = files[name].replace(old.encode(), new.encode())
    if "swap" in how:
        one, other = how["swap"]
        files[one], files[other] = files[other], files[one]
    if "double" in how:
        files[how["double"]] *= 2
    if "spoil" in how:
        files[how["spoil"]] = b"\xff\xfe"
    for name in [name for name in files if "drop" in how and re.fullmatch(how["drop"], name)]:
        del files[name]


@pytest.mark.parametrize("how", FORGERIES.values(), ids=FORGERIES)
def test_what_its_own_signer_forged_is_found_where_it_contradicts_the_evidence(
    how: dict[str, Any], sealed: SealedRun, tmp_path: Path
) -> None:
    files = sealed.files()
    forge(files, how)
    assert how["names"] in named(verified(resealed(files, sealed, signs=True), tmp_path, sealed.signers))


def test_an_oracle_mark_removed_from_the_run_is_found_by_the_hash(sealed: SealedRun, tmp_path: Path) -> None:
    files, name = sealed.files(), "runs/mine/run.json"
    run = json.loads(files[name])
    files[name] = edited(files[name], settings={**run["settings"], "oracle": ""})
    found: Verification = verified(packed(files), tmp_path)
    assert [str(each) for each in found.problems] == [f"{name}: its content is not what was signed"]
