import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture
def public(in_folder: Path, rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host with the repository of the rows, which gets one commit that all of them start from."""
    folder = in_folder / "host/acme/calc.git"
    folder.mkdir(parents=True)
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    for args in (["init", "--quiet"], ["commit", "--quiet", "--allow-empty", "-m", "one"]):
        subprocess.run(["git", *who, "-C", str(folder), *args], check=True)
    head = subprocess.run(["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    found = [json.loads(line) | {"base_commit": head.stdout.strip()} for line in rows.read_text().splitlines()]
    rows.write_text("".join(json.dumps(row) + "\n" for row in found))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.file://{in_folder}/host/.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "https://github.com/")


@pytest.mark.usefixtures("public")
def test_repositories_are_fetched_once_with_a_line_each(assay: Callable) -> None:
    done = assay("dataset", "mirror", "rows.jsonl", "-o", "mirrors")
    assert done.code == 0, done.err
    assert "[1/1] acme/calc: 1 commit, " in done.err
    assert done.out.startswith("1 repository in mirrors (")
    again = assay("dataset", "mirror", "rows.jsonl", "-o", "mirrors", "--json")
    assert "acme/calc: 1 commit, there already" in again.err
    assert [(each["repo"], each["fetched"], each["problem"]) for each in again.json["repositories"]] == [
        ("acme/calc", 0, "")
    ]
    assert assay("evaluate", "rows.jsonl", "--gold", "--mirror", "mirrors").code == 0


@pytest.mark.usefixtures("public")
def test_an_unreachable_repository_is_exit_3(assay: Callable, rows: Path) -> None:
    first, *others = rows.read_text().splitlines()
    rows.write_text("\n".join([first.replace("acme/calc", "acme/gone"), *others]))
    done = assay("dataset", "mirror", "rows.jsonl", "-o", "mirrors")
    assert done.code == 3
    assert "acme/gone: 1 commit, such as " in done.err
    assert "1 repository in mirrors" in done.out
    assert "1 not fetched" in done.out


def test_the_bundled_data_set_needs_none(assay: Callable) -> None:
    done = assay("dataset", "mirror", "releases", "-i", "pallets__flask-2.3.2", "-o", "mirrors")
    assert (done.code, "needs no repository" in done.err) == (0, True)
