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
    done = assay("serve", str(rows), "--token-file", "token")
    assert done.code == 2
    assert "--token-file token: write at least 16 characters" in done.err


def test_a_token_of_the_environment_is_checked_too(assay: Assay, rows: Path) -> None:
    done = assay("serve", str(rows), ASSAY_TOKEN="short")
    assert done.code == 2
    assert "ASSAY_TOKEN: write at least 16 characters" in done.err


@pytest.mark.parametrize(
    ("mixture", "words"),
    [
        ("resolvd", "did you mean resolved"),
        ("tests:x", "--reward tests:x: write a number after the colon"),
        ("tests:0", "the weight of tests is 0.0; write a number above 0"),
    ],
)
def test_a_mixture_that_is_none_is_refused(assay: Assay, rows: Path, mixture: str, words: str) -> None:
    done = assay("serve", str(rows), "--reward", mixture)
    assert done.code == 2
    assert words in done.err


def test_a_token_file_that_is_missing_is_named(assay: Assay, rows: Path) -> None:
    done = assay("serve", str(rows), "--token-file", "nothing")
    assert (done.code, done.err) == (2, "assay: --token-file nothing: No such file or directory\n")


def test_a_wide_address_without_a_token_is_refused(assay: Assay, rows: Path) -> None:
    done = assay("serve", str(rows), "--host", "0.0.0.0", "--port", "0")
    assert done.code == 2
    assert "--host 0.0.0.0 lets other machines in; add --token-file FILE" in done.err


def test_the_missing_extra_is_one_line(assay: Assay, rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "assay.service.serve":
            raise ModuleNotFoundError("No module named 'uvicorn'", name="uvicorn")
        return really(name, *args, **kwargs)

    really = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", lacking)
    done = assay("serve", str(rows))
    assert done.code == 2
    assert "serve needs the extra `serve`: pip install 'assay-bench[serve]'" in done.err
    assert done.err.count("\n") == 1
