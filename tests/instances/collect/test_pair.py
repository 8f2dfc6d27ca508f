from pathlib import Path

from assay.harness.patches.diff import find_touched_paths
from assay.instances.collect.find import MirrorHistory, find
from assay.instances.collect.pair import Issues, pair
from assay.instances.collect.steps import Paired
from assay.instances.trees.sources import Sources
from histories import Repository


def paired(folder: Path, issues: Issues | None = None) -> dict[str, Paired]:
    sources = Sources([folder], folder / "cache")
    lines = find(MirrorHistory([folder]), ["acme/calc"], None, None)
    return {each.id: pair(each, sources, issues or {}) for each in lines if each.kept}


def test_the_change_is_split_into_code_and_tests(repository: Repository) -> None:
    instance = paired(repository.folder.parent)["acme__calc-3"].instance
    assert instance
    assert find_touched_paths(instance.gold_patch) == ("calc.py",)
    assert find_touched_paths(instance.test_patch) == ("tests/test_calc.py",)
    assert instance.base_commit == repository.git("rev-parse", "main~4")
    assert (instance.language, instance.created_at.day) == ("python", 2)


def test_both_patches_give_the_tree_of_the_change(repository: Repository) -> None:
    instance = paired(repository.folder.parent)["acme__calc-5"].instance
    assert instance
    repository.git("checkout", "--quiet", instance.base_commit)
    patch = repository.folder.parent / "both.patch"
    patch.write_text(instance.gold_patch + instance.test_patch)
    repository.git("apply", "--index", str(patch))
    assert repository.git("write-tree") == repository.git("rev-parse", "main^{tree}")


def test_the_statement_is_the_message_and_the_row_says_so(repository: Repository) -> None:
    instance = paired(repository.folder.parent)["acme__calc-3"].instance
    assert instance
    assert instance.origin
    assert instance.problem_statement == (
        "Total of an empty list raises IndexError\n\n"
        "Calling total([]) ends in an IndexError, though the sum of nothing is zero."
    )
    columns = dict(instance.origin.columns)
    assert (columns["statement_from"], columns["issue_numbers"]) == ('"message"', "[2]")


def test_the_text_of_a_closed_issue_comes_first(repository: Repository) -> None:
    found = paired(repository.folder.parent, {("acme/calc", 2): "total([]) raises"})["acme__calc-3"]
    assert found.instance
    assert (found.instance.problem_statement, found.statement_from) == ("total([]) raises", "issue")


def test_a_change_that_is_no_text_falls_out(repository: Repository) -> None:
    (repository.folder / "calc.py").write_bytes(b"# caf\xe9\n" * 3)
    repository.commit("Spell it (#8)", {})
    assert paired(repository.folder.parent)["acme__calc-8"].rule == "not text"


def test_a_submodule_falls_out(repository: Repository) -> None:
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},vendor")
    repository.days += 1
    repository.git("commit", "--quiet", "--message", "Vendor it (#8)")
    assert paired(repository.folder.parent)["acme__calc-8"].rule == "submodule"
