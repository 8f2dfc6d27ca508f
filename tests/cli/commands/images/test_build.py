"""``assay images build`` and what moves images, as a person calls them, on an engine without containers."""

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.mark.usefixtures("rows")
def test_each_instance_has_a_row_and_all_of_them_a_sum(assay: Callable) -> None:
    done = assay("images", "build", "rows.jsonl")

    assert done.code == 0, done.err
    assert done.out.splitlines()[0].split() == ["instance", "image", "seconds", "problem"]
    assert "fake/acme__calc-1:1" in done.out
    assert "ready, 0 images built in" in done.out.splitlines()[-1]


@pytest.mark.usefixtures("rows")
def test_images_and_problems_are_one_object_as_json(assay: Callable) -> None:
    found = assay("images", "build", "rows.jsonl", "--json").json

    assert found["instances"]["acme__calc-1"].keys() == {"image", "error", "seconds"}
    assert found["instances"]["acme__calc-1"]["image"] == "fake/acme__calc-1:1"
    assert (found["built"], found["pulled"]) == ([], [])


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize(
    "command",
    [
        ["export", "rows.jsonl", "-o", "images.tar"],
        ["push", "rows.jsonl", "--registry", "127.0.0.1:5000"],
        ["pull", "rows.jsonl", "--registry", "127.0.0.1:5000"],
        ["import", "images.tar"],
    ],
)
def test_an_engine_without_containers_has_no_images_to_move(assay: Callable, command: list[str]) -> None:
    Path("images.tar").write_bytes(b"")
    done = assay("images", *command)

    assert (done.code, done.out) == (2, "")
    assert done.err == "assay: the engine fake has no images to move; name one with containers\n"


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["build", "rows.jsonl", "--disk", "much"], "'much' is no size"),
        (["push", "rows.jsonl"], "missing option '--registry'"),
        (["export", "rows.jsonl"], "missing option '-o' / '--output'"),
    ],
)
def test_a_wrong_option_is_one_line(assay: Callable, args: list[str], message: str) -> None:
    assay("images", *args).refuses(message)
