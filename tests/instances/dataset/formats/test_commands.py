"""Images of rows that name commands beside them, and the scripts that are made of these."""

import pytest

from assay.harness import runners
from assay.harness.domain import PublishedImage
from assay.harness.errors import DataError
from assay.instances.environments.row_script import read_script
from samples import get_image, read, script

PYTEST = {"log_parser": "parse_log_pytest", "test_cmd": "pytest -rA", "install": "pip install -e .", "python": "3.9"}
FIRST = {"FAIL_TO_FAIL": [], "docker_image": "acme/adds:1", "install_config": PYTEST}
POLY = {"Dockerfile": "FROM a\nWORKDIR /\nworkdir /work/here\n", "test_command": "pytest test_a.py"}
SMITH, PLAIN = "me/swesmith.x86_64.{}.aaaaaaaa", ("pytest", "--disable-warnings", "--color=no", "--tb=no", "--verbose")
LIVE = {"docker_image": None, "test_cmds": ["pytest -rA"], "print_cmds": [], "rebuild_cmds": ["make all"]}


CARGO = {"log_parser": "parse_log_cargo", "test_cmd": ["make", "cargo test"]}
PATCH = "".join(f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n" for path in ("tests/test a.py", "tests/a.json"))


@pytest.mark.parametrize(
    ("dialect", "number", "changes", "name", "parts"),
    [
        ("swe-rebench", 0, {}, "acme/sums:1-aaaaaaa", {"workdir": "/sums", "commands": (("make", "test"),)}),
        # the first of several commands that fails ends all
        (
            *("swe-rebench", 0, {"install_config": CARGO}, "acme/sums:1-aaaaaaa"),
            {"tests": "set -e\nmake\ncargo test", "commands": ()},
        ),
        # of the first version: the runner gets the files of the test patch
        (
            *("swe-rebench", 2, {**FIRST, "test_patch": PATCH}, "acme/adds:1"),
            {"workdir": "/testbed", "commands": (("pytest", "-rA", "tests/test a.py"),)},
        ),
        (
            *("polybench", 2, POLY, "ghcr.io/timesler/swe-polybench.eval.x86_64.acme__loops-3:v1.1"),
            {"workdir": "/work/here", "commands": (("pytest", "test_a.py"),)},
        ),
        # the bug's tests are in the tree: the command gets their files
        (
            *("swe-smith", 0, {"image_name": SMITH.format("acme_1776_clock")}, SMITH.format("acme_1776_clock")),
            {"workdir": "/testbed", "commands": ((*PLAIN, "tests/test_a.py"),)},
        ),
        (
            *("swe-smith", 0, {"image_name": SMITH.format("mido_1776_mido")}, SMITH.format("mido_1776_mido")),
            {"commands": ((*PLAIN, "-rs", "-c", "/dev/null", "tests/test_a.py"),)},
        ),
        (
            *("r2e", 0, {}, "acme/tiny_final:1"),
            {
                "workdir": "/testbed",
                "commands": (("/testbed/.venv/bin/python", "-m", "pytest", "-rA", "tests/test_f.py"),),
            },
        ),
        (
            *("swebench-live", 1, LIVE, "starryzhang/sweb.eval.x86_64.acme_1776_hare-2"),
            {"workdir": "/testbed", "commands": (("pytest", "-rA"),)},
        ),
    ],
)
def test_image_and_commands_of_a_row_are_its_environment(
    dialect: str, number: int, changes: dict[str, object], name: str, parts: dict[str, object]
) -> None:
    instance = read(dialect, number, **changes)
    assert isinstance(instance.environment, PublishedImage)
    assert instance.environment.image == name
    found = read_script(instance.environment.eval_script)
    assert {part: getattr(found, part) for part in parts} == parts


def test_commands_that_install_or_build_come_before_the_tests() -> None:
    first, live = script(read("swe-rebench", 2, **FIRST)), script(read("swebench-live", 1, **LIVE))
    assert (first.install[-1], live.prepare[-1]) == ("pip install -e .", "make all")
    assert runners.adapt_commands(first.commands) is not None


@pytest.mark.parametrize(
    ("name", "number", "changes"),
    [
        ("swe-smith", 0, {"image_name": SMITH.format("python_1776_mypy")}),
        ("r2e", 0, {"docker_image": None}),
        ("polybench", 0, {"test_command": None}),
        ("swebench-live", 0, {}),
        ("swebench-live", 1, {"test_cmds": []}),
        ("swe-rebench", 0, {"image_name": ""}),
        ("swe-rebench", 0, {"install_config": {"log_parser": "parse_log_cargo"}}),
        ("swe-rebench", 1, {}),
    ],
)
def test_a_row_without_image_tests_or_a_log_that_can_be_read_has_no_environment(
    name: str, number: int, changes: dict[str, object]
) -> None:
    assert read(name, number, **changes).environment is None


def test_a_multi_swe_bench_row_leaves_the_script_to_its_image() -> None:
    image = get_image(read("multi-swe-bench", 1))
    assert (image.image, image.script_file, image.eval_script) == (
        "mswebench/acme_m_beans:pr-15",
        "/home/fix-run.sh",
        "",
    )


def test_a_wrong_test_command_is_named() -> None:
    with pytest.raises(DataError, match=r"field install_config\.test_cmd: is 7; write a list of shell commands"):
        read("swe-rebench", install_config={"log_parser": "parse_log_cargo", "test_cmd": 7})
