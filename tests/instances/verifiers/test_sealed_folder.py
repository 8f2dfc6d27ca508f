import tomllib
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.domain import Instance
from assay.harness.errors import DataError
from assay.instances.dataset.load import load
from assay.instances.verifiers.sealed_folder import (
    DownloadingTask,
    make_downloading_task,
    write_script,
    write_sealed,
    write_toml,
)

TASK = '[environment]\ndocker_image = "acme/hello:1"\nmemory_mb = 2048\n[environment.env]\nA = "1"\n'


def make_task(folder: Path, task: str = TASK, **files: str) -> DownloadingTask:
    for name, text in {"task.toml": task, "instruction.md": "Say hello.", "tests/test.sh": "true\n", **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (instance,) = load(str(folder), published_images=True).instances
    return make_downloading_task(instance, folder)


def test_a_sealed_task_has_a_verifier_of_its_own_without_a_network(tmp_path: Path) -> None:
    task = make_task(tmp_path / "hello", 'artifacts = ["/srv/out"]\n' + TASK)
    write_sealed(task, {"index.json": b"[]"}, b"relay", tmp_path / "sealed")
    table = tomllib.loads((tmp_path / "sealed/task.toml").read_text())
    assert table["artifacts"] == ["/srv/out", "/app"]
    assert table["environment"] == tomllib.loads(TASK)["environment"]
    assert table["verifier"] == {
        "user": "root",
        "environment_mode": "separate",
        "environment": {"memory_mb": 2048, "env": {"A": "1"}, "workdir": "/app", "network_mode": "no-network"},
    }
    text = (tmp_path / "sealed/tests/Dockerfile").read_text()
    assert text.splitlines()[:3] == ["FROM acme/hello:1", "RUN rm -rf /srv/out /app", "COPY . /tests/"]
    assert (tmp_path / "sealed/tests/unsealed.sh").read_text() == "true\n"
    write_script(task, ["a.example", "b.example"], tmp_path / "sealed")
    assert "-carried=/srv/out:/app -names=a.example,b.example" in (tmp_path / "sealed/tests/test.sh").read_text()


def test_a_sealed_task_is_judged_in_the_patched_container_as_root(tmp_path: Path) -> None:
    write_sealed(make_task(tmp_path / "hello"), {}, b"relay", tmp_path / "sealed")
    (instance,) = load(str(tmp_path / "sealed"), published_images=True).instances
    assert instance.environment is not None
    assert instance.environment.model_dump()["verifier"] is None
    assert instance.environment.model_dump()["user"] == "root"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"task.toml": TASK + '[verifier]\nenvironment_mode = "separate"\n'}, "is separate: such a verifier's image"),
        ({"tests/sealed/seal.json": "{}"}, "hello: is sealed already; name the folder of the task as it was"),
    ],
)
def test_a_task_that_cannot_be_sealed_is_one_line(tmp_path: Path, files: dict[str, str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        make_task(tmp_path / "hello", 'artifacts = ["/app"]\n' + files.pop("task.toml", TASK), **files)


def test_an_instance_of_another_benchmark_is_no_task(instance: Instance, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="field rule: is no task of Harbor"):
        make_downloading_task(instance, tmp_path)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.none().map(lambda _: True) | st.integers(-9, 9) | st.floats(allow_nan=False) | TEXT | st.just(date(2026, 1, 2)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=9,
)


@given(st.dictionaries(TEXT, VALUES, max_size=4))
def test_what_is_written_as_toml_is_read_as_it_was(table: dict[str, object]) -> None:
    assert tomllib.loads(write_toml(table)) == table
