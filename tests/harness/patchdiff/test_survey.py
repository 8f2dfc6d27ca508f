"""What is learnt of the trees; the sides are folders here, and their script runs in a shell of this machine."""

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.harness.domain import Instance
from assay.harness.patchdiff.sides import OUT, Side, SideJob
from assay.harness.patchdiff.survey import Survey, survey
from changes import change
from toy import make_instance

TREE = {
    "lib/query.py": "def build_filter(x):\n    return x\n",
    "tests/admin/tests.py": "assert 1\n",
    "tests/annotations/models.py": "from lib.query import build_filter\n",
    "tests/basic/tests.py": "assert 2\n",
    "tests/old/tests.py": "assert 3\n",
    "tests/windows/tests.py": "from lib.query import build_filter\n",
    "docs/build_filter.txt": "build_filter\n",
    "lib/words.py": "WORDS = ['one', 'two']\n",
    "lib/lexer.py": "from lib.words import WORDS\n\n\ndef read():\n    return WORDS\n",
}


class LocalSides:
    """Sides whose trees are git repositories in a folder; the candidate has something new in a file."""

    def __init__(self, instance: Instance, root: Path, path: str, old: str, new: str) -> None:
        self.instance = instance
        self._root, self._path, self._old, self._new = root, path, old, new

    def patch(self, side: Side) -> str:
        if side is Side.BASE:
            return ""
        added = self._old if side is Side.GOLD else self._new
        return change(self._path, keeps=["def build_filter(x):"], drops=["    return y"], adds=[f"    {added}"])

    def map_sides(self, sides: Sequence[Side], work: Callable[[Side], Any]) -> list[Any]:
        return list(map(work, sides))

    def run(self, side: Side, job: SideJob) -> dict[str, bytes]:
        tree, out = self._root / side, self._root / f"{side} out"
        out.mkdir(exist_ok=True)
        for path, text in TREE.items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_text(text.replace(self._old, self._new) if side is Side.CANDIDATE else text)
        for command in (["git", "init", "-q"], ["git", "add", *TREE]):
            subprocess.run(command, cwd=tree, check=True, capture_output=True)
        (tree / "tests/added").mkdir(exist_ok=True)
        (tree / "tests/added/tests.py").write_text("assert 4\n")  # by the test patch, so git does not know it
        subprocess.run(["bash", "-c", job.command.replace(OUT, f"'{out}'")], cwd=tree, check=True)
        return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}


@pytest.fixture
def look(tmp_path: Path) -> Callable[..., Survey]:
    def run(test_patch: str, path: str = "lib/query.py", old: str = "return x", new: str = "return not x") -> Survey:
        sides: Any = LocalSides(make_instance(test_patch=test_patch), tmp_path, path, old, new)
        return survey(sides)

    return run


def test_own_tests_come_first_then_what_names_the_change_then_the_rest(look: Callable[..., Survey]) -> None:
    own = change("tests/old/models.py", adds=["x"]) + change("tests/old/tests.py", adds=["x"])
    found = look(own + change("tests/added/tests.py", adds=["x"]))
    assert found.test_files == (
        "tests/old/tests.py",
        "tests/added/tests.py",
        "tests/windows/tests.py",
        "tests/admin/tests.py",
        "tests/basic/tests.py",
    )
    assert [each.label for each in found.targets] == ["lib/query.py::build_filter"]
    assert "return not x" in found.texts[Side.CANDIDATE]["lib/query.py"]


def test_without_own_tests_every_test_file_counts(look: Callable[..., Survey]) -> None:
    assert set(look("").test_files) == {path for path in TREE if path.startswith("tests/")}


def test_name_used_by_other_files_is_targeted_there_and_its_texts_are_words(look: Callable[..., Survey]) -> None:
    found = look("", "lib/words.py", "'two'", "'three'")
    assert [each.label for each in found.targets] == ["lib/words.py::<module>", "lib/lexer.py::<module>"]
    assert found.words == ("one", "two", "three")
