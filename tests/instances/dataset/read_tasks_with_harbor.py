"""Run by a Python that has Harbor: list and validate the tasks of a folder with Harbor's own models.

Prints one JSON object: what Harbor sees of each task. Fails where Harbor would refuse one.
"""

import asyncio
import json
import sys
from pathlib import Path

from harbor.models.job.config import DatasetConfig
from harbor.models.task.task import Task
from harbor.models.task.verifier_mode import resolve_task_verifier_mode, resolve_verifier_environment_definition


def read(folder: Path) -> dict[str, object]:
    listed = asyncio.run(DatasetConfig(path=folder).get_task_configs())
    return {task.name: about(task) for task in (Task(each.path) for each in listed)}


def about(task: Task) -> dict[str, object]:
    verifier = resolve_verifier_environment_definition(task.config, task.paths)
    assert verifier is not None
    assert task.paths.test_path.is_file()
    assert task.paths.solve_path.is_file()
    return {
        "instruction": task.instruction,
        "image": task.config.environment.docker_image,
        "verifier_image": verifier.config.docker_image,
        "tests_are_uploaded": not verifier.bundled_tests,
        "mode": resolve_task_verifier_mode(task.config).value,
        "instance": task.config.metadata["instance_id"],
    }


json.dump(read(Path(sys.argv[1])), sys.stdout)
