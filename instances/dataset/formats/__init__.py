"""Data-set dialects: one module each, listed here."""

from assay.instances.dataset.formats import (
    multi_swe_bench,
    native,
    polybench,
    r2e,
    swe_rebench,
    swe_smith,
    swebench,
    swebench_live,
)
from assay.instances.dataset.formats.base import DatasetFormat, Row, write

FORMATS: dict[str, DatasetFormat] = {
    native.NAME: native,
    multi_swe_bench.NAME: multi_swe_bench,
    r2e.NAME: r2e,
    swe_rebench.NAME: swe_rebench,
    polybench.NAME: polybench,
    swebench_live.NAME: swebench_live,
    swe_smith.NAME: swe_smith,
    swebench.NAME: swebench,
}
"""The first one that claims a row reads it: those with columns of their own come before those they resemble."""

__all__ = ["FORMATS", "DatasetFormat", "Row", "write"]
