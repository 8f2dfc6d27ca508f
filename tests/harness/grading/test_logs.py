from pathlib import Path

import pytest

from assay.harness.domain import ApplyStatus, Channel, Instance, Outcome, Rule, Stages, Status
from assay.harness.errors import DataError, UserError
from assay.harness.grading.grade import grade
from assay.harness.grading.logs import grade_logs, read_evidence
from toy import make_instance

GOOD = "PASSED t.py::test_fix\nPASSED t.py::test_old\n"
BAD = "FAILED t.py::test_fix - no\nPASSED t.py::test_old\n"


def make(name: str, log_format: str = "pytest_text") -> Instance:
    labels = {"fail_to_pass": ("t.py::test_fix",), "pass_to_pass": ("t.py::test_old",)}
    return make_instance(id=name, log_format=log_format, test_patch="", **labels)


def test_folder_of_logs_is_graded_and_compared(tmp_path: Path) -> None:
    (tmp_path / "o__r-1.test_output.txt").write_text(GOOD)
    (tmp_path / "O__R-2.some.model.eval.LOG").write_text(BAD)
    (tmp_path / "o__r-3.log").write_text(BAD)
    (tmp_path / "o__r-4.log").write_text(GOOD)
    (tmp_path / "o__r-10.txt").write_text(GOOD)
    (tmp_path / "notes.md").write_text("not a log")
    instances = [make("o__r-1"), make("o__r-2"), make("o__R-3"), make("o__r-4")]
    grades = grade_logs(tmp_path, instances, {"o__r-1": True, "o__r-2": True, "O__r-3": False})
    assert {name: verdict.outcome for name, verdict in grades.verdicts.items()} == {
        "o__r-1": Outcome.RESOLVED,
        "o__r-2": Outcome.UNRESOLVED,
        "o__R-3": Outcome.UNRESOLVED,
        "o__r-4": Outcome.RESOLVED,
    }
    assert set(grades.agreements) == {"o__r-1", "o__R-3"}
    assert grades.disagreements == ("o__r-2",)
    assert grades.unpublished == ("o__r-4",)
    assert grades.strangers == ("o__r-10.txt",)
    assert grades.agreement == pytest.approx(2 / 3)


def test_mixture_of_passed_and_expected_failures_under_a_cut_label_resolves(tmp_path: Path) -> None:
    log = "PASSED t.py::test_fix\nPASSED t.py::test_kept[a b]\nXFAIL t.py::test_kept[a c]\n"
    (tmp_path / "o__r-1.txt").write_text(fenced(log))
    instance = make("o__r-1").model_copy(update={"pass_to_pass": ("t.py::test_kept[a",)})
    grades = grade_logs(tmp_path, [instance], {"o__r-1": True})
    assert grades.agreements == ("o__r-1",)


def test_log_belongs_to_the_longest_matching_id(tmp_path: Path) -> None:
    (tmp_path / "o__r-1.2.txt").write_text(GOOD)
    assert list(grade_logs(tmp_path, [make("o__r-1"), make("o__r-1.2")]).verdicts) == ["o__r-1.2"]


def test_two_logs_of_one_instance_are_refused(tmp_path: Path) -> None:
    (tmp_path / "o__r-1.a.txt").write_text(GOOD)
    (tmp_path / "o__r-1.b.txt").write_text(BAD)
    with pytest.raises(DataError, match=r"o__r-1\.b\.txt: o__r-1: o__r-1\.a\.txt is of the same instance"):
        grade_logs(tmp_path, [make("o__r-1")])


def test_missing_folder_and_unknown_format_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nowhere: is no readable folder"):
        grade_logs(tmp_path / "nowhere", [])
    with pytest.raises(UserError, match="unknown report format 'cobolunit'"):
        read_evidence(make("o__r-1", "cobolunit"), GOOD)


def fenced(inner: str, after: str = "") -> str:
    return f"+ git apply -v -\n+ : '>>>>> Start Test Output'\n{inner}+ : '>>>>> End Test Output'\n{after}"


def test_exit_code_and_fences_are_read() -> None:
    evidence = read_evidence(make("o__r-1"), "PASSED t.py::x\n" + fenced(GOOD, ">>>>> Test Exit Code: 1\n"))
    assert evidence.exit_code == 1
    assert list(evidence.report.tests) == ["t.py::test_fix", "t.py::test_old"]
    assert evidence.report.channel is Channel.LOG


def test_output_without_end_marker_is_no_evidence() -> None:
    evidence = read_evidence(make("o__r-1"), ">>>>> Start Test Output\n" + GOOD)
    assert evidence.report.tests == {}


@pytest.mark.parametrize(
    ("marker", "outcome"),
    [
        ("Patch Apply Failed", Outcome.PATCH_CONFLICT),
        ("Tests Timed Out", Outcome.TIMED_OUT),
        ("Tests Errored", Outcome.ENV_ERROR),
        ("Reset Failed", Outcome.ENV_ERROR),
    ],
)
def test_failure_marker_of_a_log_decides(tmp_path: Path, marker: str, outcome: Outcome) -> None:
    (tmp_path / "o__r-1.txt").write_text(f"{GOOD}>>>>> {marker}: after 60 s\n")
    assert grade_logs(tmp_path, [make("o__r-1")]).verdicts["o__r-1"].outcome is outcome


def test_patch_without_marker_counts_as_applied() -> None:
    assert read_evidence(make("o__r-1"), GOOD).apply.status is ApplyStatus.APPLIED


