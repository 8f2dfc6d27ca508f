"""``assay cluster kubernetes``: a manifest that the API takes, and whose commands do what they say."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

pytestmark = pytest.mark.slow

COMMAND = ("cluster", "kubernetes", "--image", "registry.example.com/assay:1", "--volume", "evaluations")
VERSIONS = ("1.29", "1.33", "1.37")


def manifest(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    evaluate, merge = yaml.safe_load_all(text)
    return evaluate, merge


def containers(job: dict[str, Any], kind: str = "containers") -> dict[str, Any]:
    return {each["name"]: each for each in job["spec"]["template"]["spec"].get(kind, ())}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("engine", ["docker", "fake"])
@pytest.mark.parametrize("run_id", ["nightly", "Ünïcode it's $(HOSTNAME) #1: run"])
def test_the_api_takes_it(assay: Callable, run_id: str, engine: str, version: str) -> None:
    done = assay(*COMMAND, "--", "my rows.jsonl", "--gold", "--run-id", run_id, "--engine", engine)
    assert done.code == 0, done.err
    for job in manifest(done.out):
        kubernetes_validate.validate(job, version, strict=True)
        assert len(job["metadata"]["name"]) <= 63
    assert bool(containers(manifest(done.out)[0], "initContainers")) is (engine == "docker")


def test_the_check_finds_what_is_wrong(assay: Callable) -> None:
    job, _ = manifest(assay(*COMMAND, "--", "rows.jsonl", "--gold", "--run-id", "r").out)
    job["spec"]["podFailurePolicy"]["rules"][0]["onPodConditions"][0]["state"] = "True"
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(job, "1.33", strict=True)


SOLVE = ("solve", "my rows.jsonl", "--agent", "bash_loop", "--model", "acme/m 1", "--run-id", "r $(HOME)", "--evaluate")
SERVE = ("--serve", "vllm", "--server-gpus", "2", "--replicas", "3")


@pytest.mark.parametrize("version", VERSIONS)
def test_the_api_takes_a_model_server(assay: Callable, version: str) -> None:
    done = assay(*COMMAND, *SERVE, "--", *SOLVE)
    assert done.code == 0, done.err
    job, _merge, service, model = yaml.safe_load_all(done.out)
    for each in (job, service, model):
        kubernetes_validate.validate(each, version, strict=True)
    assert service["spec"]["selector"] == model["spec"]["template"]["metadata"]["labels"]
    [server], [part] = containers(model).values(), containers(job).values()
    assert server["resources"]["limits"]["nvidia.com/gpu"] == 2
    assert "securityContext" not in server
    line = "vllm serve 'acme/m 1' --host 0.0.0.0 --port 8000 --tensor-parallel-size 2 &"
    assert line in server["args"][0].splitlines()
    assert (model["spec"]["completions"], model["spec"]["parallelism"]) == (3, 3)
    counted = {rule["action"]: rule for rule in job["spec"]["podFailurePolicy"]["rules"]}["Count"]
    assert 2 in counted["onExitCodes"]["values"], "a shard that began while the server started again"
    address = f"http://{service['metadata']['name']}:8000/v1"
    assert {"name": "OPENAI_BASE_URL", "value": address} in part["env"]
    assert f'urlopen("{address}/models"' in part["args"][0]


def test_the_server_of_a_manifest_ends_once_the_run_is_merged(assay: Callable, in_folder: Path) -> None:
    """Played without Kubernetes: the pod's own command, with a server that runs until it is ended."""
    server = ("--serve", "touch {port}; exec sleep 60", "--server-image", "x")
    *_, model = yaml.safe_load_all(assay(*COMMAND, *server, "--", *SOLVE).out)
    [container] = containers(model).values()
    words = [*container["command"], container["args"][0].replace("$$", "$").replace("sleep 5", "sleep 0.1")]
    with subprocess.Popen(words) as pod:
        while not Path("8000").exists():
            time.sleep(0.05)
        time.sleep(0.3)
        assert pod.poll() is None
        Path("runs/r $(HOME)").mkdir(parents=True)
        Path("runs/r $(HOME)/solutions.jsonl").touch()
        assert pod.wait(20) == 0


