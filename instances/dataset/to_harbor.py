"""Writes instances as tasks of Harbor, whose rewards ``assay serve`` gives.

<id>/task.toml           the image, and a verifier in a container of its own (``environment_mode = "separate"``)
<id>/instruction.md      the issue
<id>/tests/test.sh       sends the patch of the agent to the service, and writes reward.json with one key
<id>/solution/solve.sh   applies gold.patch beside it
<id>/environment/        a Dockerfile of one line, for tools that want one
"""

import json
import shlex
from collections.abc import Iterable
from pathlib import Path
from string import Template

from assay.harness.domain import Instance, PublishedImage
from assay.harness.errors import DataError, UserError
from assay.harness.files import replace_file
from assay.instances.dataset.formats.harbor import RULES
from assay.instances.environments.plan import WORKDIR
from assay.instances.environments.row_script import read_script

SECONDS = 3600  # limit of the agent, and of the verifier, which may wait for other evaluations
PATCH = "/logs/artifacts/model.patch"
"""What the agent changed, in the folder that Harbor carries from its container to the verifier's."""

TASK = Path(__file__).with_name("to_harbor.toml").read_text(encoding="utf-8")
GIT = "git -c safe.directory='*' -c core.hooksPath=/dev/null"
COLLECT = f"cd {{}} && mkdir -p /logs/artifacts && {GIT} add -A && {GIT} diff --cached --binary {{}} > {PATCH}"
FIRST = f"$({GIT} rev-list --max-parents=0 HEAD)"
"""The one commit of an image of Assay's, so that what the agent commits is part of the patch."""
SOLVE = '#!/bin/bash\ncd {} && git apply --allow-empty "$(dirname "$0")/gold.patch"\n'

TEST = Path(__file__).with_name("to_harbor.sh").read_text(encoding="utf-8")


def write_tasks(folder: Path, instances: Iterable[Instance], image: str = "") -> int:
    """Write instances as folders of tasks; return their number. Raises UserError.

    In ``image``, the name of their images, ``{id}`` stands for the id in lower case; empty for those of their rows.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} is not empty; name a folder that does not exist yet")
    found = [(each, task_files(each, image)) for each in instances]
    for instance, files in found:
        for name, text in files.items():
            replace_file(folder / instance.id / name, text.encode("utf-8", "surrogateescape"))
    return len(found)


def task_files(instance: Instance, image: str = "") -> dict[str, str]:
    """Return the files of a task by path; arguments and errors as of ``write_tasks``."""
    if instance.rule in RULES:
        raise DataError("is harbor: this is a task of Harbor already", instance=instance.id, field="rule")
    own = instance.environment if isinstance(instance.environment, PublishedImage) else None
    name = image.replace("{id}", instance.id.lower()) or (own.image if own else "")
    if not name:
        problem = "is missing: the row names no image; name Assay's own, pushed to a registry, with --image NAME"
        raise DataError(problem, instance=instance.id, field="image")
    is_own = own is not None and not image
    if own and is_own and (instance.base is not None or own.script_file):
        problem = "holds the fix; name Assay's own image with --image NAME"
        raise DataError(problem, instance=instance.id, field="image")
    workdir = read_script(own.eval_script).workdir if own and is_own else WORKDIR
    return {
        "task.toml": _task(instance, name, workdir, "HEAD" if is_own else FIRST),
        "instruction.md": instance.problem_statement.rstrip() + f"\n\nThe repository is in {workdir}.\n",
        "environment/Dockerfile": f"FROM {name}\nWORKDIR {workdir}\n",
        "solution/solve.sh": SOLVE.format(shlex.quote(workdir)),
        "solution/gold.patch": instance.gold_patch,
        "tests/test.sh": TEST.replace("@ID@", instance.id).replace("@PATCH@", PATCH),
    }


def _task(instance: Instance, image: str, workdir: str, base: str) -> str:
    values = {
        "name": f"assay/{instance.id}",
        "id": instance.id,
        "repo": instance.repo,
        "commit": instance.base_commit,
        "rule": instance.rule,
        "dataset": instance.dataset.name,
        "revision": instance.dataset.revision,
        "workdir": workdir,
        "collect": COLLECT.format(shlex.quote(workdir), base),
        "image": image,
    }
    quoted = {name: json.dumps(str(value)) for name, value in values.items()}
    text = Template(TASK).substitute(quoted, keywords=json.dumps(["swe", instance.language]), seconds=SECONDS)
    return text.rstrip() + (
        f"\ngpus = {instance.gpus}\n" if instance.gpus else "\n"
    )  # the last table is the environment