@pytest.mark.parametrize(("more", "broken"), [("", ()), ("    ✓ more\n", ("test/cart.test.js > cart > more",))])
def test_a_test_of_several_names_counts_once_where_other_tests_count(more: str, broken: tuple[str, ...]) -> None:
    labels = {"fail_to_pass": ("cart > adds (9 ms)",), "pass_to_pass": ("cart > keeps",)}
    how = {"language": "javascript", "log_format": "jest_text", "test_id": "arrow", "rule": Rule.SWE_REBENCH}
    instance = make("o__r-1").model_copy(update={**labels, **how})
    verdict = grade(
        instance, read_evidence(instance, f"PASS test/cart.test.js\n  cart\n    ✓ adds (3 ms)\n    ✓ keeps\n{more}")
    )
    assert (verdict.resolved, verdict.broken) == (not broken, broken)


def test_bytes_that_are_not_utf8_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "o__r-1.txt").write_bytes(b"\xff\xfe\n" + GOOD.encode())
    assert grade_logs(tmp_path, [make("o__r-1")]).verdicts["o__r-1"].resolved


def test_agreement_is_a_share_of_what_was_compared(tmp_path: Path) -> None:
    for number in range(1, 5):
        (tmp_path / f"o__r-{number}.txt").write_text(BAD)
    instances = [make(f"o__r-{number}") for number in range(1, 5)]
    published = {"o__r-1": False, "o__r-2": False, "o__r-3": False, "o__r-4": True}
    grades = grade_logs(tmp_path, instances, published)
    assert (len(grades.agreements), grades.disagreements, grades.agreement) == (3, ("o__r-4",), 0.75)
    assert grade_logs(tmp_path, instances).agreement == 1.0


def test_resolved_log_of_an_unresolved_verdict_disagrees(tmp_path: Path) -> None:
    (tmp_path / "o__r-1.txt").write_text(GOOD)
    grades = grade_logs(tmp_path, [make("o__r-1")], {"o__r-1": False})
    assert (grades.agreements, grades.disagreements) == ((), ("o__r-1",))


def test_error_names_the_marker_of_a_broken_environment_alone() -> None:
    assert read_evidence(make("o__r-1"), ">>>>> Tests Errored\n").error == "the log says: Tests Errored"
    assert read_evidence(make("o__r-1"), ">>>>> Tests Timed Out\n").error == ""


@pytest.mark.parametrize("marker", ["", ">>>>> Patch Apply Failed\n", ">>>>> Tests Errored\n"])
def test_only_its_own_marker_is_a_timeout(marker: str) -> None:
    assert not read_evidence(make("o__r-1"), f"{GOOD}{marker}").timed_out


def test_log_without_a_test_has_no_channel() -> None:
    assert read_evidence(make("o__r-1"), "nothing\n").report.channel is Channel.NONE


@pytest.mark.parametrize(
    ("text", "tests", "ran"),
    [("1) adds numbers\n", {"adds numbers": Status.FAILED}, False), ("3 specs, 0 failures\n", {}, True)],
)
def test_log_of_failures_alone_has_a_channel_by_its_failures_or_its_end(
    text: str, tests: dict[str, Status], ran: bool
) -> None:
    report = read_evidence(make("o__r-1", "jasmine_text"), fenced(text)).report
    assert (report.channel, dict(report.tests), report.suite_ran) == (Channel.LOG, tests, ran)


def test_log_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "o__r-1.txt"
    folder.write_text(GOOD)
    folder.chmod(0)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Path, "read_text", _denied)
        with pytest.raises(DataError, match=r"o__r-1\.txt: cannot be read \(denied\)"):
            grade_logs(tmp_path, [make("o__r-1")])


def _denied(_path: Path, *_more: object, **_options: object) -> str:
    raise PermissionError(13, "denied")


def test_the_last_exit_code_counts_also_behind_words() -> None:
    log = fenced(GOOD + ">>>>> Test Exit Code: 0\nwords", ">>>>> Test Exit Code: 137\n").replace("words+", "+")
    assert read_evidence(make("o__r-1"), log).exit_code == 137
    assert read_evidence(make("o__r-1"), GOOD + "words>>>>> Test Exit Code: 2\n").exit_code == 2


def test_labels_that_end_in_a_blank_name_the_tests_of_a_log() -> None:
    how = {"language": "javascript", "log_format": "jest_text", "test_id": "title"}
    instance = make("o__r-1").model_copy(update={"fail_to_pass": ("adds ",), "pass_to_pass": (" keeps  all ",), **how})
    log = "PASS a.test.js\n  \u2713 adds \n  \u2713 keeps all (3 ms)\n\nTests:       2 passed, 2 total\n"
    assert grade(instance, read_evidence(instance, log)).resolved
    assert not grade(instance, read_evidence(instance, log.replace("\u2713 adds", "\u2715 adds"))).resolved


def test_tests_that_r2e_overlooks_are_not_in_its_map() -> None:
    stages = Stages(fix={"test_fix": Status.PASSED})
    update = {"rule": Rule.R2E, "stages": stages, "fail_to_pass": (), "pass_to_pass": ()}
    instance = make("o__r-1").model_copy(update=update)
    log = "PASSED t.py::test_fix\n{} t.py::test_known\n"
    verdicts = {word: grade(instance, read_evidence(instance, log.format(word))) for word in ("XPASS", "PASSED")}
    assert [verdicts["XPASS"].resolved, verdicts["PASSED"].resolved] == [True, False]
