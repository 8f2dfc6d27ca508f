"""Data-set dialects: one module each, listed here."""

from assay.instances.formats import native, swebench
from assay.instances.formats.base import Format, Row

FORMATS: dict[str, Format] = {native.NAME: native, swebench.NAME: swebench}
"""The first one that claims a row reads it."""

__all__ = ["FORMATS", "Format", "Row"]
