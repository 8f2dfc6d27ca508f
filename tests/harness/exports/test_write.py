from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assay.harness.domain import Instance, Rule, Status
from assay.harness.errors import DataError, UserError
from assay.harness.exports import FORMATS
from assay.harness.exports.base import ExportFormat, Problem, RunToExport
from assay.harness.exports.metadata import SubmissionMetadata
from assay.harness.exports.write import problems, refuse_ineligible, write
from assay.harness.grading.grade import STOPPED_EARLY
from assay.harness.runs.manifest import RunKind
from exported import Made, graded
from planted import PLANTED, TEXT, find_left, has_counted_all, plant
from toy import make_instance


def made_up(*files: tuple[str, bytes], required: tuple[str, ...] = (), fails: bool = False) -> ExportFormat:
    def written(_run: RunToExport) -> Iterator[tuple[str, bytes]]:
        yield from files
        if fails:
            raise UserError("cannot go on")

    def check(_folder: Path) -> Iterator[Problem]:
        yield Problem("a.txt", "name", "is empty; write one")
        raise DataError("is not JSON", file="b.json", line=3)

    about: Any = SimpleNamespace(NAME="mine", LEADERBOARD=False, REQUIRED=required, files=written, check=check)
    return about


@pytest.fixture
def run(instance: Instance, make_run: Made) -> RunToExport:
    return make_run(graded(instance, {}))


def test_each_evaluation_that_is_read_is_reported(run: RunToExport) -> None:
    said: list[str] = []
    assert [each.instance.id for each in replace(run, progress=said.append).evaluations()] == ["acme__calc-1"] == said


def test_files_appear_together(run: RunToExport, tmp_path: Path) -> None:
    files = (("a.txt", b"1"), ("b/c.txt", b"2"))
    assert write(made_up(*files), run, tmp_path / "out") == ["a.txt", "b/c.txt"]
    assert (tmp_path / "out/b/c.txt").read_bytes() == b"2"


def test_an_error_leaves_nothing(run: RunToExport, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot go on"):
        write(made_up(("a.txt", b"1"), fails=True), run, tmp_path / "x" / "out")
    assert list((tmp_path / "x").rglob("*")) == []


@pytest.mark.parametrize("name", ["../a", "/a", "a//b", "a/./b", "a\\b", "a\0", ""])
def test_no_file_leads_out_of_the_folder(run: RunToExport, tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="cannot be the path of an exported file"):
        write(made_up((name, b"")), run, tmp_path / "out")


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (None, "^--metadata FILE is not given: mine needs authors, os_model; write a line for each"),
        (Path("me.yaml"), "^me.yaml: mine needs authors, os_model; write a line for each"),
    ],
)
def test_every_missing_field_is_named(
    instance: Instance, make_run: Made, tmp_path: Path, file: Path | None, message: str
) -> None:
    run = make_run(graded(instance, {}), metadata=SubmissionMetadata(name="Me", os_system=False))
    chosen = made_up(required=("name", "authors", "os_model", "os_system"))
    with pytest.raises(UserError, match=message):
        write(chosen, run, tmp_path / "out", metadata_file=file)


def test_an_unreadable_file_is_the_last_problem(tmp_path: Path) -> None:
    found = [str(each) for each in problems(made_up(), tmp_path)]
    assert found == ["a.txt: name: is empty; write one", "b.json:3: is not JSON"]


def test_a_folder_to_check_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no such folder to check"):
        problems(made_up(), tmp_path / "none")


