"""A registry in which machines share images: each is built once, pushed once, and found by its name, a content hash."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from assay.harness.engines.base import LABEL, Engine
from assay.harness.errors import EngineError, ImageMissing, UserError
from assay.harness.files import hold_lock

NOT_THERE = re.compile(r"not found|manifest unknown|does not exist|name unknown|no registry", re.IGNORECASE)
"""Words of engines about an image that a registry does not have."""


@dataclass(frozen=True, slots=True)
class ImageRegistry:
    """A place for images, as an engine reaches it."""

    engine: Engine
    locks: Path
    """Folder of lock files: an image has the registry's name for a moment, and processes must not meet there."""
    prefix: str
    """``HOST:PORT/prefix``, or ``HOST/prefix``."""
    pushes: bool = False
    """Whether what is built is sent there, too."""
    note: Callable[[str], None] = lambda _text: None

    def pull(self, name: str) -> bool:
        """Fetch an image under its own name; False if the registry lacks it. Raises EngineError for other answers."""
        remote = f"{self.prefix}/{name}"
        with self.alone(name):
            if self.engine.find_image(name) is not None:  # another process was faster
                return True
            try:
                info = self.engine.pull(remote)
            except ImageMissing as error:
                if NOT_THERE.search(str(error)):
                    return False
                raise EngineError(f"registry {self.prefix}: {error}") from error
            try:
                if f"{LABEL}.kind" not in info.labels:
                    raise EngineError(f"{remote} is no image of Assay; another prefix keeps them apart")
                self.engine.tag(remote, name)
            finally:
                self.engine.remove_image(remote)
        self.note(f"pulled {name} from {self.prefix}")
        return True

    def push(self, name: str) -> None:
        """Send an image; what the registry has of it already is not sent again. Raises EngineError."""
        remote = f"{self.prefix}/{name}"
        with self.alone(name):
            self.engine.tag(name, remote)
            try:
                self.engine.push(remote)
            finally:
                self.engine.remove_image(remote)
        self.note(f"pushed {name} to {self.prefix}")

    def alone(self, name: str) -> AbstractContextManager[None]:
        return hold_lock(self.locks / f"{name.replace('/', '-').replace(':', '-')}.lock")


def parse_prefix(text: str) -> str:
    """Read the address of a registry with its prefix, without a slash at the end; raises UserError."""
    prefix = re.sub(r"^https?://", "", text).rstrip("/")
    host, _, path = prefix.partition("/")
    is_host = re.fullmatch(r"[\w.-]+(:\d+)?", host) and (host == "localhost" or set(host) & {".", ":"})
    if not is_host or not re.fullmatch(r"([a-z0-9._-]+(/[a-z0-9._-]+)*)?", path):
        raise UserError(
            f"--registry {text!r} is no address; write HOST:PORT or HOST:PORT/prefix, the prefix in lower case"
        )
    return prefix
