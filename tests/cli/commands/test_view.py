"""``assay view`` as a process of its own."""

import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from cli.conftest import Done

Assay = Callable[..., Done]


@contextmanager
def viewing(*args: str) -> Iterator[tuple[str, list[str]]]:
    """Start a viewer; give its address and what it said before."""
    command = [sys.executable, "-m", "assay", "view", *args]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        said: list[str] = []
        try:
            assert process.stderr is not None
            for line in process.stderr:
                said.append(line)
                if found := re.search(r"open (\S+)", line):
                    yield found[1], said
                    break
            else:
                raise AssertionError(said)
        finally:
            process.send_signal(signal.SIGINT)
            said += process.communicate(timeout=20)[1].splitlines()
    assert process.returncode == 0, said


def test_every_run_of_the_folder_is_shown_but_those_that_cannot_be_read(
    assay: Assay, rows: Path, in_folder: Path
) -> None:
    assay("evaluate", str(rows), "--gold")
    (in_folder / "runs/broken").mkdir()
    (in_folder / "runs/broken/run.json").write_text("{")
    with viewing("--port", "0") as (url, said):
        assert url.startswith("http://127.0.0.1:")
        assert "rows.gold" in httpx.get(url, trust_env=False).text
    assert "skipped" in said[0]
    assert "broken" in said[0]


def test_wide_address_asks_for_the_token_that_was_printed(assay: Assay, rows: Path) -> None:
    assay("evaluate", str(rows), "--gold")
    with viewing("rows.gold", "--port", "0", "--host", "0.0.0.0", "--token") as (url, _):
        plain = url.partition("?")[0].replace("0.0.0.0", "127.0.0.1")
        assert httpx.get(plain, trust_env=False).status_code == 403
        answer = httpx.get(url.replace("0.0.0.0", "127.0.0.1"), follow_redirects=True, trust_env=False)
        assert answer.status_code == 200


def test_wide_address_without_a_token_is_refused(assay: Assay, rows: Path) -> None:
    assay("evaluate", str(rows), "--gold")
    assay("view", "--host", "0.0.0.0", "--port", "0").refuses("--token")


def test_taken_port_names_the_remedy(assay: Assay, rows: Path) -> None:
    assay("evaluate", str(rows), "--gold")
    with viewing("--port", "0") as (url, _):
        done = assay("view", "--port", str(httpx.URL(url).port))
    done.refuses("choose another --port")


def test_folder_without_runs_is_one_line(assay: Assay) -> None:
    assay("view").refuses("assay: there is no run in runs; name the folder of runs with --runs-dir, or a run\n")
