"""Images of rows that name commands beside them, and the scripts that are made of these."""

import pytest

from assay.harness import runners
from assay.harness.domain import Instance, PublishedImage
from assay.harness.errors import DataError
from assay.instances.environments.row_script import Script, read_script
from samples import read

PYTEST = {"log_parser": "parse_log_pytest", "test_cmd": "pytest -rA", "install": "pip install -e .", "python": "3.9"}
FIRST = {"FAIL_TO_FAIL": [], "docker_image": "acme/adds:1", "install_config": PYTEST}
LIVE = {"docker_image": None, "test_cmds": ["pytest -rA"], "print_cmds": [], "rebuild_cmds": ["make all"]}


def script(instance: Instance) -> Script:
    assert isinstance(instance.environment, PublishedImage)
    return read_script(instance.environment.eval_script)


def image(instance: Instance) -> str:
    return instance.environment.image if isinstance(instance.environment, PublishedImage) else ""


def test_swe_rebench_runs_its_test_command_in_the_folder_of_the_repositorys_name() -> None:
    instance = read("swe-rebench")
    assert image(instance) == "acme/sums:1-aaaaaaa"
    assert (script(instance).workdir, script(instance).commands) == ("/sums", (("make", "test"),))


def test_swe_rebench_ends_with_the_first_of_several_commands_that_fails() -> None:
    install = {"log_parser": "parse_log_cargo", "test_cmd": ["make", "cargo test"]}
    found = script(read("swe-rebench", install_config=install))
    assert (found.tests, found.commands) == ("set -e\nmake\ncargo test", ())


def test_swe_rebench_of_the_first_version_gives_the_runner_the_files_of_the_test_patch() -> None:
    patch = "".join(
        f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n" for path in ("tests/test a.py", "tests/a.json")
    )
    found = script(read("swe-rebench", 2, **FIRST, test_patch=patch))
    assert found.workdir == "/testbed"
    assert found.commands == (("pytest", "-rA", "tests/test a.py"),)
    assert found.install[-1] == "pip install -e ."
    assert runners.adapt_commands(found.commands) is not None


def test_swe_bench_live_builds_and_runs_its_commands() -> None:
    instance = read("swebench-live", 1, **LIVE)
    assert image(instance) == "starryzhang/sweb.eval.x86_64.acme_1776_hare-2"
    found = script(instance)
    assert (found.workdir, found.prepare[-1], found.commands) == ("/testbed", "make all", (("pytest", "-rA"),))


@pytest.mark.parametrize(
    ("name", "number", "changes"),
    [
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


def test_a_wrong_test_command_is_named() -> None:
    with pytest.raises(DataError, match=r"field install_config\.test_cmd: is 7; write a list of shell commands"):
        read("swe-rebench", install_config={"log_parser": "parse_log_cargo", "test_cmd": 7})
