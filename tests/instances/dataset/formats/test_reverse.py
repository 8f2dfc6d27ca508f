"""Git is the judge: a reversed patch does to a tree what ``git apply -R`` does."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.instances.dataset.formats.reverse import IrreversibleError, reverse

LINES = st.lists(st.sampled_from(["", "a", "b", "-c", "+d", " e", "\\ f", "@@ -1 +1 @@", "--- g", "ü"]), max_size=12)
CONTENT = st.builds(lambda lines, end: ("\n".join(lines) + end).encode(), LINES, st.sampled_from(["", "\n"]))
BINARY = st.binary(min_size=1, max_size=40).map(lambda content: b"\0" + content)
NAMES = ["a/x.py", "b/y.py", "with blank.txt", "tab\tname", "z.sh"]
TREES = st.dictionaries(st.sampled_from(NAMES), st.tuples(CONTENT | BINARY, st.booleans()), max_size=4)
Tree = dict[str, tuple[bytes, bool]]


def git(folder: Path, *args: str, stdin: bytes = b"") -> str:
    command = ["git", "-c", "core.autocrlf=false", *args]
    return subprocess.run(command, cwd=folder, capture_output=True, check=True, input=stdin).stdout.decode()


def commit(ref: str, tree: Tree) -> bytes:
    """Return the input of ``git fast-import`` for a commit with exactly this tree."""
    stream = f"commit {ref}\ncommitter t <t> 1000000000 +0000\ndata 0\ndeleteall\n".encode()
    for name, (content, executable) in tree.items():
        quoted = name.replace("\t", "\\t")
        stream += f'M {"100755" if executable else "100644"} inline "{quoted}"\ndata {len(content)}\n'.encode()
        stream += content + b"\n"
    return stream + b"\n"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    git(folder, "init", "--quiet", "--template=")
    return folder


@settings(max_examples=60, deadline=None)
@given(before=TREES, after=TREES, renames=st.sampled_from([["-M10%"], ["--no-renames"]]))
def test_a_reversed_patch_gives_the_old_tree_back(
    repository: Path, before: Tree, after: Tree, renames: list[str]
) -> None:
    old, new = "refs/test/old", "refs/test/new"
    git(repository, "fast-import", "--quiet", "--force", stdin=commit(old, before) + commit(new, after))
    patch = git(repository, "diff", "--binary", *renames, old, new)
    if not patch:
        return
    back = reverse(patch)
    git(repository, "read-tree", new)
    git(repository, "apply", "--cached", "-", stdin=back.encode())
    git(repository, "diff", "--cached", "--quiet", "--exit-code", old)
    assert reverse(back) == patch


RENAMED = """\
diff --git a/a/old name.py b/b/new.py
similarity index 80%
rename from a/old name.py
rename to b/new.py
index 1111111..2222222 100644
--- a/a/old name.py
+++ b/b/new.py
@@ -1,2 +1,3 @@ def f():
 same
-old
\\ No newline at end of file
+new
+more
"""
BACK = """\
diff --git a/b/new.py b/a/old name.py
similarity index 80%
rename from b/new.py
rename to a/old name.py
index 2222222..1111111 100644
--- a/b/new.py
+++ b/a/old name.py
@@ -1,3 +1,2 @@ def f():
 same
-new
-more
+old
\\ No newline at end of file
"""


def test_names_modes_and_counts_are_swapped() -> None:
    assert reverse(RENAMED) == BACK
    assert reverse(BACK) == RENAMED
    assert reverse("") == ""
    top = "diff --git a/x b/x\n"
    made = top + "new file mode 100644\nindex 0000000..1111111\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n"
    gone = top + "deleted file mode 100644\nindex 1111111..0000000\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
    assert reverse(made) == gone


@pytest.mark.parametrize(
    "patch",
    [
        "diff --git a/x.png b/x.png\nindex 1..2 100644\nBinary files a/x.png and b/x.png differ\n",
        "diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n",
        "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n",
        "diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 1\nIcmZPo\n\n",
    ],
)
def test_an_irreversible_patch_is_refused_with_the_reason(patch: str) -> None:
    with pytest.raises(IrreversibleError):
        reverse(patch)