def test_options_are_where_kubernetes_reads_them(assay: Callable) -> None:
    options = ("--shards", "16", "--namespace", "evals", "--time", "02:00:00", "--cpus", "6", "--memory", "48G")
    arguments = ("rows.jsonl", "--gold", "--run-id", "r", "--engine", "docker")
    job, merge = manifest(assay(*COMMAND, *options, "--", *arguments).out)
    spec = job["spec"]
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 16, 16)
    assert spec["template"]["spec"]["activeDeadlineSeconds"] == 7200
    assert {each["metadata"]["namespace"] for each in (job, merge)} == {"evals"}
    engine = containers(job, "initContainers")["engine"]
    assert engine["resources"]["requests"] == {"cpu": 6, "memory": "48G"}
    assert engine["restartPolicy"] == "Always"
    mounts = [each["persistentVolumeClaim"]["claimName"] for each in merge["spec"]["template"]["spec"]["volumes"]]
    assert mounts == ["evaluations"]


def test_cards_of_a_pod_are_the_engines(assay: Callable) -> None:
    arguments = ("rows.jsonl", "--gold", "--run-id", "r", "--engine", "docker", "--gpus", "2")
    job, merge = manifest(assay(*COMMAND, "--", *arguments, "--gpu-kind", "amd.com/gpu").out)
    kubernetes_validate.validate(job, "1.33", strict=True)
    assert containers(job, "initContainers")["engine"]["resources"]["limits"] == {"memory": "32G", "amd.com/gpu": 2}
    assert not any("amd.com/gpu" in str(each["resources"]) for each in (*containers(job).values(),))
    assert "amd.com/gpu" not in str(merge)


def test_only_what_may_succeed_is_tried_again(assay: Callable) -> None:
    """Exit codes are those of the documents: 1 and 2 come again, 3 and 130 may not."""
    job, _ = manifest(assay(*COMMAND, "--", "rows.jsonl", "--gold", "--run-id", "r").out)
    rules = {rule["action"]: rule for rule in job["spec"]["podFailurePolicy"]["rules"]}
    assert rules["FailIndex"]["onExitCodes"]["values"] == [1, 2]
    assert {3, 130} <= {*rules["Count"]["onExitCodes"]["values"]}
    assert {each["type"] for each in rules["Ignore"]["onPodConditions"]} == {"DisruptionTarget"}


def test_its_commands_evaluate_and_merge(assay: Callable, rows: Path, in_folder: Path) -> None:
    """Played without Kubernetes: each pod's command with its index, then the merge's."""
    run_id = "it's $(HOME) now"
    arguments = ("rows.jsonl", "--gold", "--run-id", run_id, "--engine", "fake")
    job, merge = manifest(assay(*COMMAND, "--shards", "2", "--", *arguments).out)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    part = containers(job)["assay"]
    for index, container in ((0, part), (1, part), ("", containers(merge)["merge"])):
        # to Kubernetes ``$$`` is a dollar; the names here are of no variable that it knows
        words = [*container["command"], *(each.replace("$$", "$") for each in container["args"])]
        env = {**os.environ, "PATH": path, "JOB_COMPLETION_INDEX": str(index), "ASSAY_CACHE": str(in_folder / "cache")}
        done = subprocess.run(words, capture_output=True, text=True, env=env, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
    assert assay(*("evaluate", *arguments), "--runs-dir", "single").code == 0
    report = Path(f"runs/{run_id}/report.json").read_bytes()
    assert report == Path(f"single/{run_id}/report.json").read_bytes()
    assert json.loads(report)["resolved_instances"] == 3
