"""Libraries that are found in the folders of mirrors."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from assay.instances.setup.libraries import find_libraries
from assay.instances.trees.sources import Sources
from corpus.stage import git

DAY = datetime(2022, 6, 1, tzinfo=UTC)


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    """A library in both languages with tags of three dates, and the project itself."""
    for repo in ("acme__tool", "Acme__Calc"):
        folder = tmp_path / "mirrors" / repo
        folder.mkdir(parents=True)
        git(folder, "init", "--quiet", "--initial-branch=main")
        for tag, date in (
            ("v1.0", "2021-01-01"),
            ("v1.1", "2022-01-01"),
            ("v1.2-rc1", "2022-05-01"),
            ("v2.0", "2023-01-01"),
        ):
            (folder / "composer.json").write_text(f'{{"name": "Acme/{repo[6:]}", "extra": "{tag}"}}')
            (folder / "tool-kit.gemspec").write_text(f"# {tag}")
            git(folder, "add", "--all")
            git(folder, "commit", "--quiet", "--message", tag)
            when = str(int(datetime.fromisoformat(f"{date}T00:00:00+00:00").timestamp()))
            commit = git(folder, "rev-parse", "HEAD")
            text = f"object {commit}\ntype commit\ntag {tag}\ntagger t <t@t> {when} +0000\n\n{tag}\n"
            (tmp_path / "tag").write_text(text)
            git(
                folder,
                "update-ref",
                f"refs/tags/{tag}",
                git(folder, "hash-object", "-t", "tag", "-w", str(tmp_path / "tag")),
            )
    return Sources([tmp_path / "mirrors"], tmp_path / "cache")


@pytest.mark.parametrize(("language", "name"), [("php", "acme/tool"), ("ruby", "tool-kit")])
def test_the_newest_version_of_the_day_is_taken(sources: Sources, language: str, name: str) -> None:
    found = find_libraries(sources, language, "acme/calc", DAY)
    assert list(found) == [name]
    assert "v1.1" in found[name].manifest
    assert found[name].download.commit == sources.find_commit("acme/tool", "v1.1")
    assert found[name].download.path == f"libraries/{name.replace('/', '__')}"


def test_without_a_version_before_the_day_the_newest_commit_counts(sources: Sources) -> None:
    assert find_libraries(sources, "php", "acme/calc", datetime(2020, 1, 1, tzinfo=UTC)) == {}
