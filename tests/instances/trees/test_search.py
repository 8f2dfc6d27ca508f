from pathlib import Path

import pytest

from assay.instances.trees.search import Passage, find_word, open_tree
from assay.instances.trees.sources import Sources
from toy import make_instance
from toys import Repository


def test_texts_are_found_as_whole_words_in_the_files_of_a_commit(repository: Repository, tmp_path: Path) -> None:
    (repository.folder / "a.md").write_text("# Title\n\n  no added_up, but added_ here\n")
    (repository.folder / "b.bin").write_bytes(b"\0added")
    (repository.folder / "c.py").write_text("def added(): ...\n")
    instance = make_instance(repo="owner/name", base_commit=repository.commit())
    (repository.folder / "later.py").write_text("later")
    repository.commit()
    mirror = tmp_path / "mirrors/owner__name"
    repository.git("clone", "--quiet", "--bare", str(repository.folder), str(mirror))
    sources = Sources([mirror.parent], tmp_path / "cache")
    tree = open_tree(sources, instance)
    assert tree
    assert tree.find(["added", "Title", "later", "none"]) == {
        "Title": Passage("a.md", 1, "# Title"),
        "added": Passage("c.py", 1, "def added(): ..."),
    }
    assert (tree.read("c.py"), tree.read("d.py")) == ("def added(): ...\n", None)
    assert open_tree(sources, instance.model_copy(update={"base_commit": "0" * 40})) is None


@pytest.mark.parametrize(
    ("content", "text", "at"),
    [(b"xab ab", b"ab", 4), (b"ab", b"ab", 0), (b"ab_", b"ab", -1), (b"a-b: c", b"-b:", 1), (b"", b"ab", -1)],
)
def test_a_word_is_not_part_of_another(content: bytes, text: bytes, at: int) -> None:
    assert find_word(content, text) == at