@pytest.mark.parametrize(
    ("about", "reason"),
    [
        ({"settings": {"oracle": "gold_patch"}}, "its solver was given the gold_patch of each instance"),
        ({"given": {"--labels": "0123"}}, "its patches were graded by other labels than the data set's own"),
        ({"settings": {"fail-fast": "yes"}}, "not all tests were run"),
        ({"kind": RunKind.CONTROL}, "it is an evaluation of gold patches or of none"),
        ({"kind": RunKind.VALIDATE}, "it is a validation of instances"),
        ({"kind": RunKind.AUDIT}, "it is an audit of instances"),
        ({"kind": RunKind.DEMO}, "it is a demonstration"),
        ({"model": "gold"}, "it is a control run"),
        ({"model": "null"}, "it is a control run"),
    ],
)
def test_a_marked_run_goes_to_no_leaderboard(
    instance: Instance, make_run: Made, about: dict[str, object], reason: str
) -> None:
    run = make_run(
        graded(instance, dict.fromkeys(instance.fail_to_pass + instance.pass_to_pass, Status.PASSED)), **about
    )
    for name, chosen in FORMATS.items():
        folder = run.store.root.with_name(name)
        if chosen.LEADERBOARD:
            with pytest.raises(UserError, match=f"exported to no leaderboard: {reason}"):
                write(chosen, run, folder)
            assert not folder.exists()


def test_gold_patches_without_a_mark_go_to_no_leaderboard(make_run: Made) -> None:
    one, two = (graded(make_instance(id=name), {}) for name in ("a-1", "a-2"))
    gold = one.instance.gold_patch
    with pytest.raises(UserError, match="each of its patches is the gold patch"):
        refuse_ineligible(make_run(one, two, patches={"a-1": gold, "a-2": f"\n{gold}\n"}))
    with pytest.raises(UserError, match="each of its patches is the gold patch"):
        refuse_ineligible(make_run(one, two, patches={"a-1": gold, "a-2": ""}))


def test_patches_of_tests_go_to_no_leaderboard(make_run: Made) -> None:
    task = graded(make_instance(rule=Rule.SWT_BENCH, fail_to_pass=(), pass_to_pass=()), {})
    with pytest.raises(UserError, match="its patches are tests"):
        refuse_ineligible(make_run(task))


def test_a_models_run_is_not_refused(make_run: Made) -> None:
    one, two = (graded(make_instance(id=name), {}) for name in ("a-1", "a-2"))
    for kind in (RunKind.EVALUATE, RunKind.EVALUATE_SOLVED, RunKind.UNKNOWN):
        refuse_ineligible(make_run(one, two, patches={"a-1": one.instance.gold_patch}, kind=kind))
    refuse_ineligible(make_run(one, two, patches={"a-1": "", "a-2": ""}))


def test_a_run_with_an_early_stop_goes_to_no_leaderboard_without_a_mark(make_run: Made) -> None:
    one, two = (graded(make_instance(id=name), {}) for name in ("a-1", "a-2"))
    stopped = replace(two, verdict=two.verdict.model_copy(update={"flags": (STOPPED_EARLY,)}))
    with pytest.raises(UserError, match="not all tests were run"):
        refuse_ineligible(make_run(one, stopped))


METADATA = SubmissionMetadata.model_validate(
    {
        **dict.fromkeys(("name", "authors", "org"), "me"),
        **dict.fromkeys(("site", "report"), "https://example.com"),
        "split": "lite",
        "model": ["m"],
        "org": ["me"],
        "os_model": True,
        "os_system": True,
    }
)


@pytest.mark.parametrize("name", ["harbor", "swebench", "junit"])
def test_no_secret_is_exported_except_in_patches(
    name: str, instance: Instance, make_run: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    kept = PLANTED[2].line
    run = make_run(
        graded(instance, {}),
        outputs={instance.id: TEXT + kept},
        patches={instance.id: f"{instance.gold_patch}+{kept}\n"},
        trajectories={instance.id: tmp_path / "trajectory.txt"},
        metadata=METADATA,
    )
    (tmp_path / "trajectory.txt").write_text(TEXT)
    write(FORMATS[name], run, tmp_path / "out")
    files = [path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()]
    left = {secret for content in files for secret in find_left(content)}
    assert left == {PLANTED[2].secret}
    assert any(run.predictions[0].patch.encode() == content for content in files) or name == "junit"
    assert has_counted_all(run.redaction.taken + run.redaction.kept)
