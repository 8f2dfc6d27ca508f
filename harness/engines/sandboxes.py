"""Engines whose boxes are sandboxes elsewhere, reached over HTTP: what they share, and the one of a server of boxes."""

import os
import secrets
import tempfile
import threading
import zipfile
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import Any, NoReturn

from assay.harness.engines.base import Box, BoxEnd, BoxSpec, Engine, ImageInfo, ImageLayer
from assay.harness.engines.cards import HostCard
from assay.harness.engines.http_box import ANSWER_SECONDS, BoxWire, HttpBox, WireRefusal, quote_name
from assay.harness.engines.owner import is_orphan
from assay.harness.errors import EngineError, EngineUnavailable, ImageMissing, NotOffered, RunStopped

ADDRESS, SECRET = "ASSAY_BOX_URL", "ASSAY_BOX_TOKEN"
FIRST_PATIENCE = 10.0  # seconds in which a server has to answer first
AGENT = ("box_agent.py", "box_protocol.py", "caps.py")
CHUNK = 1024 * 1024


def pack_agent() -> bytes:
    """Return the agent as one file that any Python 3.9 or newer runs: ``python3 assay_box.pyz``."""
    packed, here = BytesIO(), Path(__file__).parent
    with zipfile.ZipFile(packed, "w") as archive:
        for name in AGENT:
            archive.writestr(zipfile.ZipInfo("__main__.py" if name == AGENT[0] else name), (here / name).read_bytes())
    return packed.getvalue()


def _refuse(what: str) -> Any:
    def method(self: "SandboxEngine", *args: Any, **_options: Any) -> NoReturn:
        about = f" ({args[0]})" if args and isinstance(args[0], str) else ""
        raise EngineError(f"the {self.name} engine {what}{about}: build images where there is Docker")

    return method


