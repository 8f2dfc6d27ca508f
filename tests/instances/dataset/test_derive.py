import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from assay.harness.domain import Archive, TreeRef
from assay.harness.errors import DataError, EnvironmentFailure
from assay.instances.dataset.derive import Derivation, derive, fill, section
from assay.instances.trees.content import read_tar
from assay.instances.trees.sources import Sources
from tables import read_tables
from toys import CrateIndex, GoProxy, Index, Repository

TABLES = read_tables(__file__)

pytestmark = pytest.mark.slow

OLD: dict[str, str | bytes] = {
    "PKG-INFO": "Version: 1.0\n",
    "src/toy.egg-info/SOURCES.txt": "old\n",
    "docs/index.rst": "old docs\n",
    "CHANGES.rst": "Version 1.0\n-----------\n\n- First.\n",
    "pyproject.toml": 'version = "1.0"\n',
    ".gitattributes": "*.py -diff\n*.txt eol=crlf\n",
    "src/toy/core.py": "def add(a, b):\n    return a - b\n",
    "src/toy/gone.py": "x = 1\n",
    'src/toy/Größe "x".txt': "a\r\nb\n",
    "src/toy/test.py": "client = 1\n",
    "tests/test_core.py": "def test_one(): pass\n",
    "tests/data/blob.bin": b"\x00\x01",
}
NEW: dict[str, str | bytes] = {key: value for key, value in OLD.items() if key != "src/toy/gone.py"} | {
    "PKG-INFO": "Version: 1.1\n",
    "src/toy.egg-info/SOURCES.txt": "new\n",
    "docs/index.rst": "new docs\n",
    "CHANGES.rst": "Version 1.1\n-----------\n\n- Add adds. Since 1.0 it did not.\n\n\n" + str(OLD["CHANGES.rst"]),
    "pyproject.toml": 'version = "1.1"\n',
    "src/toy/core.py": "def add(a, b):\n    return a + b",
    'src/toy/Größe "x".txt': "a\r\nc\r\n",
    "src/toy/tool.sh": "#!/bin/sh\n",
    "src/toy/test.py": "client = 2\n",
    "tests/test_core.py": "def test_one(): pass\n\n\ndef test_two(): pass\n",
    "tests/data/blob.bin": b"\x00\x02",
}
STATEMENT = "Version 1.1\n-----------\n\n- Add adds. Since 1.0 it did not.\n"


def row(old: Archive, new: Archive, **more: object) -> dict[str, object]:
    spec: dict[str, object] = {
        "name": "toy",
        "from": {"version": "1.0", "sha256": old.sha256},
        "to": {"version": "1.1", "sha256": new.sha256},
        "statement": {"file": "CHANGES.rst"},
    }
    return {"instance_id": "o__toy-1.1", "repo": "o/toy", "derive": spec | more}


@pytest.fixture
def toy(index: Index) -> dict[str, object]:
    return row(index.add("toy", "1.0", OLD), index.add("toy", "1.1", NEW))


def paths(patch: object) -> list[str]:
    return [line.split(" b/")[-1] for line in str(patch).splitlines() if line.startswith("diff --git ")]


def test_tests_and_fix_become_two_patches_without_ignored_files(toy: dict[str, object], sources: Sources) -> None:
    filled = fill(toy, sources)
    assert [path.strip('"') for path in paths(filled["test_patch"])] == ["tests/data/blob.bin", "tests/test_core.py"]
    gold = str(filled["gold_patch"])
    for path in ("pyproject.toml", "core.py", "gone.py", "tool.sh", "src/toy/test.py"):
        assert path in gold
    for path in ("PKG-INFO", "SOURCES", "docs", "CHANGES", "blob"):
        assert path not in gold
    assert filled["problem_statement"] == STATEMENT
    assert "derive" not in filled


def test_both_patches_together_give_the_new_tree(
    toy: dict[str, object], sources: Sources, repository: Repository
) -> None:
    filled = fill(toy, sources)
    archive = filled["archive"]
    assert isinstance(archive, Archive)
    with (sources.tree(TreeRef("o/toy", archive=archive))).open("rb") as tar:
        subprocess.run(["tar", "-x"], stdin=tar, cwd=repository.folder, check=True)
    for patch in ("test_patch", "gold_patch"):
        (repository.folder.parent / "patch").write_bytes(str(filled[patch]).encode())
        repository.git("apply", "--whitespace=nowarn", str(repository.folder.parent / "patch"))
    for path, content in NEW.items():
        if not path.startswith(("PKG", "src/toy.egg", "docs", "CHANGES")):
            expected = content if isinstance(content, bytes) else content.encode()
            assert (repository.folder / path).read_bytes() == expected, path
    assert not (repository.folder / "src/toy/gone.py").exists()
    assert (repository.folder / "src/toy/tool.sh").stat().st_mode & 0o100


