"""Small programs in every language, of ``shop_programs.yaml``."""

from pathlib import Path

import yaml

PROGRAMS: dict[str, tuple[str, str]] = {
    language: (program["path"], program["text"])
    for language, program in yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")).items()
}
"""Language to path and text."""
