from datetime import UTC, datetime
from pathlib import Path

from assay.harness.domain import Instance, Recipe
from assay.instances.environments.recipes import check_recipes, find_recipe
from assay.instances.setup.setup_record import (
    AppliedChange,
    SetupRecord,
    SetupRound,
    load_record,
    record_path,
    save_record,
)

RECIPE = Recipe(repo="Acme/Calc", toolchain="3.9", packages=("pytest", "mock"), test_command="set -- {files}\npytest\n")
RECORD = SetupRecord(
    repo="Acme/Calc",
    commit="a" * 40,
    date=datetime(2021, 6, 1, tzinfo=UTC),
    language="python",
    accepted=True,
    reason="100.0% of 3 tests pass in two runs",
    recipe=RECIPE,
    attempts=(SetupRound(recipe=RECIPE, changes=(AppliedChange(rule="missing-module", reason="the module\nx"),)),),
)


def test_a_found_recipe_is_one_that_other_commands_find(tmp_path: Path) -> None:
    save_record(tmp_path, RECORD)
    check_recipes(tmp_path)
    instance = Instance(
        id="a", repo="acme/calc", problem_statement="", gold_patch="", test_patch="", fail_to_pass=(), pass_to_pass=(),
        created_at=RECORD.date,
    )  # fmt: skip
    assert find_recipe(instance, [tmp_path]) == RECIPE
    text = (tmp_path / "python/acme__calc.yaml").read_text()
    assert text.startswith(f"# Found by `assay dataset setup` for {'a' * 40} of 2021-06-01: 100.0% of 3 tests pass")
    assert "# missing-module: the module x\n" in text
    assert "test_command: |\n  set -- {files}\n" in text


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert load_record(save_record(tmp_path, RECORD)) == RECORD
    assert load_record(tmp_path / "none.json") is None


def test_a_search_without_success_leaves_no_recipe(tmp_path: Path) -> None:
    path = save_record(tmp_path, RECORD.model_copy(update={"accepted": False}))
    assert path == record_path(tmp_path, "python", "acme/calc", "a" * 40)
    assert [file.name for file in (tmp_path / "python").iterdir()] == [path.name]
