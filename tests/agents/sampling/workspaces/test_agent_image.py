"""The image that agents work in, built over untidy images."""

from pathlib import Path

import pytest

from assay.agents.sampling.workspaces.agent_image import AgentImages, build_files, check_start
from assay.agents.sampling.workspaces.container import ContainerSpec
from assay.harness.domain import TestPlan
from leaky_image import World, with_layer

UNTIDY = """\
set -eu
cd /testbed
git config user.name d; git config user.email d@d
echo 'changed while the image was made' >> README.txt
echo left > left-over.txt
git init --quiet inner
echo x > inner/x
git -C inner add x
git -C inner -c user.name=d -c user.email=d@d commit --quiet --message x
chown -R root: /testbed
"""


def test_build_files_name_folder_and_owner() -> None:
    files = build_files("parent:1", TestPlan(command="x", user="root", workdir="/work dir"))
    assert "FROM parent:1\n" in files["Dockerfile"]
    assert "ROOT='/work dir' OWNER=root" in files["Dockerfile"]
    assert "@" not in files["Dockerfile"]


@pytest.mark.docker
def test_image_is_built_once(world: World, tmp_path: Path) -> None:
    notes: list[str] = []
    images = AgentImages(world.engine, tmp_path, notes.append)
    assert images.image(world.leaky, world.place.plan) == world.image
    assert notes == []
    other = world.place.plan.model_copy(update={"user": "root"})
    assert images.image(world.leaky, other) != world.image


@pytest.mark.docker
def test_untidy_image_starts_with_an_empty_diff(world: World, tmp_path: Path) -> None:
    """Images of data sets are like this: owned by root, files changed, others left behind, a repository within."""
    untidy = with_layer(world.engine, tmp_path, world.place.image, UNTIDY)
    plan = world.place.plan.model_copy(update={"user": "root"})
    image = AgentImages(world.engine, tmp_path).image(untidy, plan)
    with ContainerSpec(world.engine, image, user="root").open() as workspace:
        check_start(workspace)
        assert workspace.diff() == ""
        assert workspace.exec("git status --short; git log --oneline | wc -l").output == "1\n"
        assert (workspace.read("README.txt") or b"").endswith(b"changed while the image was made\n")
        assert workspace.read("left-over.txt") == b"left\n"
        workspace.write("README.txt", b"mine\n")
        assert "-changed while the image was made\n+mine\n" in workspace.diff()
