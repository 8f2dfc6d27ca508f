"""What each language is expected to say: ``tests/harness/languages/tables/<language>.yaml``."""

from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent.parent / "harness/languages/tables"
TABLES: dict[str, dict[str, Any]] = {
    path.stem: yaml.safe_load(path.read_text()) for path in sorted(FOLDER.glob("*.yaml"))
}
