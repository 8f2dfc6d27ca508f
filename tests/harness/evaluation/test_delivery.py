import io
import shlex
import subprocess
import tarfile
from pathlib import Path

import pytest

from assay.harness.domain import Instance, Status, TestPlan
from assay.harness.engines.base import BoxSpec
from assay.harness.engines.docker import DockerEngine
from assay.harness.engines.tars import pack_tar
from assay.harness.evaluation.changes import Changes, read_changes
from assay.harness.evaluation.delivery import ADAPTER, CONFLICT, NOT_PUT_BACK, Delivery, format_list, make_delivery
from assay.harness.evaluation.supervising import (
    CACHES,
    DATA,
    FILES,
    PIPE,
    RESULTS,
    SUPERVISE,
    SUPERVISOR,
    TEST,
    WATCHED,
    supervise,
)
from assay.harness.patches.diff import MalformedPatchError
from assay.harness.patches.gate import gate
from assay.harness.runners import find
from assay.harness.runners.base import PLACEHOLDER, Tripwires

PLAN = TestPlan(
    command=f"pytest x {PLACEHOLDER}\n",
    restore=("tests/test_calc.py",),
    report_path="/tmp/r/report.xml",
    runner="pytest",
)


def diff(*paths: str) -> str:
    return "".join(f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n" for path in paths)


def test_archive_belongs_to_root_and_its_command_names_the_tripwires(instance: Instance) -> None:
    tripwires = Tripwires(files={"test_a.py": "assert 0\n"}, expected={"test_a": Status.FAILED}, argument="test_a.py")
    plan = PLAN.model_copy(update={"env": {"X": "a b"}})
    made = make_delivery(instance, plan, gate(instance.gold_patch), tripwires)
    with tarfile.open(fileobj=io.BytesIO(made.archive())) as tar:
        entries = {entry.name: entry for entry in tar}
        command = tar.extractfile("assay/test.sh")
        assert command is not None
        assert command.read().decode() == "exec 2>&1\nexport X='a b'\npytest x test_a.py\n"
    assert {entry.uid for entry in entries.values()} == {0}
    assert "assay/tripwires/test_a.py" in entries
    assert find("pytest").PLACING in made.restore_script().rpartition("TRIPWIRES=")[2]


def test_adapter_is_packed_where_a_command_names_it(instance: Instance) -> None:
    plan = PLAN.model_copy(update={"command": f"python {ADAPTER} /assay/report -m unittest\n"})
    for each, named in ((PLAN, False), (plan, True)):
        delivery = make_delivery(instance, each, gate(instance.gold_patch))
        with tarfile.open(fileobj=io.BytesIO(delivery.archive())) as tar:
            assert (ADAPTER.strip("/") in tar.getnames()) == named


def test_binary_files_are_packed_unchanged_and_copied_last(instance: Instance) -> None:
    content = b"\x89PNG\r\n\x00"
    delivery = make_delivery(instance, PLAN, gate(instance.gold_patch), None, {"test/fixtures/a.png": content})
    with tarfile.open(fileobj=io.BytesIO(delivery.archive())) as tar:
        packed = tar.extractfile("assay/assets/test/fixtures/a.png")
        assert packed is not None
        assert packed.read() == content
    script = delivery.restore_script()
    assert script.index("rm -rf") < script.index("/assay/assets/. .")


def test_patch_with_build_products_or_stray_files_is_flagged(instance: Instance) -> None:
    assert make_delivery(instance, PLAN, gate(diff("calc.py"))).flags == ()
    assert make_delivery(instance, PLAN, gate(diff("calc.py", "x.egg-info/a"))).flags == ("build_products_left_out",)
    link = "diff --git a/link b/link\nold mode 120000\nnew mode 120000\n"
    assert make_delivery(instance, PLAN, gate(diff("calc.py") + link)).flags == ("stray_files_left_out",)


def names_in(delivery: Delivery) -> set[str]:
    with tarfile.open(fileobj=io.BytesIO(delivery.archive())) as tar:
        return {*tar.getnames()}


def test_scripts_of_an_installation_are_packed_if_there_is_one(instance: Instance) -> None:
    scripts = {"assay/install.sh", "assay/watched-install.sh"}
    assert not names_in(delivery_of(instance, "")) & scripts
    assert names_in(delivery_of(instance, "", install="pip install .")) >= scripts


def test_report_of_tests_that_run_as_root_is_a_file_instead_of_a_pipe(instance: Instance) -> None:
    assert "assay/report" in names_in(delivery_of(instance, "", user="root"))
    assert "assay/report" not in names_in(delivery_of(instance, ""))


SLOW_CAT = r"""mkdir /slow && printf '#!/bin/sh\nsleep 1; exec /bin/cat "$@"' > /slow/cat && chmod +x /slow/cat"""


@pytest.mark.docker
def test_report_of_tests_that_end_before_its_reader_has_started_is_read(
    docker_engine: DockerEngine, toolchain_image: str
) -> None:
    files = {SUPERVISE: SUPERVISOR, TEST: f"echo passed > {PIPE}"}
    scripts = pack_tar({path.strip("/"): text for path, text in files.items()}, ["assay"])
    lists = pack_tar({path.strip("/"): "" for path in (FILES, DATA, WATCHED, CACHES)})
    with docker_engine.open(BoxSpec(toolchain_image, archive=scripts)) as box:
        supervised = f"PATH=/slow:$PATH timeout 30 {shlex.join(supervise('nobody', lists))}; /bin/cat {RESULTS}/report"
        ran = box.exec(["sh", "-c", f"{SLOW_CAT}\n{supervised}"])
    assert (ran.exit_code, ran.output) == (0, b"passed\n")


def test_words_of_labels_are_the_longest_before_a_slash(instance: Instance) -> None:
    labels = {"fail_to_pass": ("TestAdd/a_longer_name", "calc.v1.ClassName"), "pass_to_pass": ("--", "TestAdd")}
    tripwires = Tripwires(files={"test_a.py": ""}, expected={"test_a": Status.FAILED})
    plan = TestPlan(command="true")
    delivery = make_delivery(instance.model_copy(update=labels), plan, gate(""), tripwires)
    assert (delivery.expected, delivery.labels) == (("ClassName", "TestAdd"), labels["fail_to_pass"])


def test_places_are_in_the_commands_folder_and_marked_where_nobody_knows_what_runs(
    instance: Instance, tmp_path: Path
) -> None:
    tree, kit = tmp_path / "tree", tmp_path / "tripwires"
    for path, text in {tree / "sub/a.py": "", kit / "test_a.py": "# @PLACE@\n", tmp_path / "restored": ""}.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    commit(tree)
    plan = TestPlan(command="true", runner="pytest", folder="sub", sure=False)
    tripwires = Tripwires(files={"test_a.py": ""}, expected={})
    done = run(make_delivery(instance, plan, gate(""), tripwires).restore_script(), tree)
    assert "0?" in done.stdout.decode().split()
    assert (tree / "sub" / "test_a.py").read_text() == "# 0\n"


def in_folder(script: str, folder: Path) -> str:
    """A script with its places in a container replaced by a folder of the host."""
    return script.replace("/assay/", f"{folder}/").replace("/tmp/assay-", f"{folder}/")


def commit(tree: Path) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for command in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "base"]):
        subprocess.run(["git", *command], cwd=tree, check=True)


