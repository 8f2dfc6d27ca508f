"""Patches by hand and at random, as ``read_as_git`` and git itself read them."""

import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from assay.harness.patches.as_git import read_as_git
from assay.harness.patches.diff import MalformedPatchError
from odd_patches import GONE, HUNK, NEW, patches


def real_git(option: str, patch: bytes, folder: Path) -> bytes | None:
    """Return what git itself prints about a patch; None if it refuses the patch."""
    command = ["git", "apply", option, "-z", "-"]
    done = subprocess.run(command, input=patch, cwd=folder, capture_output=True, check=False)
    return None if done.returncode else done.stdout


def as_real_git(patch: bytes, folder: Path) -> list[bytes] | None:
    printed = real_git("--numstat", patch, folder)
    return None if printed is None else [entry.split(b"\t", 2)[2] for entry in printed.split(b"\0")[:-1]]


def modes_in_git(patch: bytes, folder: Path) -> set[int]:
    printed = real_git("--summary", patch, folder) or b""
    made = re.findall(rb"(?m)^ (?:create|delete) mode (\d+) ", printed)
    changed = re.findall(rb"(?m)^ mode change (\d+) => (\d+)", printed)
    return {int(mode, 8) for mode in (*made, *(mode for pair in changed for mode in pair))}


TIME, EPOCH = "2020-01-01 10:00:00", "1970-01-01 00:00:00 +0000"
MODE = ("old mode 100644", "new mode 100755")


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (("diff --git a/x b/x", *MODE), ["x"]),
        (("diff --git a/x y b/x y", *MODE), ["x y"]),
        (("diff --git a/x\tb/x", *MODE), ["x"]),
        ((r'diff --git "a/\170" "b/x"', *MODE), ["x"]),
        ((r'diff --git "a/\170" b/x', *MODE), None),
        ((r'diff --git a/x "b/\170"', *MODE), ["x"]),
        ((r'diff --git a/x y "b/\170 y"', *MODE), ["x y"]),
        (("diff --git a/x b/x", "rename from x", "rename to y"), ["y"]),
        (("diff --git a/x b/x", "copy from x", "copy to c/y"), ["c/y"]),
        (("diff --git a/x b/x", 'rename from "x"', r'rename to "c/\171"'), ["c/y"]),
        (('diff --git "a/x y" "b/x y"', '--- "a/x y"', '+++ "b/x y"', *HUNK), ["x y"]),
        (("rename to z", "--- a/x", "+++ b/x", *HUNK, "diff --git a/y b/y"), ["x"]),
        (("diff --git a/x b/x", "similarity index 90%", "rename old x", "rename new y", "--- a/x", "+++ b/y"), ["y"]),
        (("diff --git a/x b/x", "deleted file mode 100644", "--- a/x", "+++ /dev/null", *GONE), ["x"]),
        (("diff --git a/x b/x", "new file mode 100644", "--- /dev/null", "+++ b/x", *NEW), ["x"]),
        (("diff --git a/x b/x", *MODE, "", "--- a/y", "+++ b/y", *HUNK), ["x", "y"]),
        (("diff --git a/x b/x", "index 1..2", "junk", "diff --git a/y b/y", *MODE), ["x", "y"]),
        (("diff --git x x", *MODE, "--- x", "+++ x", *HUNK), None),
        ((f"--- a/x {TIME}", f"+++ b/x {TIME}", *HUNK), ["x"]),
        ((f"--- a/x\t{TIME}", f"+++ b/x\t{TIME}", *HUNK), ["x"]),
        ((f"--- a/x y {TIME}.5 +0100", f"+++ b/x y {TIME}.5 +0100", *HUNK), ["x y"]),
        ((f"--- a/x\t{EPOCH}", f"+++ b/x\t{TIME}", *NEW), ["x"]),
        ((f"--- a/x\t{TIME}", f"+++ b/x\t{EPOCH}", *GONE), ["x"]),
        (("--- /dev/null", f"+++ b/x {TIME}", *NEW), ["x"]),
        ((f"--- a/x {TIME}", "+++ /dev/null", *GONE), ["x"]),
        (("--- a/x.orig", "+++ b/x", *HUNK), ["x"]),
        (("--- a/x", "+++ b/x.new", *HUNK), ["x"]),
        (("--- a/x", '+++ "b/x.new"', *HUNK), ["x.new"]),
        (("--- a/y", "+++ b/x", *HUNK), ["x"]),
        (("--- a/x", "+++ b/", *HUNK), ["x"]),
        (('--- "a/x"\tlater', '+++ "b/x"\tlater', *HUNK), ["x"]),
        (("--- x", "+++ x", *HUNK), ["x"]),
        (("--- x", "+++ x", *HUNK, "--- y/x", "+++ y/x", *HUNK), ["x", "y/x"]),
        ((f"--- x {TIME}", f"+++ x {TIME}", *HUNK, "--- a/y", "+++ b/y", *HUNK), ["x", "b/y"]),
        (("--- /dev/null", "+++ x", *NEW, "diff --git a/y a/y", *MODE), ["x", "a/y"]),
        (("--- a/x", "+++ b/x", *HUNK, "--- y", "+++ y", *HUNK), ["x", "y"]),
        (("--- a/x", "+++ b/x", *HUNK, "diff --git a/y b/z"), ["x"]),
        (("--- a/x", "+++ b/x", *HUNK, "@@ -9 +9 @@ f()", "-a", "+b", "-- ", "2.39"), ["x"]),
        (("--- a/x", "+++ b/x", "no hunk", "--- a/y", "+++ b/y", *HUNK), ["y"]),
        (("--- a/x", "--- a/y", "+++ b/y", *HUNK), ["y"]),
        (("@@ - a note of somebody", "--- a/y", "+++ b/y", *HUNK), ["y"]),
    ],
)
def test_patch_is_accepted_with_the_names_that_git_reads(
    tmp_path: Path, lines: tuple[str, ...], names: list[str] | None
) -> None:
    patch = "".join(f"{line}\n" for line in lines).encode()
    assert as_real_git(patch, tmp_path) == (None if names is None else [name.encode() for name in names])
    if names is not None:
        assert [(file.new or file.old or b"").decode() for file in read_as_git(patch)] == names


@given(patches())
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_random_patch_is_read_as_git_reads_it_or_refused(tmp_path: Path, patch: bytes) -> None:
    try:
        files = list(read_as_git(patch))
    except MalformedPatchError:
        return
    names = as_real_git(patch, tmp_path)
    if names is not None:  # git finds fault with some things later than here
        assert [file.old if file.new is None else file.new for file in files] == names
        assert modes_in_git(patch, tmp_path) - {0o100644, 0} <= {mode for file in files for mode in file.modes}
