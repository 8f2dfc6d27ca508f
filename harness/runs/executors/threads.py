"""Threads of this process: right for one machine, since the work itself happens in containers."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any


def run(work: Callable[[Any], Any], items: Sequence[Any], jobs: int) -> Iterator[Any]:
    """Yield results as they are ready; the items are started in their order."""
    pool = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="assay")
    try:
        for future in as_completed([pool.submit(work, item) for item in items]):
            yield future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