def run(script: str, tree: Path) -> subprocess.CompletedProcess[bytes]:
    """Run a script in a folder of the host; standard error is among what it prints, as in a container."""
    command = ["bash", "-c", in_folder(script, tree.parent)]
    return subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


def applied(delivery: Delivery, tree: Path) -> Changes:
    """Run the first script; return what it shows as changed."""
    (tree.parent / "model.patch").write_text(delivery.patch.text)
    done = run(delivery.apply_script(), tree)
    assert done.returncode == 0, done.stdout
    assert not {path.name for path in tree.parent.iterdir()} - {
        "tree",
        "model.patch",
        "restored",
        "changed",
        "tests.patch",
    }
    return read_changes(done.stdout)


def new_file(path: str, *lines: str, mode: str = "100644") -> str:
    head = f"diff --git a/{path} b/{path}\nnew file mode {mode}\n--- /dev/null\n+++ b/{path}\n"
    return f"{head}@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder with one file."""
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "calc.py").write_text("a\n")
    return tree


def delivery_of(instance: Instance, patch: str, **plan: object) -> Delivery:
    return make_delivery(instance, TestPlan.model_validate({"command": "true", **plan}), gate(patch))


@pytest.mark.parametrize("repository", [True, False])
def test_warnings_of_git_hide_no_changed_path(instance: Instance, tree: Path, repository: bool) -> None:
    if repository:
        commit(tree)
    more = new_file(".gitattributes", "*.py text eol=crlf") + new_file("conftest.py", "forged = 1")
    changes = applied(delivery_of(instance, more + diff("calc.py")), tree)
    assert set(changes.paths) == {"calc.py", ".gitattributes", "conftest.py"}
    assert set(changes.created) == {".gitattributes", "conftest.py"}


