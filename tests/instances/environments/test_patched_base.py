"""The layer over an image whose tree holds the feature: the base tree is a patch of it (FeatureBench)."""

import json
from pathlib import Path

import pytest

from assay.harness.domain import Instance, Outcome, Prediction, Recipe
from assay.harness.engines.base import BoxSpec
from assay.harness.engines.docker import DockerEngine
from assay.harness.evaluation.evaluate import Task, evaluate
from assay.harness.grading.grade import grade
from assay.instances.environments.image_builder import ImageBuilder
from assay.instances.environments.plan import make_plan
from assay.instances.toolchains.images import find_toolchain
from assay.instances.trees.sources import Sources
from samples import WHOLE, read

pytestmark = [
    pytest.mark.docker,
    pytest.mark.network,
    pytest.mark.toolchain("python", "3.11"),
    pytest.mark.exhaustive,
]

IMAGE = "assay-test/feature-bench:one"
CHECK = """\
#!/bin/sh
state=PASSED
grep -q return calc/ops.py || state=FAILED
[ ! -f tests/test_ops.py ] || echo "$state tests/test_ops.py::test_add"
echo PASSED tests/test_kept.py::test_kept
echo PASSED tests/more/test_other.py::test_other
[ $state = PASSED ]
"""
DOCKERFILE = """\
COPY tree /testbed
COPY check /opt/check
RUN mkdir -p /opt/miniconda3/etc/profile.d && echo 'conda() { :; }' > /opt/miniconda3/etc/profile.d/conda.sh
RUN cd /testbed && git init -q && git config user.email a@b && git config user.name a && git add -A && git commit -qm a
RUN mkdir -p /root/my_repo && cp -r /testbed /root/my_repo && mkdir -p /testbed/calc/__pycache__ \\
    && echo total > /testbed/calc/__pycache__/ops.pyc
"""
TREE = {**WHOLE, "tests/test_kept.py": "", "tests/more/test_other.py": ""}


@pytest.fixture
def instance(docker_engine: DockerEngine, tmp_path: Path) -> Instance:
    context = tmp_path / "context"
    for name, text in TREE.items():
        (context / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (context / "tree" / name).write_text(text)
    (context / "check").write_text(CHECK)
    base = find_toolchain(Recipe(toolchain="3.11"), {}, docker_engine)
    (context / "Dockerfile").write_text(f"FROM {base.name}\n{DOCKERFILE}")
    docker_engine.build(IMAGE, context, tmp_path / "log", secrets={}, labels={})
    return read("feature-bench", image_name=IMAGE, repo_settings=json.dumps({"test_cmd": "sh /opt/check"}))


def test_the_feature_is_gone_and_its_patch_brings_it_back(
    docker_engine: DockerEngine, instance: Instance, tmp_path: Path
) -> None:
    image = ImageBuilder(docker_engine, Sources(cache=tmp_path / "cache")).build_image(instance)
    with docker_engine.open(BoxSpec(image)) as box:
        look = "grep -rl total /testbed /root; ls tests; git cat-file --batch-all-objects --batch | grep -c total"
        shown = box.exec(["bash", "-c", look], user="assay", workdir="/testbed").output.decode().split()
    assert shown == ["more", "test_kept.py", "0"]
    for patch, outcome in ((instance.gold_patch, Outcome.RESOLVED), ("", Outcome.UNRESOLVED)):
        prediction = Prediction(instance_id=instance.id, patch=patch)
        task = Task(instance, prediction, make_plan(instance, Recipe()), runs_empty=True)
        evidence = evaluate(task, image, docker_engine).evidence
        assert grade(instance, evidence).outcome is outcome, evidence
