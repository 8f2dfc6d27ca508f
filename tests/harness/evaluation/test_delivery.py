import io
import subprocess
import tarfile
from pathlib import Path

import pytest

from assay.harness.domain import Instance, TestPlan
from assay.harness.evaluation.delivery import Delivery, make_delivery, put_back
from assay.harness.evaluation.tripwires import PLACEHOLDER, make_canary
from assay.harness.patches.gate import gate

PLAN = TestPlan(command=f"pytest x {PLACEHOLDER}", restore=("tests/test_calc.py",), report_path="/tmp/r/report.xml")


def diff(*paths: str) -> str:
    return "".join(f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n" for path in paths)


def test_what_steers_the_runner_is_put_back_at_any_depth(instance: Instance) -> None:
    steering = ("conftest.py", "a/b/conftest.py", "setup.cfg", "src/sitecustomize.py", "x.pth", "docs/.gitattributes")
    back = put_back(instance, PLAN, ["calc.py", *steering])
    assert back.paths == ("tests/test_calc.py", *sorted(steering))
    assert back.flags == ("runner_configuration_put_back",)


def test_what_the_fix_touches_stays_editable(instance: Instance) -> None:
    fix = instance.model_copy(update={"gold_patch": diff("setup.cfg", "calc.py")})
    assert put_back(fix, PLAN, ["setup.cfg", "calc.py"]).paths == ("tests/test_calc.py",)


def test_all_test_files_go_back_and_new_ones_go(instance: Instance) -> None:
    changed = ["tests/data/golden.txt", "tests/__init__.py", "calc.py", "test_own.py"]
    assert set(put_back(instance, PLAN, changed).paths) == {"tests/test_calc.py", *changed} - {"calc.py"}


def test_a_package_in_the_place_of_a_test_module_goes(instance: Instance) -> None:
    plan = PLAN.model_copy(update={"restore": ("check_calc.py",)})
    assert "check_calc/__init__.py" in put_back(instance, plan, ["check_calc/__init__.py", "calc.py"]).paths


def test_build_products_go_whatever_their_case(instance: Instance) -> None:
    back = put_back(instance, PLAN, ["src/helper.EGG-INFO/entry_points.txt"])
    assert "src/helper.EGG-INFO/entry_points.txt" in back.paths
    assert back.flags == ("build_products_left_out",)


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
    plan = PLAN.model_copy(update={"report_path": "/tmp/x y/$(id)/report.xml"})
    assert "'/tmp/x y/$(id)'" in make_delivery(instance, plan, gate(instance.gold_patch), None).apply_script()


def test_binary_files_of_the_tests_come_last_and_as_they_are(instance: Instance) -> None:
    content = b"\x89PNG\r\n\x00"
    delivery = make_delivery(instance, PLAN, gate(instance.gold_patch), None, {"test/fixtures/a.png": content})
    with tarfile.open(fileobj=io.BytesIO(delivery.archive())) as tar:
        packed = tar.extractfile("assay/assets/test/fixtures/a.png")
        assert packed is not None
        assert packed.read() == content
    script = delivery.restore_script()
    assert script.index("xargs -0 rm -rf") < script.index("/assay/assets/. .")


def test_a_patch_that_brings_build_products_is_flagged(instance: Instance) -> None:
    assert make_delivery(instance, PLAN, gate(diff("calc.py")), None).flags == ()
    assert make_delivery(instance, PLAN, gate(diff("calc.py", "x.egg-info/a")), None).flags == (
        "build_products_left_out",
    )


def applied(delivery: Delivery, tree: Path) -> bytes:
    """What the first script prints, on both streams as in a container, when it is run in a folder of the host."""
    script = delivery.apply_script().replace("/assay/", f"{tree.parent}/").replace("/tmp/assay-", f"{tree.parent}/")
    (tree.parent / "model.patch").write_text(delivery.patch.text)
    command = ["sh", "-c", script]
    return subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True).stdout


@pytest.mark.parametrize("repository", [True, False])
def test_warnings_that_a_patch_provokes_hide_no_path(instance: Instance, tmp_path: Path, repository: bool) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "calc.py").write_text("a\n")
    if repository:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        for command in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "base"]):
            subprocess.run(["git", *command], cwd=tree, check=True)
    more = "".join(
        f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{text}\n"
        for path, text in {".gitattributes": "*.py text eol=crlf", "conftest.py": "forged = 1"}.items()
    )
    delivery = make_delivery(instance, TestPlan(command="true"), gate(more + diff("calc.py")), None)
    changed = applied(delivery, tree).split(b"\0")
    assert changed == [b"calc.py", b".gitattributes", b"conftest.py", b""]
