import json
from pathlib import Path

import pytest

from assay.harness.domain import Instance, TestPlan
from assay.harness.engines import ActingEngine, open_engine
from assay.harness.engines.base import BoxSpec
from assay.harness.engines.fake import FakeEngine, image_name
from assay.harness.errors import EngineError, ImageMissing
from assay.harness.evaluation.delivery import make_delivery
from assay.harness.patches.gate import gate

REPORT = {"tests/test_calc.py::test_add": "failed", "tests/test_calc.py::test_same": "passed"}


@pytest.fixture
def engine(instance: Instance) -> FakeEngine:
    return FakeEngine({image_name(instance): instance})


def reported(engine: FakeEngine, instance: Instance, patch: str) -> dict[str, str]:
    """Run the acted-out tests with a patch; return the report, having seen that the exit status agrees."""
    archive = make_delivery(instance, TestPlan(command="pytest"), gate(patch)).archive()
    with engine.open(BoxSpec(image_name(instance), archive=archive)) as box:
        code = box.exec(["bash", "/assay/test.sh"]).exit_code
        report = json.loads(box.get("/tmp/report.json", 10_000)["report.json"])
    assert code == (0 if set(report.values()) == {"passed"} else 1)
    return dict(report)


def test_gold_patch_passes_all_and_another_leaves_the_failing_ones(engine: FakeEngine, instance: Instance) -> None:
    assert reported(engine, instance, instance.gold_patch) == dict.fromkeys(REPORT, "passed")
    assert reported(engine, instance, instance.gold_patch.replace("a + b", "a * b")) == REPORT


def test_flaky_test_follows_its_list_whatever_the_patch(engine: FakeEngine, instance: Instance) -> None:
    test = instance.pass_to_pass[0]
    engine.flaky = {test: [True, False]}
    assert [reported(engine, instance, instance.gold_patch)[test] for _ in range(3)] == ["passed", "failed", "passed"]


def test_fault_breaks_the_call_it_is_for(engine: FakeEngine, instance: Instance) -> None:
    def fault(call: str, _image: str) -> None:
        if call == "exec":
            raise EngineError("broken")

    engine.fault = fault
    with pytest.raises(EngineError, match="broken"):
        reported(engine, instance, instance.gold_patch)
    assert not engine.alive


def test_aborted_engine_kills_test_commands(engine: FakeEngine, instance: Instance) -> None:
    engine.abort()
    with engine.open(BoxSpec(image_name(instance))) as box:
        assert box.exec(["bash", "/assay/test.sh"]).exit_code == 137


def test_only_images_of_known_instances_are_there(engine: FakeEngine, instance: Instance) -> None:
    assert engine.find_image(image_name(instance)) is not None
    assert engine.find_image("another") is None
    with pytest.raises(ImageMissing):
        engine.pull("another")
    with pytest.raises(ImageMissing), engine.open(BoxSpec("another")):
        pass


def test_an_engine_without_instances_learns_them(instance: Instance) -> None:
    engine = open_engine("fake")
    assert isinstance(engine, ActingEngine)
    name = engine.act_out(instance)
    assert engine.find_image(name) is not None


def test_seconds_of_a_test_command_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_FAKE_SECONDS", "1.5")
    engine = open_engine("fake")
    assert isinstance(engine, FakeEngine)
    assert (engine.seconds, engine.has_containers) == (1.5, False)


def test_an_image_is_built_on_another_and_moves_through_a_registry(tmp_path: Path) -> None:
    engine = FakeEngine({})
    (tmp_path / "Dockerfile").write_text("FROM scratch AS packages\nFROM scratch\n")
    engine.build("base:1", tmp_path, tmp_path / "log", secrets={}, labels={})
    (tmp_path / "Dockerfile").write_text("FROM base:1\n")
    engine.build("top:1", tmp_path, tmp_path / "log", secrets={}, labels={"assay.kind": "instance"})
    assert [layer.id for layer in engine.layers("top:1")] == ["base:1", "top:1"]

    engine.tag("top:1", "host:5000/top:1")
    engine.push("host:5000/top:1")
    for name in ("top:1", "host:5000/top:1"):
        engine.remove_image(name)
    assert engine.find_image("host:5000/top:1") is None
    assert engine.pull("host:5000/top:1").labels == {"assay.kind": "instance"}
    with pytest.raises(ImageMissing):
        engine.pull("host:5000/other:1")
    with pytest.raises(ImageMissing):
        engine.push("top:1")