class SandboxEngine(Engine):
    """Opens boxes in sandboxes that ``start`` makes; safe to use from many threads."""

    has_containers = True
    builds_images = False
    needs_proof = True
    has_services = False
    """Whether programs can run beside a box, on a network with it."""

    def __init__(self) -> None:
        self._open: set[HttpBox] = set()
        self._aborted = False

    @abstractmethod
    def start(self, name: str, spec: BoxSpec) -> AbstractContextManager[BoxWire]:
        """Start a sandbox of an image, and yield how its agent or its server is asked; it is removed in every case."""

    def explain(self, name: str) -> BoxEnd | None:  # noqa: ARG002 - for engines that know
        """Return the limit that ended a sandbox which does not answer; None if it was none, or nobody knows."""
        return None

    @contextmanager
    def open(self, spec: BoxSpec) -> Iterator[Box]:
        asked = {"folders": spec.mounts, "cards": spec.cards, "services": spec.services and not self.has_services}
        if refused := [name for name, wanted in asked.items() if wanted]:
            raise NotOffered(f"the {self.name} engine gives a box no {refused[0]}")
        if self._aborted:
            raise RunStopped("the run was stopped")
        name = f"assay-{secrets.token_hex(10)}"
        with self.start(name, spec) as wire:
            box = HttpBox(wire, name, lambda: self.explain(name))
            self._open.add(box)
            try:
                box.create(spec)
                if self._aborted:
                    raise RunStopped("the run was stopped")
                yield box
            finally:
                self._open.discard(box)

    def abort(self) -> None:
        self._aborted = True  # first, so that no box opens between this and the last kill
        threads = [threading.Thread(target=_stop_quietly, args=(box,), daemon=True) for box in tuple(self._open)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(FIRST_PATIENCE)

    def choose_card_way(self, card: HostCard) -> str:
        raise EngineError(f"the {self.name} engine gives no cards ({card.card.name})")

    def layers(self, name: str) -> tuple[ImageLayer, ...]:  # noqa: ARG002 - the Protocol names it
        return ()

    def drop_build_cache(self) -> int:
        return 0

    pull = _refuse("pulls no images")
    remote_digest = _refuse("asks no registry")
    push = _refuse("pushes no images")
    tag = _refuse("names no images")
    save = _refuse("exports no images")
    load = _refuse("takes no images")
    import_image = _refuse("makes no images")
    build = _refuse("builds no images")
    remove_image = _refuse("removes no images")


def open_engine() -> "HttpEngine":
    """Find the server of boxes that ASSAY_BOX_URL names; raises EngineUnavailable."""
    address, token = os.environ.get(ADDRESS, ""), os.environ.get(SECRET, "")
    if not (address and token):
        raise EngineUnavailable(f"set {ADDRESS} to the address of a server of boxes, and {SECRET} to its token")
    return HttpEngine(address, token)


class HttpEngine(SandboxEngine):
    """A server of boxes, such as ``assay cluster boxes`` is for a machine with an engine."""

    name = "http"
    has_services = True  # its server refuses them if it has none

    def __init__(self, address: str, token: str) -> None:
        """Ask a server at ``http://HOST:PORT``, or at ``unix:PATH``, what it is; raises EngineUnavailable."""
        super().__init__()
        self._address, client = address, open_client(address)
        self._wire = BoxWire(client, token)
        try:
            self._hello = BoxWire(client, token, FIRST_PATIENCE).ask("GET", "").read_json()
            self.unenforced = frozenset(map(str, self._hello["unenforced"]))
        except (EngineError, KeyError, TypeError) as error:
            client.close()
            raise EngineUnavailable(f"no server of boxes answers at {address} ({error}); see {ADDRESS}") from error

    def close(self) -> None:
        """Close the connections; boxes that are open cannot be used any more."""
        self._wire.close()

    def describe(self) -> dict[str, str]:
        facts = self._hello.get("facts") or {}
        own = {"Boxes": str(self._hello.get("name", "")), "Address": self._address}
        return {**own, **{str(name): str(value) for name, value in facts.items()}}

    @contextmanager
    def start(self, name: str, spec: BoxSpec) -> Iterator[BoxWire]:  # noqa: ARG002 - the server is there already
        box = HttpBox(self._wire, name)
        try:
            yield self._wire
        except BaseException:
            with suppress(EngineError):
                box.remove()
            raise
        box.remove()

    def find_image(self, name: str) -> ImageInfo | None:
        with suppress(ImageMissing):
            return _read_image(self._wire.ask("GET", f"images/{quote_name(name)}").read_json())
        return None

    def list_images(self) -> list[ImageInfo]:
        return [_read_image(each) for each in self._wire.ask("GET", "images").read_json()]

    def load(self, archive: Iterable[bytes]) -> None:
        with tempfile.TemporaryFile() as file:
            file.writelines(archive)
            size = file.tell()
            file.seek(0)
            self._wire.send_file("images", iter(lambda: file.read(CHUNK), b""), size)

    def orphans(self) -> list[str]:
        return self._list_boxes(everything=False)

    def reap(self, *, everything: bool = False) -> list[str]:
        found = self._list_boxes(everything=everything)
        for name in found:
            with suppress(WireRefusal):  # somebody else was faster
                self._wire.ask("DELETE", f"boxes/{name}")
        return found

    def _list_boxes(self, *, everything: bool) -> list[str]:
        listed = self._wire.ask("GET", "boxes").read_json()
        return sorted(str(each["id"]) for each in listed if everything or is_orphan(each.get("labels") or {}))


def open_client(address: str, **options: Any) -> Any:
    """Return a client of a server at an address, without limits on connections at once."""
    import httpx

    timeout = httpx.Timeout(ANSWER_SECONDS, connect=10.0)
    pool = httpx.Limits(max_connections=None, max_keepalive_connections=64)
    if address.startswith("unix:"):
        transport = httpx.HTTPTransport(uds=address.removeprefix("unix:"), limits=pool)
        return httpx.Client(base_url="http://box", transport=transport, timeout=timeout, **options)
    return httpx.Client(base_url=address, limits=pool, timeout=timeout, **options)


def _read_image(found: Mapping[str, Any]) -> ImageInfo:
    labels = {str(name): str(value) for name, value in (found.get("labels") or {}).items()}
    created = str(found.get("created", ""))
    return ImageInfo(str(found["name"]), str(found.get("digest", "")), int(found.get("size", 0)), created, labels)


def _stop_quietly(box: HttpBox) -> None:
    with suppress(EngineError, RuntimeError):  # the client raises the second once the engine was closed meanwhile
        box.stop()


__all__ = ["HttpEngine", "SandboxEngine", "open_client", "open_engine", "pack_agent"]
