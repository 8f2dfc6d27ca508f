"""Look-alikes of SWE-bench's published images, made from Assay's own, for machines that reach no registry.

The environment lies below ``/opt/miniconda3`` and is entered with ``conda activate testbed``; the repository is in
``/testbed`` with all its history, later commits included; everything belongs to root.

Run as a program, it makes the images that rows of a data set name:
``python tests/support/lookalikes.py DATASET MIRRORS ID``.
"""

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from assay.harness.domain import Instance, PublishedImage
from assay.harness.engines.base import Engine
from assay.harness.patches.diff import find_touched_paths

START, END = ": '>>>>> Start Test Output'", ": '>>>>> End Test Output'"
ACTIVATE = """\
conda() {
    [ "$1" = activate ] || return 1
    export CONDA_DEFAULT_ENV="$2" CONDA_PREFIX="/opt/miniconda3/envs/$2" PATH="/opt/miniconda3/envs/$2/bin:$PATH"
}
"""
DOCKERFILE = """\
FROM {image}
USER root
RUN rm -rf /testbed/.git /opt/assay
COPY git /testbed/.git
COPY activate /opt/miniconda3/bin/activate
RUN chown -R root: /testbed && userdel --remove assay && rm -f /etc/gitconfig \\
 && cd /testbed && git status --short > /dev/null && git commit -qam SWE-bench --allow-empty \\
 && mkdir -p /opt/miniconda3/envs && [ ! -d /opt/venv ] || {{ ln -s /opt/venv /opt/miniconda3/envs/testbed \\
 && sed -i 's/^include-system.*/include-system-site-packages = true/' /opt/venv/pyvenv.cfg \\
 && /opt/venv/bin/python -m ensurepip; }}
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/go/bin VIRTUAL_ENV=
"""


def build_lookalike(engine: Engine, name: str, image: str, repository: Path, commit: str) -> None:
    """Build a look-alike.

    Args:
        engine: where it is built.
        name: of the look-alike.
        image: Assay's own image of an instance.
        repository: a clone of the instance's repository.
        commit: the instance's base commit.
    """
    with tempfile.TemporaryDirectory() as scratch:
        context = Path(scratch) / "context"
        context.mkdir()
        clone = Path(scratch) / "clone"
        _git("clone", "-q", "--no-hardlinks", str(repository), str(clone))
        _git("-C", str(clone), "-c", "advice.detachedHead=false", "checkout", "-q", commit)
        _git("-C", str(clone), "config", "user.email", "setup@swebench.config")
        _git("-C", str(clone), "config", "user.name", "SWE-bench")
        (clone / ".git").rename(context / "git")
        (context / "activate").write_text(ACTIVATE)
        (context / "Dockerfile").write_text(DOCKERFILE.format(image=image))
        engine.build(name, context, Path(scratch) / "log", secrets={}, labels={"assay.kind": "lookalike"})


def dress_lookalike(engine: Engine, name: str, image: str, files: Mapping[str, str], *commands: str) -> None:
    """Make another data set's image of a look-alike: with more files, by path, and after commands."""
    with tempfile.TemporaryDirectory() as scratch:
        context = Path(scratch) / "context"
        for path, text in files.items():
            (context / "files" / path.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
            (context / "files" / path.lstrip("/")).write_text(text)
        lines = [f"FROM {image}", *(["COPY files /"] if files else []), *(f"RUN {command}" for command in commands)]
        (context / "Dockerfile").parent.mkdir(exist_ok=True)
        (context / "Dockerfile").write_text("\n".join(lines) + "\n")
        engine.build(name, context, Path(scratch) / "log", secrets={}, labels={"assay.kind": "lookalike"})


def eval_script(instance: Instance, tests: str, install: str = "python -m pip install -e .", prepare: str = "") -> str:
    """Return a script as rows of SWE-bench 5.x have it."""
    paths = " ".join(find_touched_paths(instance.test_patch))
    return f"""\
#!/bin/bash
set -uxo pipefail
source /opt/miniconda3/bin/activate
conda activate testbed
cd /testbed
git config --global --add safe.directory /testbed
cd /testbed
git status
git show
git -c core.fileMode=false diff {instance.base_commit}
source /opt/miniconda3/bin/activate
conda activate testbed
{prepare}
{install}
git checkout {instance.base_commit} {paths}
git apply -v - <<'EOF_114329324912'
{instance.test_patch}
EOF_114329324912
{START}
{tests}
{END}
git checkout {instance.base_commit} {paths}
"""


def _git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True)


def main(dataset: str, mirrors: str, *ids: str) -> None:
    """Make the images that some rows name."""
    from assay.harness.engines.docker import open_engine
    from assay.instances.dataset.load import load
    from assay.instances.environments.image_builder import ImageBuilder
    from assay.instances.trees.sources import Sources
    from assay.jobs.workbench import keep_script

    engine = open_engine()
    for instance in load(dataset, ids=ids, published_images=True).instances:
        published = instance.environment
        assert isinstance(published, PublishedImage)
        own = ImageBuilder(engine, Sources([Path(mirrors)]), note=print).build_image(keep_script(instance))
        build_lookalike(engine, published.image, own, _clone_of(Path(mirrors), instance.repo), instance.base_commit)


def _clone_of(mirrors: Path, repo: str) -> Path:
    names = (repo, repo.replace("/", "__"), f"{repo}.git")
    return next(mirrors / name for name in names if (mirrors / name).exists())


if __name__ == "__main__":
    main(*sys.argv[1:])
