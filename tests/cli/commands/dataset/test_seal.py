from collections.abc import Callable
from pathlib import Path

TASK = '[environment]\ndocker_image = "acme/hello:1"\n'


def make_task(folder: Path, task: str = TASK) -> None:
    for name, text in {"task.toml": task, "instruction.md": "Say hello.", "tests/test.sh": "true\n"}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_what_is_no_folder_of_tasks_is_refused_in_one_line(assay: Callable, rows: Path, in_folder: Path) -> None:
    assay("dataset", "seal", rows.name, "-o", "out").refuses("is no folder of Harbor's tasks, each with task.toml")
    assay("dataset", "seal", "nowhere", "-o", "out").refuses("nowhere")
    assert not (in_folder / "out").exists()


def test_a_task_without_an_image_or_with_a_verifier_of_its_own_is_refused(assay: Callable, in_folder: Path) -> None:
    make_task(in_folder / "tasks/hello", "")
    assay("dataset", "seal", "tasks", "-o", "out").refuses("environment.docker_image: is missing; build environment/")
    make_task(in_folder / "tasks/hello", f'artifacts = ["/app"]\n{TASK}[verifier]\nenvironment_mode = "separate"\n')
    assay("dataset", "seal", "tasks", "-o", "out").refuses("hello", "field verifier.environment_mode: is separate")


def test_an_engine_without_containers_seals_nothing(assay: Callable, in_folder: Path) -> None:
    make_task(in_folder / "tasks/hello")
    assay("dataset", "seal", "tasks", "-o", "out").refuses("the engine fake runs no containers")
