import subprocess
import sys
from collections.abc import Callable

import pytest

COMMANDS = [
    ["demo"],
    ["evaluate"],
    ["images"],
    ["images", "build"],
    ["images", "list"],
    ["images", "prune"],
    ["dataset"],
    ["dataset", "show"],
    ["dataset", "check"],
    ["dataset", "validate"],
    ["report"],
    ["report", "show"],
    ["report", "regrade"],
    ["doctor"],
    ["reap"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_explains_itself(assay: Callable, command: list[str]) -> None:
    done = assay(*command, "--help")
    assert done.code == 0
    assert "Usage: assay" in done.out


def test_help_does_not_import_what_it_does_not_need() -> None:
    program = (
        "import sys; sys.argv = ['assay', '--help']\n"
        "from assay.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'pydantic', 'docker', 'rich', 'git', 'datasets', 'yaml', 'unidiff'}\n"
        "print('LOADED', sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "LOADED []" in done.stdout


def test_version(assay: Callable) -> None:
    assert assay("--version").out.startswith("assay 0.")


def test_no_command_prints_the_help(assay: Callable) -> None:
    assert "evaluate" in assay().out + assay().err


def test_reap_and_doctor_answer_in_json(assay: Callable) -> None:
    assert assay("reap", "--json").json == {"removed": []}
    findings = assay("doctor", "--json").json["findings"]
    assert {"engine", "git", "uv", "disk"} <= {finding["what"] for finding in findings}
