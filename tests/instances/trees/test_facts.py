"""What a tree says, and that it is asked once."""

import shutil
from pathlib import Path

import pytest
from pydantic import ValidationError

from assay.harness.domain import TreeFact, TreeRef
from assay.harness.errors import EnvironmentFailure
from assay.instances.trees.facts import facts_file, find_facts, holds
from assay.instances.trees.sources import Sources
from tables import read_tables
from toys import Repository

TABLES = read_tables(__file__)

FILES = {
    "package.json": b'{"devDependencies": {"webpack": "^4.41.2", "local": "file:x"}, "a/b": {"version": "3"}}',
    "pyproject.toml": b'[project]\nrequires-python = ">=3.6"\n',
    "setup.cfg": b"install_requires =\n    pandas >= 0.25\n",
    "broken.json": b"[" * 100_000,
    "list.json": b"[1]",
}


@pytest.mark.parametrize(("fact", "expected"), TABLES["a_fact_holds_where_a_file_says_so"])
def test_a_fact_holds_where_a_file_says_so(fact: dict[str, object], expected: bool) -> None:
    assert holds(TreeFact.model_validate(fact), FILES.get) is expected


@pytest.mark.parametrize("fact", [{"files": []}, {"files": ["../x"]}, {"files": ["x"], "versions": "2.x"}])
def test_a_fact_that_nothing_could_say_is_refused(fact: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        TreeFact.model_validate(fact)


def test_a_tree_is_asked_once_and_again_only_for_other_facts(repository: Repository, tmp_path: Path) -> None:
    (repository.folder / "a.txt").write_text("one")
    ref = TreeRef("owner/name", repository.commit())
    repository.git("clone", "--quiet", "--bare", str(repository.folder), f"{tmp_path}/mirrors/owner__name")
    sources = Sources([tmp_path / "mirrors"], tmp_path / "cache")
    one, two = (TreeFact(files=("a.txt",), contains=text) for text in ("one", "two"))

    assert find_facts([one, two], ref, sources) == (one.name,)
    assert facts_file(ref, sources.cache).is_file()
    shutil.rmtree(tmp_path / "mirrors")
    elsewhere = Sources([], tmp_path / "cache")  # as where files of a registry came without the tree
    assert find_facts([two, one], ref, elsewhere) == (one.name,)
    shutil.rmtree(tmp_path / "cache")
    with pytest.raises(EnvironmentFailure):
        find_facts([one], TreeRef("owner/../name", ref.commit), elsewhere)
