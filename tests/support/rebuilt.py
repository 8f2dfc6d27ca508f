"""Images locked, removed and built again from their lock."""

import contextlib
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from uuid import uuid4

import pytest

from assay.harness.domain import Instance, Prediction
from assay.harness.engines.docker import DockerEngine
from assay.harness.evaluation.evaluate import evaluate
from assay.harness.grading.grade import grade
from assay.instances.environments.images_lock import Lock, add_contents
from assay.jobs.lock import check_images, lock_instances, rebuild
from assay.jobs.workplace import Workplace

Results = list[tuple[str, str, dict[str, str]]]
"""Image, outcome and status of each test, with no patch and with the gold patch."""


def quiet(_total: int, _title: str) -> AbstractContextManager[Callable[[], None]]:
    return contextlib.nullcontext(lambda: None)


def build_twice(
    instance: Instance, engine: DockerEngine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Lock, Results, Results]:
    """Lock an instance of a mirror in ``folder/mirrors``, and evaluate it in its images and in those of the lock.

    The second build has no cache of the first, and its cache is ``folder/other``. Fails if an image differs.
    """
    monkeypatch.setenv("ASSAY_CACHE", str(folder / "cache"))
    first = Workplace(mirrors=[folder / "mirrors"], jobs=1)
    made = lock_instances([instance], first, quiet)
    assert made.problems == {}
    lock = without_build_cache(made.lock)
    chain = {layer.name: layer for used in lock.used for layer in lock.chain(used.image) if layer.dockerfile}
    try:
        before = results(instance, first)
        remove(engine, chain)
        monkeypatch.setenv("ASSAY_CACHE", str(folder / "other"))
        again = Workplace(mirrors=first.mirrors, jobs=1)
        assert rebuild(lock, again, quiet) == {instance.id: ""}
        states = check_images(lock, engine, 1, quiet)
        assert {state.image: state.differences for state in states if state.differences} == {}
        return lock, before, results(instance, again)
    finally:
        remove(engine, chain)


def without_build_cache(lock: Lock) -> Lock:
    """Return a lock with one more locked file in each image, by which a build finds none of the first one's steps."""
    more = {"locked/unused": f"{uuid4()}\n"}
    built = [layer for layer in lock.layers.values() if layer.dockerfile]
    return add_contents(lock, {each.name: (each.digest, {**lock.get_texts(each.contents), **more}) for each in built})


def results(instance: Instance, place: Workplace) -> Results:
    found: Results = []
    for patch in ("", instance.gold_patch):
        task = place.task(instance, Prediction(instance_id=instance.id, patch=patch), runs_empty=True)
        with place.bench.image(task.instance, patch) as image:
            evidence = evaluate(task, image, place.bench.engine).evidence
        tests = {test: str(status) for test, status in evidence.report.tests.items()}
        found.append((image, str(grade(instance, evidence).outcome), tests))
    return found


def remove(engine: DockerEngine, images: Iterable[str]) -> None:
    for name in reversed([*images]):
        engine.remove_image(name)
