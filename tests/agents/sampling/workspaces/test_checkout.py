"""Workspaces behave the same in a folder and in a container."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.agents.sampling.workspaces.checkout import LEFT_OUT, CheckoutWorkspace
from assay.agents.sampling.workspaces.container import ContainerSpec
from assay.agents.sampling.workspaces.folder import folder_workspace
from leaky_image import World

pytestmark = pytest.mark.slow

FILES = {"src/calc/__init__.py": "def add(a, b):\n    return a - b\n", "README.txt": "A small calculator.\n"}


@pytest.fixture(params=["folder", pytest.param("box", marks=pytest.mark.docker)])
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[CheckoutWorkspace]:
    if request.param == "folder":
        yield folder_workspace(tmp_path / "repo", {**FILES, ".gitignore": "*.o\n", "picture": b"\0\1\2"})
        return
    world: World = request.getfixturevalue("world")
    with ContainerSpec(world.engine, world.image).open() as workspace:
        workspace.write(".gitignore", b"*.o\n")
        workspace.write("picture", b"\0\1\2")
        yield workspace


def test_command_runs_in_the_root_in_a_new_shell(tree: CheckoutWorkspace) -> None:
    done = tree.exec("cd /tmp; export A=1; x=2; echo out; echo err >&2; exit 3")
    assert (done.exit_code, done.timed_out, done.truncated) == (3, False, False)
    assert sorted(done.output.split()) == ["err", "out"]
    assert tree.exec('pwd; echo "[$A$x]"').output == f"{tree.root}\n[]\n"


def test_command_gets_input_and_environment(tree: CheckoutWorkspace) -> None:
    assert tree.exec("cat; echo $GREETING", stdin=b"\0hi ", env={"GREETING": "it's me"}).output == "\0hi it's me\n"
    assert tree.exec("wc -c", stdin=b"x" * 300_000).output.strip() == "300000"
    assert tree.exec("cat; echo over").output == "over\n"


def test_no_program_waits_for_input(tree: CheckoutWorkspace) -> None:
    done = tree.exec("git log; git commit --allow-empty -m x && git commit --amend; echo $PAGER", seconds=20)
    assert not done.timed_out
    assert done.output.endswith("cat\n")


def test_slow_command_is_killed_with_its_processes_and_files_stay(tree: CheckoutWorkspace) -> None:
    began = time.monotonic()
    sleep = f"sleep 4711.{os.getpid()}"  # the same test may run in another process on this machine
    done = tree.exec(f"echo begun; setsid {sleep} & {sleep} & touch made; {sleep}", seconds=1)
    assert time.monotonic() - began < 60
    assert (done.exit_code, done.timed_out, done.output) == (124, True, "begun\n")
    assert tree.read("made") == b""
    assert tree.exec(f"ps -e -o args | grep -c '[s]leep 4711.{os.getpid()}'").output == "0\n"


def test_processes_left_running_end_with_their_command(tree: CheckoutWorkspace) -> None:
    began = time.monotonic()
    sleep = f"sleep 4712.{os.getpid()}"
    done = tree.exec(f"(setsid {sleep} &) ; {sleep} & echo over", seconds=600)
    assert time.monotonic() - began < 60
    assert (done.exit_code, done.output) == (0, "over\n")
    assert tree.exec(f"ps -e -o args | grep -c '[s]leep 4712.{os.getpid()}'").output == "0\n"


def test_long_output_keeps_its_head_and_tail(tree: CheckoutWorkspace) -> None:
    done = tree.exec("seq 1 100000; exit 5", output_bytes=1000)
    assert (done.exit_code, done.truncated) == (5, True)
    assert done.output.startswith("1\n2\n3\n")
    assert done.output.endswith("99999\n100000\n")
    assert len(done.output.encode()) == 1000 + len(LEFT_OUT)
    exact = tree.exec("printf %s abcdefghij", output_bytes=10)
    assert (exact.output, exact.truncated) == ("abcdefghij", False)


def test_endless_output_is_cut_and_killed(tree: CheckoutWorkspace) -> None:
    done = tree.exec("yes", seconds=1, output_bytes=1000)
    assert done.timed_out
    assert done.truncated
    assert tree.exec("echo here").output == "here\n"


def test_diff_has_new_changed_deleted_and_binary_files(tree: CheckoutWorkspace) -> None:
    tree.write("src/calc/__init__.py", b"def add(a, b):\n    return a + b\n")
    tree.write("new folder/file with space.py", b"x = 1\n")
    tree.write("raw", bytes(range(256)))
    tree.write("left.o", b"ignored")
    tree.exec("rm README.txt; printf '#!/bin/sh\\n' > run.sh; chmod +x run.sh")
    diff = tree.diff()
    assert "+    return a + b" in diff
    assert "deleted file mode 100644\n" in diff
    assert "new folder/file with space.py" in diff
    assert "GIT binary patch" in diff
    assert "new file mode 100755" in diff
    assert "left.o" not in diff


def test_diff_is_the_same_whatever_the_agent_does_to_git(tree: CheckoutWorkspace) -> None:
    tree.write("src/calc/__init__.py", b"changed = 1\n")
    shown = tree.diff()
    assert "+changed = 1" in shown
    for command in (
        "git add -A",
        "git commit -qm mine",
        "git checkout -q --orphan other",
        "git update-index --assume-unchanged src/calc/__init__.py",
        "git config diff.noprefix true; git config core.quotePath false; git config core.fileMode false",
        "git config filter.x.clean 'sed s/changed/hidden/'; git config core.attributesFile /tmp/attributes;"
        "echo '* filter=x' > /tmp/attributes",
        "echo '*' > .git/info/exclude; export GIT_DIR=/nowhere",
        "echo '[diff]\n noprefix = true' > ~/.gitconfig-of-a-test; export GIT_CONFIG_GLOBAL=~/.gitconfig-of-a-test",
    ):
        tree.exec(command)
        assert tree.diff() == shown, command


def test_nested_repository_does_not_hide_other_files(tree: CheckoutWorkspace) -> None:
    tree.write("after.py", b"y = 1\n")
    tree.exec("git init -q aaa; echo 1 > aaa/f; git init -q bbb; cd bbb; echo 2 > g; git add g; git commit -qm g")
    diff = tree.diff()
    assert "after.py" in diff
    assert "Subproject" not in diff


def test_restore_brings_back_a_snapshot(tree: CheckoutWorkspace) -> None:
    tree.write("one", b"1\n")
    first, shown = tree.snapshot(), tree.diff()
    tree.exec("rm one; mkdir one; echo 2 > one/two; rm README.txt; git add -A; git commit -qm x")
    second = tree.snapshot()
    tree.restore(first)
    assert (tree.read("one"), tree.diff()) == (b"1\n", shown)
    tree.restore(second)
    assert (tree.read("one"), tree.read("one/two"), tree.read("README.txt")) == (None, b"2\n", None)
    tree.restore("base")
    assert tree.read("README.txt") == FILES["README.txt"].encode()
    assert tree.read("one/two") is None


def test_fork_changes_only_itself(tree: CheckoutWorkspace) -> None:
    tree.write("shared", b"1\n")
    state = tree.snapshot()
    tree.write("shared", b"2\n")
    with tree.fork(state) as fork:
        assert fork.read("shared") == b"1\n"
        fork.write("own", b"")
        inner = fork.snapshot()
        with fork.fork(inner) as grandchild:
            assert (grandchild.read("own"), grandchild.read("shared")) == (b"", b"1\n")
    assert (tree.read("own"), tree.read("shared")) == (None, b"2\n")


def test_apply_is_all_or_nothing(tree: CheckoutWorkspace) -> None:
    tree.restore("base")
    tree.write("src/calc/__init__.py", b"new = 1\n")
    tree.write("added.py", b"x = 1\n")
    patch = tree.diff()
    tree.restore("base")
    assert tree.apply(patch.rstrip("\n"))
    assert tree.diff() == patch
    assert not tree.apply(patch)
    assert tree.diff() == patch
    assert tree.apply("")
    assert not tree.apply("this is no patch\n")


def test_files_skip_ignored_and_links_and_texts_skip_binary(tree: CheckoutWorkspace) -> None:
    tree.write("b.py", b"b = 1\n")
    tree.write("junk.o", b"")
    tree.exec("ln -s b.py link.py; printf '\\377\\376' > odd.txt; rm README.txt")
    files = tree.files()
    assert files == tuple(sorted(files))
    assert {"b.py", "picture", "src/calc/__init__.py", ".gitignore", "odd.txt"} <= set(files)
    assert not {"junk.o", "link.py", "README.txt"} & set(files)
    texts = tree.texts()
    assert texts["b.py"] == "b = 1\n"
    assert not {"picture", "odd.txt"} & set(texts)
    assert set(tree.texts([".py"])) == {path for path in texts if path.endswith(".py")}
    assert tree.texts([".nothing"]) == {}


def test_read_and_write_any_bytes_and_names(tree: CheckoutWorkspace) -> None:
    tree.write("deep/er/-odd 'name'", b"\0\xff" * 100_000)
    assert tree.read("deep/er/-odd 'name'") == b"\0\xff" * 100_000
    assert tree.read(f"{tree.root}/README.txt") is not None
    assert (tree.read("nope"), tree.read("deep")) == (None, None)
    with pytest.raises(OSError, match=r"(?i)exists|not a directory|cannot"):
        tree.write("README.txt/below", b"")
