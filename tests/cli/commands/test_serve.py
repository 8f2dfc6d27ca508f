"""``assay serve``: what it refuses before it serves; the service itself is tested in tests/service."""

import builtins
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Done

Assay = Callable[..., Done]


@pytest.mark.parametrize("content", ["", "short\n", "a secret with spaces in it"])
def test_a_token_that_is_none_is_refused(assay: Assay, rows: Path, in_folder: Path, content: str) -> None:
    (in_folder / "token").write_text(content)
    assay("serve", str(rows), "--token-file", "token").refuses("--token-file token: write at least 16 characters")


@pytest.mark.parametrize(
    ("mixture", "words"),
    [
        ("resolvd", "did you mean resolved"),
        ("tests:x", "--reward tests:x: write a number after the colon"),
        ("tests:0", "the weight of tests is 0.0; write a number above 0"),
    ],
)
def test_a_mixture_that_is_none_is_refused(assay: Assay, rows: Path, mixture: str, words: str) -> None:
    assay("serve", str(rows), "--reward", mixture).refuses(words)


def test_a_token_is_asked_for_and_read(assay: Assay, rows: Path) -> None:
    assay("serve", str(rows), ASSAY_TOKEN="short").refuses("ASSAY_TOKEN: write at least 16 characters")
    assay("serve", str(rows), "--token-file", "nothing").refuses("--token-file nothing: No such file or directory\n")
    problem = "--host 0.0.0.0 lets other machines in; add --token-file FILE"
    assay("serve", str(rows), "--host", "0.0.0.0", "--port", "0").refuses(problem)


def test_the_missing_extra_is_one_line(assay: Assay, rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "assay.service.serve":
            raise ModuleNotFoundError("No module named 'uvicorn'", name="uvicorn")
        return really(name, *args, **kwargs)

    really = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", lacking)
    assay("serve", str(rows)).refuses("serve needs the extra `serve`: pip install 'assay-bench[serve]'")
