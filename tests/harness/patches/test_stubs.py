import subprocess
from pathlib import Path

from assay.harness.patches.stubs import without_stubs


def test_what_git_refuses_is_left_out_and_the_rest_applies(tmp_path: Path) -> None:
    def git(*args: str, text: str | None = None) -> str:
        who = ["-c", "user.name=t", "-c", "user.email=t@t"]
        return subprocess.run(
            ["git", *who, *args], cwd=tmp_path, capture_output=True, text=True, check=True, input=text
        ).stdout

    git("init", "--quiet")
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "b.png").write_bytes(b"\0old")
    git("add", "--all")
    git("commit", "--quiet", "-m", "x")
    (tmp_path / "a.txt").write_text("Binary files a/x and b/x differ\ndiff --git a/y b/y\ntwo\n")
    (tmp_path / "b.png").write_bytes(b"\0new")
    (tmp_path / "c.png").write_bytes(b"\0made")
    git("add", "--all")
    patch = git("diff", "--cached")
    assert patch.count("Binary files ") == 3
    git("reset", "--quiet", "--hard")
    git("apply", "-", text=without_stubs(patch))
    assert git("status", "--short") == " M a.txt\n"
    assert (tmp_path / "a.txt").read_text().startswith("Binary files")


def test_other_patches_stay_as_they_are() -> None:
    patch = "diff --git a/x b/x\nGIT binary patch\nliteral 0\nHc$@<O00001\n\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b"
    assert without_stubs(patch) == patch
    assert without_stubs("") == ""
