from datetime import date
from pathlib import Path

import pytest

from assay.harness.errors import UserError
from assay.instances.collect.find import MirrorHistory, find
from assay.instances.collect.steps import Change, Found
from histories import START, Repository, begin

REPO = "acme/calc"


def found(mirrors: Path, since: date | None = None, until: date | None = None) -> list[Found]:
    return list(find(MirrorHistory([mirrors]), [REPO], since, until))


def get_change(line: Found) -> Change:
    assert line.change
    return line.change


def test_squashed_and_merged_pull_requests_are_candidates_and_others_say_why_not(repository: Repository) -> None:
    lines = found(repository.folder.parent)
    assert [each.rule for each in lines] == ["root", "", "reference", "", ""]
    assert [(each.id, get_change(each).issues) for each in lines if each.kept] == [
        *(("acme__calc-3", (2,)), ("acme__calc-4", ()), ("acme__calc-5", (1,)))
    ]
    merge = get_change(lines[-1])
    assert (merge.base, merge.merged) == (repository.git("rev-parse", "HEAD^1"), ("Add the mean, closes #1",))
    assert repository.git("rev-parse", "mean") not in {get_change(each).commit for each in lines}


def test_both_dates_are_included(repository: Repository) -> None:
    some = found(repository.folder.parent, date(2024, 3, 2), date(2024, 3, 4))
    assert [get_change(each).date.day for each in some] == [2, 3, 4]


def test_days_are_those_of_greenwich(repository: Repository) -> None:
    repository.git(
        "commit", "--quiet", "--allow-empty", "-m", "Late (#9)", GIT_COMMITTER_DATE="2024-03-08T01:00:00+0600"
    )
    assert found(repository.folder.parent, until=date(2024, 3, 7))[-1].id == "acme__calc-9"


def test_a_commit_that_a_later_merge_brought_is_no_change(repository: Repository) -> None:
    some = found(repository.folder.parent, until=date(2024, 3, 5))
    assert [get_change(each).date.day for each in some] == [1, 2, 3, 4]


def test_a_merged_branch_is_none_but_its_commits_may_be(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "-b", "stable")
    fix = repository.commit("Divide by zero, fixes #8", {"calc.py": "pass\n"})
    repository.git("checkout", "--quiet", "main")
    repository.merge("Merge branch 'stable'", "stable")
    lines = {get_change(each).commit: each for each in found(repository.folder.parent)}
    assert lines[fix].id == f"acme__calc-{fix[:12]}"
    assert lines[fix].kept
    assert lines[repository.git("rev-parse", "HEAD")].rule == "branch"


def test_a_second_commit_of_a_pull_request_falls_out(repository: Repository) -> None:
    repository.commit("Sum again (#3)", {"calc.py": "pass\n"})
    last = found(repository.folder.parent)[-1]
    assert (last.rule, last.id) == ("again", f"acme__calc-{get_change(last).commit[:12]}")


def test_a_ref_names_the_pull_request_of_a_rebased_commit(tmp_path: Path) -> None:
    repository = begin(tmp_path / "acme+calc", START)
    commit = repository.commit("The sum is wrong", {"calc.py": "pass\n"})
    repository.git("update-ref", "refs/pull/9/head", commit)
    assert found(tmp_path)[-1].id == "acme__calc-9"


def test_a_repository_without_a_clone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no clone of acme/calc .*searched: "):
        found(tmp_path)
