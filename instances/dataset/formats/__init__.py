"""Data-set formats: one module each, listed in ``FORMATS``; ``base.DatasetFormat`` lists the members of a module."""

from assay.harness.plugins import load_registered
from assay.instances.dataset.formats import (
    feature_bench,
    harbor,
    multi_swe_bench,
    native,
    nocode_bench,
    polybench,
    r2e,
    swe_fficiency,
    swe_rebench,
    swe_smith,
    swebench,
    swebench_live,
    swebench_pro,
)
from assay.instances.dataset.formats.base import DatasetFormat, index_formats, write

FORMATS = index_formats(
    *load_registered("dataset_format"),
    harbor,
    native,
    multi_swe_bench,
    r2e,
    swe_rebench,
    polybench,
    swebench_live,
    swebench_pro,
    nocode_bench,
    swe_fficiency,
    feature_bench,
    swe_smith,
    swebench,
)
"""The first format that matches a row reads it: one with columns of its own comes before those it resembles.

Dialects that other distributions register under the entry-point group ``assay.dataset_formats`` come first.
"""

__all__ = ["FORMATS", "DatasetFormat", "write"]