HIDING = [
    "* working-tree-encoding=UTF-7",
    "* ident",
    "* filter=hide",
    "* text eol=crlf",
    "* binary",
    "* -diff export-ignore export-subst",
    "[attr]hidden ident text working-tree-encoding=UTF-7\n* hidden",
]


PLACES = ["tree", "folder", "info", "core.attributesFile"]


@pytest.mark.parametrize(
    ("place", "line"),
    # An encoding that the repository itself has set is in force when the patch is applied, and then it does not apply.
    [(place, line) for place in PLACES for line in HIDING if place in PLACES[:2] or "encoding" not in line],
)
def test_attributes_hide_no_change(instance: Instance, tree: Path, line: str, place: str) -> None:
    (tree / "src").mkdir()
    (tree / "src/conftest.py").write_text("# $Id$\nx = '+AGE-'\n")
    commit(tree)
    if place == "info":
        (tree / ".git/info/attributes").write_text(f"{line}\n")
    if place == "core.attributesFile":
        (tree / "rules").write_text(f"{line}\n")
        subprocess.run(["git", "config", "core.attributesFile", "rules"], cwd=tree, check=True)
    subprocess.run(
        ["git", "config", "filter.hide.clean", "git cat-file blob HEAD:src/conftest.py"], cwd=tree, check=True
    )
    planted = {"tree": ".gitattributes", "folder": "src/.gitattributes"}
    more = new_file(planted[place], *line.split("\n")) if place in planted else ""
    hunk = "@@ -1,2 +1,2 @@\n-# $Id$\n-x = '+AGE-'\n+# $Id: other $\n+x = 'a'\n"
    changes = applied(delivery_of(instance, more + f"--- a/src/conftest.py\n+++ b/src/conftest.py\n{hunk}"), tree)
    assert "src/conftest.py" in changes.paths


@pytest.mark.parametrize("setting", ["core.fileMode=false", "core.ignoreCase=true", "diff.ignoreSubmodules=all"])
def test_settings_of_the_repository_hide_no_change(instance: Instance, tree: Path, setting: str) -> None:
    commit(tree)
    subprocess.run(["git", "config", *setting.split("=")], cwd=tree, check=True)
    patch = "diff --git a/calc.py b/calc.py\nold mode 100644\nnew mode 100755\n" + new_file("Calc.py", "x")
    assert set(applied(delivery_of(instance, patch), tree).paths) == {"calc.py", "Calc.py"}


@pytest.mark.parametrize("command", [["update-index", "--split-index"], ["update-index", "--index-version", "4"]])
def test_index_in_any_form_is_read(instance: Instance, tree: Path, command: list[str]) -> None:
    commit(tree)
    subprocess.run(["git", *command], cwd=tree, check=True)
    (tree / "new.py").write_text("x\n")
    subprocess.run(["git", "add", "-N", "new.py"], cwd=tree, check=True)
    assert applied(delivery_of(instance, diff("calc.py")), tree).paths == ("calc.py",)


def test_file_in_a_repository_within_the_tree_is_seen(instance: Instance, tree: Path) -> None:
    inner = tree / "inner"
    inner.mkdir()
    (inner / "x.py").write_text("x\n")
    commit(inner)
    add = ["git", "-c", "advice.addEmbeddedRepo=false", "add", "inner"]
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    subprocess.run(add, cwd=tree, check=True)
    commit(tree)
    with pytest.raises(MalformedPatchError, match="submodule"):
        applied(delivery_of(instance, new_file("inner/conftest.py", "x")), tree)


def test_what_differed_before_the_patch_is_not_the_patchs(instance: Instance, tree: Path) -> None:
    (tree / "setup.cfg").write_text("base\n")
    commit(tree)
    (tree / "setup.cfg").write_text("changed by the image\n")
    (tree / "built.py").write_text("made by the image\n")
    assert applied(delivery_of(instance, diff("calc.py")), tree).paths == ("calc.py",)


def test_file_in_place_of_a_folder_is_shown_with_what_it_replaces(instance: Instance, tree: Path) -> None:
    (tree / "data").mkdir()
    (tree / "data/table.txt").write_text("a\n")
    commit(tree)
    gone = "--- a/data/table.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
    changes = applied(delivery_of(instance, gone + new_file("data", "b")), tree)
    assert (set(changes.paths), changes.created) == ({"data", "data/table.txt"}, ("data",))


def test_empty_patch_changes_nothing(instance: Instance, tree: Path) -> None:
    commit(tree)
    changes = applied(delivery_of(instance, ""), tree)
    assert (changes.paths, changes.created, list(changes.tree)) == ((), (), ["calc.py"])


def test_patch_of_another_state_is_a_conflict(instance: Instance, tree: Path) -> None:
    commit(tree)
    (tree.parent / "model.patch").write_text(diff("other.py"))
    assert run(delivery_of(instance, diff("other.py")).apply_script(), tree).returncode == CONFLICT


