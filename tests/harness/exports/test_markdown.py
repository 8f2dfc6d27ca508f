from pathlib import Path

from assay.harness.domain import FailedPart
from assay.harness.exports import markdown
from exported import Made, graded, mixed
from submitted import complaints, exported
from toy import make_instance


def test_figures_come_first_and_what_is_not_resolved_before_what_is(make_run: Made, tmp_path: Path) -> None:
    run = make_run(*mixed(), missing=("a-7",), patches={"a-3": ""})
    text = exported(markdown, run, tmp_path / "out")["report.md"].decode()
    assert text.startswith(
        "## nightly: 1 of 7 resolved\n\nacme/model-1 on rows, 2026-11-23. 1 empty\\_patch, 1 env\\_error, "
    )
    assert "\n\n1 without a prediction: a-7.\n\n| instance | outcome | reason |\n| --- | --- | --- |\n" in text
    assert text.index("| a-6 |") < text.index("| a-1 | resolved | all expected tests pass |")
    assert complaints(markdown, tmp_path / "out") == []


def test_hostile_reasons_stay_text(make_run: Made, tmp_path: Path) -> None:
    error = "| <img src=x> | [a](b) `c`\nsecond line"
    hostile = graded(make_instance(), {}, failed_part=FailedPart.ENVIRONMENT, error=error)
    text = exported(markdown, make_run(hostile), tmp_path / "out")["report.md"].decode()
    assert "| acme\\_\\_calc-1 | env\\_error | \\| \\<img src=x\\> \\| \\[a\\](b) \\`c\\` |" in text


def test_a_file_that_github_would_not_show_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "report.md").write_text("\n")
    assert complaints(markdown, tmp_path) == ["report.md: is empty; export the run again"]
    (tmp_path / "report.md").write_text("x" * 65_537)
    (found,) = complaints(markdown, tmp_path)
    assert found.startswith("report.md: has 65537 characters; a comment on GitHub takes 65536")
