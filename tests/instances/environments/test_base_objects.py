"""The objects of an instance image's repository, where the tree's attributes would have git make others."""

from pathlib import Path

import pytest

from assay.harness.domain import Recipe
from assay.harness.engines.base import BoxSpec
from assay.harness.engines.docker import DockerEngine
from assay.instances.environments.image_builder import ImageBuilder
from assay.instances.trees.sources import Sources
from toy import make_instance
from toys import Repository

pytestmark = [pytest.mark.docker, pytest.mark.network, pytest.mark.xdist_group("build")]


def test_the_objects_are_the_base_commits_whatever_its_attributes_say(
    docker_engine: DockerEngine, toolchain_image: str, tmp_path: Path
) -> None:
    repository = Repository(tmp_path / "mirrors/acme__odd")
    repository.folder.mkdir(parents=True)
    repository.git("init", "--quiet")
    (repository.folder / ".git/info/attributes").write_text("* -text -ident")
    (repository.folder / ".gitattributes").write_text("* text=auto eol=lf\n*.ps1 text\n*.id ident\n")
    for path in ("dos.txt", "run.ps1", "x.id"):
        (repository.folder / path).write_bytes(b"$Id: 1 $\r\n")
    (repository.folder / "module").mkdir()
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{'a' * 40},module")
    commit = repository.commit()
    builder = ImageBuilder(docker_engine, Sources([repository.folder.parent], tmp_path / "cache"))
    instance = make_instance(repo="acme/odd", base_commit=commit, environment=Recipe())
    image = builder.build_image(instance)

    with docker_engine.open(BoxSpec(image)) as box:

        def said(command: str) -> str:
            return box.exec(["sh", "-c", command], user="assay", workdir="/testbed").output.decode().rstrip("\n")

        listed = {line.split()[3]: line.split()[1] for line in said("git ls-files -s").splitlines()}
        rows = [line.split() for line in repository.git("ls-tree", "-r", commit).splitlines()]
        assert listed == {path: blob for mode, _, blob, path in rows if mode != "160000"}
        assert len(rows) == len(listed) + 1
        # A file below a submodule's folder is not hidden, as it would be if the link were there.
        assert said("touch *.* module/new && git status --porcelain") == "?? module/"
        assert said("cat dos.txt run.ps1 x.id") == "$Id: 1 $\r\n" * 2 + "$Id: 1 $\r"
    assert builder.audit(instance).faults == ()
    docker_engine.remove_image(image)
