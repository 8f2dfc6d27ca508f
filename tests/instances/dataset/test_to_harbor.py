"""Instances as tasks of Harbor: read by Harbor itself, and their ``test.sh`` asking a service."""

import json
import subprocess
import tomllib
from pathlib import Path
from shutil import which

import pytest

from assay.harness.domain import Instance, PublishedImage, Rule
from assay.harness.errors import DataError, UserError
from assay.instances.dataset.to_harbor import PATCH, task_files, write_tasks
from other_tools import run_with
from served import served
from toy import make_instance

READER = Path(__file__).with_name("read_tasks_with_harbor.py")
LANGUAGES = ("python", "go", "rust", "javascript")
IMAGE = "registry.example/swe/{id}"
ODD = """\
diff --git a/odd.txt b/odd.txt
new file mode 100644
--- /dev/null
+++ b/odd.txt
@@ -0,0 +1,3 @@
+a "quoted" \\n back\\slash\tand a tab\r
+form\x0cfeed \x1b[31mred \x7f
+ümläute 🙂 %s ${HOME} 'single'
"""


@pytest.mark.network
def test_harbor_lists_and_validates_ten_tasks_of_four_languages(tmp_path: Path) -> None:
    statement = 'It "breaks" \\ at ${HOME}.\n'
    instances = [
        make_instance(id=f"Acme__calc-{number}", language=LANGUAGES[number % 4], problem_statement=statement)
        for number in range(10)
    ]
    assert write_tasks(tmp_path / "tasks", instances, IMAGE) == 10
    seen = json.loads(run_with(["harbor==0.24.0"], "python", str(READER), str(tmp_path / "tasks"), python=(3, 12)))
    assert set(seen) == {f"assay/{each.id}" for each in instances}
    assert seen["assay/Acme__calc-3"] == {
        "instruction": f"{statement}\nThe repository is in /testbed.\n",
        "image": "registry.example/swe/acme__calc-3",
        "verifier_image": "registry.example/swe/acme__calc-3",
        "tests_are_uploaded": True,
        "mode": "separate",
        "instance": "Acme__calc-3",
    }


def test_the_image_is_the_rows_own_or_the_one_that_is_named(instance: Instance) -> None:
    script = "cd /app\n: '>>>>> Start Test Output'\nmake test\n: '>>>>> End Test Output'\n"
    own = instance.model_copy(update={"environment": PublishedImage(image="acme/own:1", eval_script=script)})
    for files, image, workdir, base in (
        (task_files(own), "acme/own:1", "/app", "HEAD"),
        (task_files(own, "x/{id}"), "x/acme__calc-1", "/testbed", "--max-parents=0"),
    ):
        task = tomllib.loads(files["task.toml"])
        assert task["environment"] == {"docker_image": image, "workdir": workdir}
        (collected,) = task["verifier"]["collect"]
        assert base in collected["command"]
        assert f"cd {workdir} " in files["solution/solve.sh"]
    carded = tomllib.loads(task_files(own.model_copy(update={"gpus": 2}))["task.toml"])
    assert carded["environment"]["gpus"] == 2
    with pytest.raises(DataError, match="field image: is missing: the row names no image"):
        task_files(instance)


def test_a_folder_that_holds_something_and_a_task_of_harbor_are_refused(tmp_path: Path, instance: Instance) -> None:
    (tmp_path / "x").touch()
    with pytest.raises(UserError, match="is not empty"):
        write_tasks(tmp_path, [instance], IMAGE)
    with pytest.raises(DataError, match="is a task of Harbor already"):
        task_files(instance.model_copy(update={"rule": Rule.HARBOR}), IMAGE)


def test_what_the_agent_changed_is_collected_with_its_commits(tmp_path: Path, instance: Instance) -> None:
    tree, logs = tmp_path / "tree", tmp_path / "logs"
    git = ["git", "-C", str(tree), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "init", "-q", str(tree)], check=True)
    for name in ("base", "committed"):
        (tree / f"{name}.txt").write_text(name)
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-q", "-m", name], check=True)
    (tree / "new.txt").write_text("new")
    (collected,) = tomllib.loads(task_files(instance, IMAGE)["task.toml"])["verifier"]["collect"]
    command = collected["command"].replace("/testbed", str(tree)).replace("/logs/artifacts", str(logs))
    subprocess.run(["bash", "-c", command], check=True)
    patch = (logs / "model.patch").read_text()
    assert [name in patch for name in ("base.txt", "committed.txt", "new.txt")] == [False, True, True]


def rewarded(folder: Path, instance: Instance, patch: str, service: str, *, curl: bool) -> tuple[int, str]:
    """Run a task's test.sh here; return its status and what it wrote."""
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    names = ["sed", "grep", "head", "cut", "cat", "wc", "mktemp", "mkdir", "sleep", *(["curl"] if curl else [])]
    for name in names:
        if not (programs / name).exists():
            (programs / name).symlink_to(str(which(name)))
    (folder / "model.patch").write_bytes(patch.encode())
    script = task_files(instance, IMAGE)["tests/test.sh"]
    script = script.replace(PATCH, str(folder / "model.patch")).replace("/logs/verifier", str(folder / "verifier"))
    done = subprocess.run(
        [str(which("bash")), "-c", script],
        env={"PATH": str(programs), "ASSAY_SERVICE": service, "no_proxy": "*", "TMPDIR": str(folder)},
        capture_output=True,
        check=False,
    )
    written = folder / "verifier" / "reward.json"
    return done.returncode, written.read_text() if written.exists() else ""


@pytest.mark.parametrize(
    "curl", [pytest.param(True, marks=pytest.mark.skipif(not which("curl"), reason="no curl")), False]
)
def test_the_reward_is_the_services_and_every_byte_of_the_patch_arrives(tmp_path: Path, *, curl: bool) -> None:
    instance = make_instance(gold_patch=ODD)
    with served([instance], tmp_path / "verdicts") as service:
        assert rewarded(tmp_path, instance, ODD, service.url, curl=curl) == (0, '{"reward": 1.0}\n')
        assert rewarded(tmp_path, instance, ODD.replace("red", "blue"), service.url, curl=curl) == (
            0,
            '{"reward": 0.0}\n',
        )
        assert rewarded(tmp_path, instance, "", service.url, curl=curl) == (0, '{"reward": 0.0}\n')


def test_without_an_answer_there_is_no_reward(tmp_path: Path) -> None:
    known, unknown = make_instance(), make_instance(id="acme__other-1")
    with served([known], tmp_path / "verdicts") as service:
        assert rewarded(tmp_path, unknown, "", service.url, curl=False) == (1, "")
    assert rewarded(tmp_path, known, "", "", curl=False) == (1, "")