def test_a_users_git_settings_do_not_change_a_patch(
    toy: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = fill(toy, Sources(cache=tmp_path / "one"))
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".gitconfig").write_text(
        "[diff]\n noprefix = true\n context = 9\n algorithm = patience\n external = /bin/false\n renames = copies\n"
        "[core]\n quotePath = false\n autocrlf = true\n abbrev = 7\n[color]\n ui = always\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert fill(toy, Sources(cache=tmp_path / "two")) == plain


def test_the_language_decides_which_files_are_tests(index: Index, sources: Sources) -> None:
    old = index.add("toy", "1.0", {"a.py": "1\n", "pkg/test_a.py": "1\n", "CHANGES.rst": "1.1\n---\n"})
    new = index.add("toy", "1.1", {"a.py": "2\n", "pkg/test_a.py": "2\n", "CHANGES.rst": "1.1\n---\n"})
    filled = fill(row(old, new), sources)
    assert (paths(filled["gold_patch"]), paths(filled["test_patch"])) == (["a.py"], ["pkg/test_a.py"])


def own_words(old: Archive, new: Archive, language: str) -> dict[str, object]:
    """Return a row of a task with a problem.md of its own."""
    made = {
        "index": old.index,
        "name": old.name,
        "from": {"version": old.version, "sha256": old.sha256},
        "to": {"version": new.version, "sha256": new.sha256},
    }
    row = {"instance_id": "o__calc-1", "repo": "o/calc", "language": language, "problem_statement": "Add subtracts.\n"}
    return {**row, "derive": made}


def test_two_versions_of_a_go_module_give_both_patches(go_proxy: GoProxy, sources: Sources) -> None:
    old = {
        "go.mod": "module example.org/calc\n",
        "README.md": "old\n",
        ".github/workflows/test.yml": "old\n",
        "calc.go": "package calc\n\nfunc Add(a, b int) int { return a - b }\n",
        "calc_test.go": "package calc\n",
        "testdata/sums.txt": "1 2\n",
    }
    new = {
        path: text.replace("a - b", "a + b").replace("old", "new").replace("1 2", "1 2 3") for path, text in old.items()
    }
    new["calc_test.go"] += "\n// More.\n"
    releases = go_proxy.add("example.org/calc", "v1.0.0", old), go_proxy.add("example.org/calc", "v1.0.1", new)
    filled = fill(own_words(*releases, "go"), sources)
    assert (paths(filled["gold_patch"]), paths(filled["test_patch"])) == (
        ["calc.go"],
        ["calc_test.go", "testdata/sums.txt"],
    )
    assert (filled["archive"], filled["problem_statement"]) == (releases[0], "Add subtracts.\n")


def test_two_versions_of_a_crate_give_both_patches(crate_index: CrateIndex, sources: Sources) -> None:
    old = {
        "Cargo.toml.orig": "old\n",
        ".cargo_vcs_info.json": "old\n",
        "CHANGELOG.md": "# 1.0.1\n\nOld adds.\n",
        "src/lib.rs": "old\n",
        "tests/calc.rs": "old\n",
        "tests/ui/Cargo.toml": "old\n",
    }
    new = {path: text.replace("old", "new") for path, text in old.items()} | {"Cargo.lock": "version = 4\n"}
    releases = crate_index.add("calc-rs", "1.0.0", old), crate_index.add("calc-rs", "1.0.1", new)
    filled = fill(own_words(*releases, "rust"), sources)
    assert paths(filled["gold_patch"]) == ["src/lib.rs"]
    assert paths(filled["test_patch"]) == ["tests/calc.rs", "tests/ui/Cargo.toml"]


@pytest.mark.parametrize(
    ("change", "field", "problem"),
    [
        ({"index": "maven"}, "derive.index", "'pypi', 'go', 'crates' or 'npm'"),
        ({"from": {"version": "1.0.0"}}, "derive.from.sha256", "is missing"),
        ({"from": {"version": "1.0.0", "sha256": "0" * 64}}, "derive.from.sha256", "the data set says 0000"),
        ({"to": {"version": "1.0.1", "sha256": "0" * 64}}, "derive.to.sha256", "the data set says 0000"),
        ({"to": {"version": "one", "sha256": "0" * 64}}, "", "field derive.to: cargo cannot fetch calc-rs one"),
        ({"to": {"version": "1 0", "sha256": "0" * 64}}, "derive.to.version", "'1 0' is no version"),
        ({"name": "calc/rs"}, "derive.name", "'calc/rs' is no name"),
        ({"name": "other-rs"}, "", "field derive.from: cargo cannot fetch other-rs"),
        ({"statement": {"file": "CHANGELOG.md"}}, "derive.statement", "is given beside a problem.md"),
    ],
)
def test_a_wrong_derivation_of_a_crate_is_one_line_with_task_and_field(
    crate_index: CrateIndex, sources: Sources, change: dict[str, object], field: str, problem: str
) -> None:
    releases = crate_index.add("calc-rs", "1.0.0", {}), crate_index.add("calc-rs", "1.0.1", {"src/lib.rs": "// 1\n"})
    wrong = own_words(*releases, "rust")
    wrong["derive"] = {**wrong["derive"], **change}  # type: ignore[dict-item]
    with pytest.raises(DataError if field else EnvironmentFailure, match=re.escape(problem)) as caught:
        fill(wrong, sources)
    assert str(caught.value).startswith("o__calc-1: ")
    assert "\n" not in str(caught.value)
    assert getattr(caught.value, "field", "") == field


def test_an_unknown_language_is_a_data_error(toy: dict[str, object], sources: Sources) -> None:
    with pytest.raises(DataError, match=r"'klingon'.*python") as caught:
        fill({**toy, "language": "klingon"}, sources)
    assert (caught.value.instance, caught.value.field) == ("o__toy-1.1", "language")


def test_ignore_replaces_the_default_patterns(index: Index, sources: Sources) -> None:
    old, new = index.add("toy", "1.0", OLD), index.add("toy", "1.1", NEW)
    spec = Derivation.model_validate(row(old, new, ignore=["src/*", "PKG-INFO"])["derive"])
    assert paths(derive(spec, sources, "python").gold_patch) == ["CHANGES.rst", "docs/index.rst", "pyproject.toml"]


@pytest.mark.parametrize(("change", "field", "problem"), TABLES["a_wrong_derivation_names_its_field"])
def test_a_wrong_derivation_names_its_field(
    toy: dict[str, Any], sources: Sources, change: dict[str, object], field: str, problem: str
) -> None:
    with pytest.raises(DataError) as caught:
        fill({**toy, "derive": {**toy["derive"], **change}}, sources)
    assert problem in str(caught.value)
    assert (caught.value.instance, caught.value.field) == ("o__toy-1.1", field)


def test_a_change_that_is_not_utf8_is_named(index: Index, sources: Sources) -> None:
    old = index.add("toy", "1.0", {"a.txt": b"\xff\n", "CHANGES.rst": "1.1\n---\n"})
    new = index.add("toy", "1.1", {"a.txt": b"\xfe\n", "CHANGES.rst": "1.1\n---\n"})
    with pytest.raises(DataError, match=r"a\.txt.*ignore"):
        fill(row(old, new), sources)


def test_entries_of_a_cached_tree_are_complete(index: Index, sources: Sources) -> None:
    ref = TreeRef("o/toy", archive=index.add("toy", "1.0", OLD))
    assert {entry.path: entry.content for entry in read_tar(sources.tree(ref))} == {
        path: content if isinstance(content, bytes) else content.encode() for path, content in OLD.items()
    }


LOG = """\
Log
===

Version 2.10
------------

- Ten. See 2.1 for more.

## [2.1] - 2023
- One.

2.0.1
~~~~~
- Old.
"""


@pytest.mark.parametrize(
    ("heading", "end", "expected"),
    [
        ("2.10", "2.1", "Version 2.10\n------------\n\n- Ten. See 2.1 for more.\n"),
        ("2.1", "2.0", "## [2.1] - 2023\n- One.\n\n2.0.1\n~~~~~\n- Old.\n"),
        ("2.1", "2.0.1", "## [2.1] - 2023\n- One.\n"),
        ("2.0.1", "1", "2.0.1\n~~~~~\n- Old.\n"),
        ("3.0", "2.10", ""),
    ],
)
def test_a_section_ends_at_the_next_heading(heading: str, end: str, expected: str) -> None:
    assert section(LOG, heading, end) == expected