def restored(delivery: Delivery, tree: Path, *changed: str) -> subprocess.CompletedProcess[bytes]:
    """Run the second script with paths of the patch."""
    (tree.parent / "restored").write_bytes(format_list(delivery.plan.restore))
    (tree.parent / "tests.patch").write_text(delivery.plan.test_patch)
    if changed:
        (tree.parent / "patched").write_bytes(format_list(changed))
    return run(delivery.restore_script(), tree)


def test_listed_paths_are_put_back_and_what_base_lacks_is_removed(instance: Instance, tree: Path) -> None:
    for name in ("a b.py", "kept.py", "-x.py", "a\nb.py", ":(top)x.py"):
        (tree / name).write_text("base\n")
    commit(tree)
    for name in ("a b.py", "kept.py", "new.py", "-x.py", "a\nb.py", ":(top)x.py", "*.py"):
        (tree / name).write_text("changed\n")
    test_patch = diff("calc.py").replace("calc.py", "kept.py").replace("-a", "-changed")
    delivery = delivery_of(instance, "", test_patch=test_patch, restore=("gone.py",))
    done = restored(delivery, tree, "a b.py", "new.py", "-x.py", "a\nb.py", ":(top)x.py", "*.py")
    assert (done.returncode, done.stdout) == (0, b"")
    content = {path.name: path.read_text() for path in tree.glob("*.py")}
    expected = dict.fromkeys(("a b.py", "-x.py", "a\nb.py", ":(top)x.py"), "base\n")
    assert content == {**expected, "kept.py": "b\n", "calc.py": "a\n"}
    assert {path.name for path in tree.parent.iterdir()} == {"tests.patch", "tree", "restored", "patched"}


def test_folders_that_the_patch_made_do_not_stay(instance: Instance, tree: Path) -> None:
    (tree / "kept").mkdir()
    (tree / "kept/a.py").write_text("a\n")
    commit(tree)
    paths = ("kept/deep/x.py", "-new/deep/x.py", "-new/deep/y.py", "vendor/x", "x.py")
    for path in paths:
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text("x\n")
    assert restored(delivery_of(instance, ""), tree, *paths).returncode == 0
    assert {path.name for path in tree.iterdir()} == {".git", "calc.py", "kept"}
    assert [path.name for path in (tree / "kept").iterdir()] == ["a.py"]


def test_folder_in_place_of_a_file_is_put_back(instance: Instance, tree: Path) -> None:
    commit(tree)
    (tree / "calc.py").unlink()
    (tree / "calc.py").mkdir()
    (tree / "calc.py/new.py").write_text("x\n")
    assert restored(delivery_of(instance, ""), tree, "calc.py", "calc.py/new.py").returncode == 0
    assert (tree / "calc.py").read_text() == "a\n"


def test_file_in_place_of_a_folder_is_put_back(instance: Instance, tree: Path) -> None:
    (tree / "data").mkdir()
    (tree / "data/table.txt").write_text("a\n")
    commit(tree)
    (tree / "data/table.txt").unlink()
    (tree / "data").rmdir()
    (tree / "data").write_text("x\n")
    assert restored(delivery_of(instance, ""), tree, "data", "data/table.txt").returncode == 0
    assert (tree / "data/table.txt").read_text() == "a\n"


@pytest.mark.parametrize("path", ["tests/gone.py", "tests/\ufffd.py", "calc.py/x"])
def test_path_of_the_patch_that_is_not_there_is_an_error(instance: Instance, tree: Path, path: str) -> None:
    commit(tree)
    done = restored(delivery_of(instance, ""), tree, path)
    assert done.returncode == NOT_PUT_BACK
    assert done.stdout.decode() == f"a path that the patch changed is not there: {path}\n"


def test_thousands_of_long_paths_are_put_back(instance: Instance, tree: Path) -> None:
    commit(tree)
    folder = "/".join(["d" * 200] * 15)
    paths = [f"{folder}/{number}.py" for number in range(1900)]
    (tree / folder).mkdir(parents=True)
    for path in paths:
        (tree / path).write_text("x\n")
    assert restored(delivery_of(instance, ""), tree, *paths).returncode == 0
    assert {path.name for path in tree.iterdir()} == {".git", "calc.py"}


def test_restoring_nothing_changes_nothing(instance: Instance, tree: Path) -> None:
    commit(tree)
    (tree / "calc.py").write_text("changed\n")
    assert restored(delivery_of(instance, ""), tree).returncode == 0
    assert (tree / "calc.py").read_text() == "changed\n"
