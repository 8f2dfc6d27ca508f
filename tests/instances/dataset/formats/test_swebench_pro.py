import json
import subprocess
from pathlib import Path

import pytest

from assay.harness.reports import find
from assay.instances.dataset.formats import FORMATS, write
from assay.instances.dataset.formats.swebench_pro import RUN, read_image_name
from assay.instances.dataset.load import load
from assay.instances.environments.row_script import read_script
from samples import get_image, read, rows

PRO = "swebench-pro"
COMMIT = "c" * 40


@pytest.mark.parametrize(
    ("repo", "instance_id", "image"),
    [
        ("NodeBB/NodeBB", f"instance_NodeBB__NodeBB-{COMMIT}-vnan", f"nodebb.nodebb-NodeBB__NodeBB-{COMMIT}"),
        ("acme/a", f"instance_acme__a-{COMMIT}-v{COMMIT}", f"acme.a-acme__a-{COMMIT}-v{COMMIT}"),
        ("o/" + "n" * 90, f"instance_{COMMIT}", "o." + "n" * 90 + "-" + "c" * 35),
    ],
)
def test_an_image_without_a_tag_is_named_by_repository_and_id(repo: str, instance_id: str, image: str) -> None:
    assert read_image_name({"repo": repo, "instance_id": instance_id}) == f"jefzda/sweap-images:{image}"
    assert read_image_name({"repo": repo, "instance_id": instance_id, "dockerhub_tag": "t"}) == "jefzda/sweap-images:t"


def test_script_and_parser_beside_the_rows_become_the_environment(tmp_path: Path) -> None:
    row = rows(PRO)[0]
    own = tmp_path / "run_scripts" / row["instance_id"]
    own.mkdir(parents=True)
    (own / "run_script.sh").write_text("echo 'hello'\n")
    (own / "parser.py").write_text("print()\n")
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows(PRO)))
    first, second, third = load(str(tmp_path / "rows.jsonl"), published_images=True).instances
    assert get_image(first).image == f"jefzda/sweap-images:acme.calc-Acme__Calc-{COMMIT}"
    assert get_image(second).image == f"jefzda/sweap-images:acme.wheel-acme__wheel-{COMMIT}"
    assert third.environment is None
    written = write(FORMATS[PRO], first)
    assert (written["run_script"], written["parser"]) == ("echo 'hello'\n", "print()\n")


def test_an_id_that_leaves_its_folder_finds_no_file(tmp_path: Path) -> None:
    (tmp_path / "run_scripts").mkdir()
    (tmp_path / "run_script.sh").write_text("x")
    (tmp_path / "rows.jsonl").write_text(json.dumps({**rows(PRO)[0], "instance_id": ".."}) + "\n")
    (problem,) = load(str(tmp_path / "rows.jsonl"), skip_bad_rows=True).problems
    assert problem.field == "instance_id"


def test_the_script_is_read_in_parts_and_the_checkout_of_the_tests_is_left_to_the_harness() -> None:
    row = rows(PRO)[1]
    script = read_script(get_image(read(PRO, 1, before_repo_set_cmd=rows(PRO)[0]["before_repo_set_cmd"])).eval_script)
    assert (script.workdir, script.prepare, script.install) == ("/app", ("cd /app",), ())
    (command,) = script.commands
    assert command == ("bash", "-c", RUN, "assay", row["run_script"], row["parser"], "TestTurn")


def test_what_the_row_runs_prints_what_its_parser_makes_of_stdout(tmp_path: Path) -> None:
    parser = (
        "import json, sys\n"
        "names = open(sys.argv[1]).read().split()\n"
        "tests = [{'name': name, 'status': 'PASSED'} for name in names]\n"
        "json.dump({'tests': tests}, open(sys.argv[3], 'w'))\n"
    )
    forged = '{"parsed": {"tests": [{"name": "forged", "status": "PASSED"}]}}'
    (tmp_path / "python").symlink_to("/usr/bin/python3")
    script = f"echo $1\necho '{forged}' >&2\n"
    done = subprocess.run(
        ["bash", "-c", RUN, "assay", script, parser, "adds,subs"],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
    )
    assert [*find("parsed_json").parse(done.stdout)] == ["adds,subs"]
    assert f"| {forged}" in done.stdout
