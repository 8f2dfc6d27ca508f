import io
import tarfile

from assay.harness.canary import PLACEHOLDER, make_canary
from assay.harness.delivery import Delivery, make_delivery
from assay.harness.domain import Instance, TestPlan
from assay.harness.patch import gate

PLAN = TestPlan(command=f"pytest x {PLACEHOLDER}", restore=("tests/test_calc.py",), report_path="/tmp/r/report.xml")


def diff(*paths: str) -> str:
    return "".join(f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n" for path in paths)


def deliver(instance: Instance, *paths: str, plan: TestPlan = PLAN) -> Delivery:
    return make_delivery(instance, plan, gate(diff(*paths)), None)


def test_what_steers_the_runner_is_put_back_at_any_depth(instance: Instance) -> None:
    steering = ("conftest.py", "a/b/conftest.py", "setup.cfg", "src/sitecustomize.py", "x.pth", "docs/.gitattributes")
    made = deliver(instance, "calc.py", *steering)
    assert made.restore == ("tests/test_calc.py", *steering)
    assert made.flags == ("runner_configuration_put_back",)


def test_what_the_fix_touches_stays_editable(instance: Instance) -> None:
    fix = instance.model_copy(update={"gold_patch": diff("setup.cfg", "calc.py")})
    assert deliver(fix, "setup.cfg", "calc.py").flags == ()


def test_other_test_files_come_from_the_base_commit_if_it_has_them(instance: Instance) -> None:
    made = deliver(instance, "tests/data/golden.txt", "tests/test_new.py", "calc.py")
    assert made.keep == ("tests/data/golden.txt", "tests/test_new.py")
    assert "keep" in made.apply_script()


def test_build_products_are_left_out(instance: Instance) -> None:
    made = deliver(instance, "src/calc.egg-info/entry_points.txt")
    assert made.flags == ("build_products_left_out",)
    assert "--exclude='*.egg-info/*'" in made.apply_script()


def test_the_archive_belongs_to_root_and_names_the_tripwires(instance: Instance) -> None:
    canary = make_canary("n")
    made = make_delivery(instance, PLAN, gate(instance.gold_patch), canary)
    with tarfile.open(fileobj=io.BytesIO(made.archive())) as tar:
        entries = {entry.name: entry for entry in tar}
        command = tar.extractfile("assay/test.sh")
        assert command is not None
        assert command.read().decode() == f"pytest x {canary.path}"
    assert {entry.uid for entry in entries.values()} == {0}
    assert f"testbed/{canary.path}" in entries


def test_paths_cannot_become_commands(instance: Instance) -> None:
    plan = PLAN.model_copy(update={"restore": ("a b'; rm -rf /",), "report_path": "/tmp/x y/$(id)/report.xml"})
    script = deliver(instance, "calc.py", plan=plan).apply_script()
    assert "rm -rf /'" not in script
    assert "'/tmp/x y/$(id)'" in script
