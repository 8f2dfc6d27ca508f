"""The layer over published images, on small images with what such images have been seen to have."""

from collections.abc import Callable
from pathlib import Path

import pytest

from assay.harness.domain import UNKNOWN_TIME, Instance, Outcome, Prediction, PublishedImage, Recipe
from assay.harness.engines.base import BoxSpec
from assay.harness.engines.docker import DockerEngine
from assay.harness.evaluation.evaluate import Task, evaluate
from assay.harness.grading.grade import grade
from assay.instances.environments.image_builder import ImageBuilder
from assay.instances.environments.plan import make_plan
from assay.instances.toolchains.images import find_toolchain
from assay.instances.trees.sources import Sources

pytestmark = [pytest.mark.docker, pytest.mark.network, pytest.mark.toolchain("python", "3.11")]

SCRIPT = """\
source /root/tools/env
cd /repo
echo "made by root" > /etc/made
: '>>>>> Start Test Output'
sh check
: '>>>>> End Test Output'
"""
CHECK = """\
#!/bin/sh
state=PASSED
grep -q right calc.txt || state=FAILED
echo "$state t.py::test_calc"
[ $state = PASSED ]
"""
# The repository is a partial clone, with the fix in a later commit; some data sets have it beside the repository, too.
COMMANDS = """\
mkdir -p /root/tools /opt/hidden /home
echo 'export TOOL=/root/tools' > /root/tools/env
echo secret > /opt/hidden/tool
chmod -R go-rwx /root /opt/hidden
echo 'the answer is right' > /home/fix.patch
git config --global user.email a@b && git config --global user.name a
cd /repo && git init -q && git add -A && git commit -qm base
echo right > calc.txt && git commit -qam fix && git tag v2 && git reset -q --hard HEAD~1
git repack -adq && for pack in .git/objects/pack/*.pack; do touch "${pack%.pack}.promisor"; done
git config remote.origin.promisor true && git config extensions.partialClone origin
mkdir module && git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),module && git commit -qm module
echo built > built.o
chmod -R 777 /repo
"""


@pytest.fixture
def published(docker_engine: DockerEngine, tmp_path: Path) -> Callable[..., PublishedImage]:
    def build(name: str, *more: str) -> PublishedImage:
        base = find_toolchain(Recipe(toolchain="3.11"), {}, docker_engine)
        context = tmp_path / name
        context.mkdir()
        (context / "calc.txt").write_text("wrong\n")
        (context / "check").write_text(CHECK)
        (context / "commands").write_text("\n".join(["set -e", COMMANDS, *more]))
        text = (
            f"FROM {base.name}\nCOPY calc.txt check /repo/\nCOPY commands /commands\nRUN sh /commands && rm /commands\n"
        )
        (context / "Dockerfile").write_text(text)
        image = f"assay-test/published:{name}"
        docker_engine.build(image, context, tmp_path / f"{name}.log", secrets={}, labels={})
        return PublishedImage(image=image, eval_script=SCRIPT)

    return build


@pytest.fixture
def builder(docker_engine: DockerEngine, tmp_path: Path) -> ImageBuilder:
    return ImageBuilder(docker_engine, Sources(cache=tmp_path / "cache"))


def instance_in(published: PublishedImage) -> Instance:
    patch = "diff --git a/calc.txt b/calc.txt\n--- a/calc.txt\n+++ b/calc.txt\n@@ -1 +1 @@\n-wrong\n+right\n"
    return Instance(
        id="a__b-1",
        repo="a/b",
        base_commit="0" * 40,
        problem_statement="",
        gold_patch=patch,
        test_patch="",
        fail_to_pass=("t.py::test_calc",),
        pass_to_pass=(),
        created_at=UNKNOWN_TIME,
        environment=published,
    )


def test_unprivileged_user_owns_a_repository_with_one_commit_and_reads_what_only_root_could(
    docker_engine: DockerEngine, published: Callable[..., PublishedImage], builder: ImageBuilder
) -> None:
    image = builder.build_image(instance_in(published("whole")))
    with docker_engine.open(BoxSpec(image)) as box:

        def said(command: str) -> str:
            return box.exec(["bash", "-c", command], user="assay", workdir="/repo").output.decode().strip()

        assert said("id -un; echo ~; cat /opt/hidden/tool /root/tools/env") == (
            "assay\n/root\nsecret\nexport TOOL=/root/tools"
        )
        assert said("git rev-list --all | wc -l; git tag; git status --short") == "1"
        assert (
            said("git cat-file --batch-all-objects --batch | grep -cx right; cat calc.txt built.o") == "0\nwrong\nbuilt"
        )
        assert said("git diff HEAD --stat; stat -c %a calc.txt") == "644"
        assert said("touch module/new && git ls-files --others module && rm module/new") == "module/new"
        assert said("touch new && mkdir sub && echo owned; ls /home") == "owned"
        assert said("cat /etc/made") == "made by root"


@pytest.mark.parametrize(("missing", "user"), [("", "assay"), ("setpriv", "root")])
def test_image_without_the_means_to_change_users_runs_its_tests_as_root(
    docker_engine: DockerEngine,
    published: Callable[..., PublishedImage],
    builder: ImageBuilder,
    missing: str,
    user: str,
) -> None:
    more = [f"rm $(command -v {missing})"] if missing else []
    instance = instance_in(published(f"without-{missing}", *more))
    image, plan = builder.build_image(instance), make_plan(instance, Recipe())
    for patch, outcome in ((instance.gold_patch, Outcome.RESOLVED), ("", Outcome.UNRESOLVED)):
        for strict in (False, True):
            prediction = Prediction(instance_id=instance.id, patch=patch)
            task = Task(instance, prediction, plan.model_copy(update={"strict": strict}), runs_empty=True)
            evidence = evaluate(task, image, docker_engine).evidence
            verdict = grade(instance, evidence)
            assert verdict.outcome is (Outcome.NOT_RUN if strict else outcome), evidence
            assert evidence.user == user
            assert ("tests_ran_as_root" in verdict.flags) == (user == "root")
            assert {"read_from_log", "no_tripwires"} <= set(verdict.flags)


def test_image_whose_tree_is_no_repository_gets_one(
    published: Callable[..., PublishedImage], builder: ImageBuilder, docker_engine: DockerEngine
) -> None:
    image = builder.build_image(instance_in(published("no-repository", "rm -rf /repo/.git")))
    with docker_engine.open(BoxSpec(image)) as box:
        shown = box.exec(["git", "-c", "safe.directory=*", "log", "--format=%s"], workdir="/repo")
    assert (shown.exit_code, len(shown.output.split())) == (0, 1)
