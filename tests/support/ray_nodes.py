"""A Ray cluster of several nodes on this machine, whose engines act instances out."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from assay.harness.runs.ray_cluster import RayCluster

STORE = 80 * 1024 * 1024
"""The smallest object store that Ray takes."""


@contextmanager
def ray_nodes(slots: int = 2) -> Iterator[Any]:
    """Start a head without slots and two nodes with some each; a test command takes a moment."""
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_FAKE_SECONDS", "0.3")
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": STORE}
        made = Cluster(initialize_head=True, head_node_args=head)
        for _ in range(2):
            add_node(made, slots)
        yield made
        import ray

        ray.shutdown()
        made.shutdown()


def add_node(cluster: Any, slots: int = 2) -> Any:
    return cluster.add_node(num_cpus=1, resources={"engine_slots": slots}, object_store_memory=STORE)


def workers(cluster: RayCluster) -> set[int]:
    """Return the processes in which the workers of a cluster are."""
    ray = cluster._ray
    return {ray.get(worker.__ray_call__.remote(lambda _self: os.getpid())) for worker in list(cluster._facts)}


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)
