"""Mirrors of what instances need, fetched from repositories on this machine that stand for the public ones."""

import subprocess
from pathlib import Path

import pytest

from assay.harness.domain import TreeRef
from assay.harness.runs.crew import Crew
from assay.instances.trees.mirroring import BATCH, Mirrored, Mirroring, NeededRepository, collect_needs
from assay.instances.trees.sources import Sources
from toy import make_instance


def git(folder: Path, *args: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    done = subprocess.run(["git", *who, "-C", str(folder), *args], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def remote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that stands for the public host."""
    folder = tmp_path / "host"
    folder.mkdir()
    for name, value in {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{folder}/.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/",
    }.items():
        monkeypatch.setenv(name, value)
    return folder


def publish(remote: Path, repo: str, commits: int) -> list[str]:
    """Make a public repository with so many commits; return their ids."""
    folder = remote / f"{repo}.git"
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet")
    ids = []
    for number in range(commits):
        (folder / "number.txt").write_text(f"{number}\n")
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "-m", str(number))
        ids.append(git(folder, "rev-parse", "HEAD"))
    return ids


def fetch(folder: Path, *items: NeededRepository) -> list[Mirrored]:
    work = Mirroring(folder)
    return Crew(2, work.abort, pause=0).complete(work, items)


def test_what_is_fetched_is_all_that_the_sources_need(remote: Path, tmp_path: Path) -> None:
    ids = publish(remote, "acme/calc", BATCH + 3)
    (found,) = fetch(tmp_path / "mirrors", NeededRepository("acme/calc", tuple(ids[::-1])))
    assert (found.fetched, found.problem) == (BATCH + 3, "")
    (remote / "acme").rename(remote / "gone")
    sources = Sources([tmp_path / "mirrors"], tmp_path / "cache")
    assert sources.read_file(TreeRef("acme/calc", ids[7]), "number.txt") == b"7\n"
    assert sources.tree(TreeRef("acme/calc", ids[-1])).is_file()


def test_history_between_the_commits_is_not_fetched(remote: Path, tmp_path: Path) -> None:
    ids = publish(remote, "acme/calc", 5)
    fetch(tmp_path / "mirrors", NeededRepository("acme/calc", (ids[1], ids[4])))
    own = tmp_path / "mirrors/acme__calc.git"
    assert git(own, "rev-list", "--count", "--all") == "2"


def test_a_second_time_only_what_is_missing_is_fetched(remote: Path, tmp_path: Path) -> None:
    ids = publish(remote, "acme/calc", 3)
    fetch(tmp_path / "mirrors", NeededRepository("acme/calc", (ids[0],)))
    (found,) = fetch(tmp_path / "mirrors", NeededRepository("acme/calc", (ids[0], ids[2])))
    assert found.fetched == 1
    (remote / "acme").rename(remote / "gone")
    (found,) = fetch(tmp_path / "mirrors", NeededRepository("acme/calc", (ids[0], ids[2])))
    assert (found.fetched, found.problem) == (0, "")


def test_a_clone_that_is_there_is_used_as_it_is(remote: Path, tmp_path: Path) -> None:
    ids = publish(remote, "acme/calc", 2)
    clone = tmp_path / "mirrors/Acme/Calc"
    subprocess.run(["git", "clone", "--quiet", str(remote / "acme/calc.git"), str(clone)], check=True)
    (found,) = fetch(tmp_path / "mirrors", NeededRepository("acme/calc", tuple(ids)))
    assert (found.fetched, found.folder) == (0, str(clone / ".git"))
    assert not (tmp_path / "mirrors/acme__calc.git").exists()


def test_an_unreachable_repository_is_named_and_leaves_nothing(remote: Path, tmp_path: Path) -> None:
    ids = publish(remote, "acme/calc", 1)
    gone, there = fetch(
        tmp_path / "mirrors", NeededRepository("acme/gone", ("1" * 40,)), NeededRepository("acme/calc", tuple(ids))
    )
    assert "1 commit, such as 111111111111, cannot be fetched" in gone.problem
    assert there.problem == ""
    assert [path.name for path in (tmp_path / "mirrors").iterdir()] == ["acme__calc.git"]


def test_a_commit_that_does_not_exist_costs_no_other(remote: Path, tmp_path: Path) -> None:
    ids = publish(remote, "acme/calc", 3)
    (found,) = fetch(tmp_path / "mirrors", NeededRepository("acme/calc", (ids[0], "1" * 40, ids[2])))
    assert found.fetched == 2
    assert "1 commit, such as 111111111111, cannot be fetched" in found.problem


def test_a_server_that_gives_branches_only_is_fetched_whole(
    remote: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = publish(remote, "acme/calc", 4)
    refusal = "Server does not allow request for unadvertised object"
    monkeypatch.setattr(Mirroring, "_fetch_commits", lambda *_args: refusal)
    (found,) = fetch(tmp_path / "mirrors", NeededRepository("acme/calc", (ids[1], "1" * 40)))
    assert (found.fetched, "1 commit, such as 1111" in found.problem) == (1, True)


def test_needed_are_the_base_commits_and_no_archives() -> None:
    found = [make_instance(id=f"acme__calc-{n}", base_commit=str(n % 2) * 40) for n in range(4)]
    assert collect_needs(found) == [NeededRepository("acme/calc", ("0" * 40, "1" * 40))]
