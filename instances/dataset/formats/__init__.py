"""Data-set formats: one module each, listed in ``FORMATS``; ``base.DatasetFormat`` lists the members of a module."""

from assay.harness.plugins import Registry
from assay.instances.dataset.formats import (
    commit0,
    deep_swe,
    feature_bench,
    gso,
    harbor,
    multi_swe_bench,
    native,
    nocode_bench,
    polybench,
    r2e,
    swe_fficiency,
    swe_perf,
    swe_rebench,
    swe_smith,
    swebench,
    swebench_live,
    swebench_pro,
)
from assay.instances.dataset.formats.base import DatasetFormat, write

_OWN: tuple[DatasetFormat, ...] = (
    deep_swe,
    commit0,
    harbor,
    native,
    multi_swe_bench,
    r2e,
    swe_rebench,
    polybench,
    swebench_live,
    swebench_pro,
    nocode_bench,
    swe_perf,
    gso,
    swe_fficiency,
    feature_bench,
    swe_smith,
    swebench,
)
FORMATS = Registry[DatasetFormat](
    "data-set format", "assay.dataset_formats", {each.NAME: each for each in _OWN}, needs=DatasetFormat
)
"""The first format that matches a row reads it: one with columns of its own comes before those it resembles."""
FORMATS.load_group()

__all__ = ["FORMATS", "DatasetFormat", "write"]
