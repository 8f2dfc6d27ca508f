"""What a shell is given to complete, through the same door as the shell's own."""

from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture
def complete(assay_process: Callable) -> Callable[[str], list[str]]:
    """Return what bash is given for a line that ends where the cursor is."""

    def ask(line: str) -> list[str]:
        words = line.split(" ")
        env = {"_ASSAY_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
        done = assay_process(**env)
        assert (done.code, done.err) == (0, "")
        found: list[str] = done.out.split()
        return found

    return ask


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("assay eva", ["evaluate"]),
        ("assay report ver", ["verify"]),
        ("assay evaluate releases --rerun", ["--rerun-failed"]),
        ("assay evaluate rel", ["releases"]),
        ("assay evaluate releases --engine fa", ["fake"]),
        ("assay evaluate releases --environment pub", ["published"]),
        ("assay solve releases --agent bash", ["bash_loop"]),
        ("assay report export mine --format swebe", ["swebench"]),
    ],
)
def test_commands_options_and_names_are_completed(line: str, names: list[str], complete: Callable) -> None:
    assert complete(line) == names


def test_runs_are_completed_from_the_folder_of_runs(complete: Callable, in_folder: Path) -> None:
    for name in ("runs/mine", "runs/yours", "other/mean"):
        (in_folder / name).mkdir(parents=True)
        (in_folder / name / "run.json").touch()
    (in_folder / "runs/many").mkdir()
    assert complete("assay report show m") == ["mine"]
    assert complete("assay report compare mine y") == ["yours"]
    assert complete("assay report show --runs-dir other m") == ["mean"]
    (in_folder / "assay.toml").write_text('runs_dir = "other"\n')
    assert complete("assay report show m") == ["mean"]


def test_data_files_and_folders_are_completed_beside_the_aliases(complete: Callable, in_folder: Path) -> None:
    (in_folder / "rel.jsonl").touch()
    (in_folder / "rel.txt").touch()
    (in_folder / "rel").mkdir()
    assert complete("assay evaluate rel") == ["releases", "rel/", "rel.jsonl"]


def test_wrong_settings_do_not_disturb_a_line_that_is_being_typed(complete: Callable, in_folder: Path) -> None:
    (in_folder / "assay.toml").write_text("nonsense = 1\n")
    assert complete("assay evaluate releases --engine fa") == ["fake"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_a_shell_is_printed(shell: str, assay_process: Callable) -> None:
    done = assay_process("--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert done.code == 0
    assert "_ASSAY_COMPLETE" in done.out
