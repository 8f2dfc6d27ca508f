"""A small project with its image, for evaluations in real containers."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from assay.harness.domain import Instance, TestPlan
from assay.harness.engines.docker import DockerEngine
from corpus.stage import git
from toy import make_instance

BASE = {
    "pyproject.toml": '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
    '[project]\nname = "calc"\nversion = "1"\n[tool.setuptools]\npy-modules = ["calc"]\n',
    "calc.py": "def add(a, b):\n    return a - b\n",
    "tests/test_calc.py": "import calc\n\ndef test_same():\n    assert calc.add(0, 0) == 0\n",
    "tests/data.txt": "golden\n",
}


@pytest.fixture(scope="session")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of mirrors with one repository: a base commit, and a later one that holds the fix."""
    root = tmp_path_factory.mktemp("mirror")
    repo = root / "acme" / "calc"
    for name, text in BASE.items():
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text(text)
    git(repo, "init", "-q", "-b", "main")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "base")
    (repo / "calc.py").write_text("def add(a, b):\n    return a + b  # the later fix\n")
    git(repo, "commit", "-qam", "fix")
    git(repo, "tag", "v2")
    return root


@pytest.fixture(scope="session")
def prepared(
    mirror: Path, docker_engine: DockerEngine, module_instance: Instance, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, TestPlan]:
    from assay.instances.environments.image_builder import ImageBuilder
    from assay.instances.environments.plan import make_plan
    from assay.instances.environments.recipes import find_recipe
    from assay.instances.trees.sources import Sources

    image = ImageBuilder(docker_engine, Sources([mirror])).build_image(module_instance)
    return image, make_plan(module_instance, find_recipe(module_instance))


@pytest.fixture(scope="session")
def module_instance(mirror: Path) -> Instance:
    commit = git(mirror / "acme/calc", "rev-parse", "HEAD~1")
    return make_instance(base_commit=commit, created_at=datetime(2023, 6, 1, tzinfo=UTC))
