"""An engine without containers: acts out the results of each instance's tests; for tests and plug-in authors.

The gold patch makes every expected test pass; any other patch leaves the fail-to-pass tests failing. Where patches of
tests are judged, the expected tests are the ones it adds. ``fault`` lets a test break any call, ``flaky`` sets what
single tests do from one evaluation to the next.
"""

import io
import json
import os
import re
import tarfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from assay.harness.domain import Instance
from assay.harness.engines.base import (
    JUDGED_LABEL,
    ActingEngine,
    Box,
    BoxEnd,
    BoxSpec,
    ExecResult,
    ImageInfo,
    ImageLayer,
)
from assay.harness.engines.cards import HostCard
from assay.harness.errors import ImageMissing

Fault = Callable[[str, str], None]
"""Called with the name of the call and the image before each call; raises to make it fail."""

MOST = 1000  # instances that an engine remembers; it forgets the oldest first
PATCH, TESTS, SUPERVISE = "model.patch", "tests.patch", "supervise.sh"
ADDED_TEST = re.compile(r"^\+\s*def (test_\w+)", re.MULTILINE)
"""A test of Python that a test patch adds; it is acted out where tests are judged (``JUDGED_LABEL``)."""
TEST_SCRIPTS = ("/test.sh", "/supervise.sh")


def open_engine() -> "FakeEngine":
    """Return an engine that learns its instances; ASSAY_FAKE_SECONDS is how long each test command takes."""
    return FakeEngine({}, seconds=float(os.environ.get("ASSAY_FAKE_SECONDS", "0")))


def image_name(instance: Instance) -> str:
    return f"fake/{instance.id.lower()}:1"


@dataclass(frozen=True, slots=True)
class FakeImage:
    info: ImageInfo
    layers: tuple[ImageLayer, ...] = ()


@dataclass
class FakeEngine(ActingEngine):
    """Acts out instances; ``opened`` counts boxes, ``seconds`` is how long a test command takes."""

    has_containers = False

    instances: dict[str, Instance]
    """Name of an image to the instance that is acted out in it."""
    fault: Fault = lambda _call, _image: None
    seconds: float = 0.0
    flaky: Mapping[str, Sequence[bool]] = field(default_factory=dict)
    """Tests that no patch changes: whether each passes in an image's first box, second box, and so on."""
    stock: dict[str, "FakeImage"] = field(default_factory=dict)
    """Images that are not acted out, by name: for tests of what is built, moved and removed."""
    registry: dict[str, "FakeImage"] = field(default_factory=dict)
    """Images in every registry, by name."""
    name: str = "fake"
    opened: int = 0
    given: list[tuple[str, ...]] = field(default_factory=list)
    """Names of the cards of each box that had any."""
    alive: set[int] = field(default_factory=set)
    _stop: threading.Event = field(default_factory=threading.Event)
    _ends: set[threading.Event] = field(default_factory=set)
    """One of each open box."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _boxes: Counter[str] = field(default_factory=Counter)

    def act_out(self, instance: Instance) -> str:
        name = image_name(instance)
        with self._lock:
            self.instances[name] = instance
            while len(self.instances) > MOST:
                del self.instances[next(iter(self.instances))]
        return name

    def describe(self) -> dict[str, str]:
        return {"engine": "fake"}

    def choose_card_way(self, card: HostCard) -> str:
        return "acted out"

    @contextmanager
    def open(self, spec: BoxSpec) -> Iterator[Box]:
        image = spec.image
        self.fault("open", image)
        if image not in self.instances:
            raise ImageMissing(f"the fake engine has no image {image}")
        with self._lock:
            self.opened += 1
            number = self.opened
            self.alive.add(number)
            if spec.cards:
                self.given.append(tuple(each.card.name for each in spec.cards))
            turn = self._boxes[image]
            self._boxes[image] += 1
        box = FakeBox(self, image, self.instances[image], turn, judges_tests=JUDGED_LABEL in spec.labels)
        self._ends.add(box.ended)
        try:
            if spec.archive:
                box.put(spec.archive)
            yield box
        finally:
            self.alive.discard(number)
            self._ends.discard(box.ended)
            self.fault("remove", image)

    def wait(self, ended: threading.Event) -> bool:
        """Let a test command's time pass; return whether it was aborted, or its box ended."""
        if self.seconds and not self._stop.is_set():
            ended.wait(self.seconds)
        return self._stop.is_set() or ended.is_set()

    def abort(self) -> None:
        """End every test command; boxes still open."""
        self._stop.set()
        for ended in tuple(self._ends):
            ended.set()

    def find_image(self, name: str) -> ImageInfo | None:
        self.fault("find_image", name)
        if name in self.stock:
            return self.stock[name].info
        return ImageInfo(name, f"sha256:{name}") if name in self.instances else None

    def list_images(self) -> list[ImageInfo]:
        acted = [ImageInfo(name, f"sha256:{name}") for name in self.instances]
        return sorted([*acted, *(image.info for image in self.stock.values())], key=lambda info: info.name)

    def layers(self, name: str) -> tuple[ImageLayer, ...]:
        return self.stock[name].layers if name in self.stock else ()

    def pull(self, name: str) -> ImageInfo:
        self.fault("pull", name)
        if name not in self.registry:
            raise ImageMissing(f"image {name} is not here, and no registry of the fake engine has it")
        self.stock[name] = self.registry[name]
        return self.stock[name].info

    def remote_digest(self, name: str) -> str:
        self.fault("remote_digest", name)
        if name not in self.registry:
            raise ImageMissing(f"no registry of the fake engine has {name}")
        return self.registry[name].info.digest

    def push(self, name: str) -> None:
        self.fault("push", name)
        self.registry[name] = self._image(name)

    def tag(self, name: str, other: str) -> None:
        image = self._image(name)
        self.stock[other] = replace(image, info=replace(image.info, name=other))

    @contextmanager
    def save(self, names: Sequence[str]) -> Iterator[Iterator[bytes]]:
        yield iter([json.dumps([self._image(name).info.name for name in names]).encode()])

    def load(self, archive: Iterable[bytes]) -> None:
        for name in json.loads(b"".join(archive)):
            self.stock[name] = FakeImage(ImageInfo(name, f"sha256:{name}"))

    def import_image(self, name: str, tar: Path, labels: Mapping[str, str]) -> None:
        size = tar.stat().st_size
        self.stock[name] = FakeImage(ImageInfo(name, f"sha256:{name}", size, "", labels), (ImageLayer(name, size),))

    def build(
        self, name: str, context: Path, log: Path, *, secrets: Mapping[str, Path], labels: Mapping[str, str]
    ) -> None:
        """Put a layer as large as the context on the layers of the image that the Dockerfile names last."""
        self.fault("build", name)
        parent = ""
        for line in (context / "Dockerfile").read_text(encoding="utf-8").splitlines():
            parent = line.split()[1] if line.startswith("FROM ") else parent
        size = sum(file.stat().st_size for file in context.rglob("*") if file.is_file())
        layers = (*self.layers(parent), ImageLayer(name, size))
        info = ImageInfo(name, f"sha256:{name}", sum(layer.size for layer in layers), "", labels)
        self.stock[name] = FakeImage(info, layers)

    def remove_image(self, name: str) -> None:
        self.fault("remove_image", name)
        self.stock.pop(name, None)

    def drop_build_cache(self) -> int:
        self.fault("drop_build_cache", "")
        return 0

    def _image(self, name: str) -> FakeImage:
        if name not in self.stock:
            raise ImageMissing(f"image {name} is not here")
        return self.stock[name]

    def orphans(self) -> list[str]:
        return []

    def reap(self, *, everything: bool = False) -> list[str]:
        return []


class FakeBox(Box):
    create_seconds = 0.0
    deliver_seconds = 0.0
    start_seconds = 0.0

    def __init__(
        self, engine: FakeEngine, image: str, instance: Instance, turn: int = 0, *, judges_tests: bool = False
    ) -> None:
        self._turn = turn
        self._engine = engine
        self._image = image
        self._instance = instance
        self._judges_tests = judges_tests
        self._files: dict[str, bytes] = {}
        self.ended = threading.Event()

    def exec(self, command: Sequence[str], **_options: Any) -> ExecResult:
        """Act out a command: the test script prints the results, anything else succeeds without output."""
        self._engine.fault("exec", self._image)
        began = time.monotonic()
        if not any(word.endswith(TEST_SCRIPTS) for word in command[1:2]):
            return ExecResult(0, b"", 0.0)
        if self._engine.wait(self.ended):
            return ExecResult(137, b"", time.monotonic() - began)
        if self._is_timed:
            return ExecResult(0, b"", time.monotonic() - began)
        results = self._results()
        output = "".join(f"{'PASSED' if passed else 'FAILED'} {test}\n" for test, passed in results.items())
        code = 0 if all(results.values()) else 1
        return ExecResult(code, output.encode(), time.monotonic() - began)

    def put(self, archive: bytes, to: str = "/") -> None:
        self._engine.fault("put", self._image)
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as tar:
            for member in tar:
                name = member.name.rpartition("/")[2]
                content = tar.extractfile(member) if name in {PATCH, TESTS, SUPERVISE} else None
                if content:
                    self._files[name] = content.read()

    def get(self, path: str, max_bytes: int) -> dict[str, bytes]:
        """Return the report of the acted-out tests, in the ``status_json`` format."""
        self._engine.fault("get", self._image)
        if self._is_timed:
            return {"report": self._marks()}
        statuses = {test: "passed" if passed else "failed" for test, passed in self._results().items()}
        return {"report.json": json.dumps(statuses).encode()}

    def end(self) -> BoxEnd:
        self._engine.fault("end", self._image)
        self.ended.set()
        return BoxEnd()

    @property
    def _is_timed(self) -> bool:
        """Whether the box runs a workload that root takes the time of."""
        return b"EPOCHREALTIME" in self._files.get(SUPERVISE, b"")

    def _marks(self) -> bytes:
        """Return the marks of workloads, which take half the time with the gold patch."""
        each = 1.0 if self._is_fixed else 2.0
        starts = [0.5 + number * each for number in range(1 + len(self._instance.other_workloads))]
        timed, end = "".join(f"{start} timed\n{start + each} done\n" for start in starts), starts[-1] + each
        return f'0.0 began\n{timed}{end} results {{"returned": "1"}}\n{end} ended\n'.encode()

    @property
    def _is_fixed(self) -> bool:
        return self._files.get(PATCH, b"").decode().strip() == self._instance.gold_patch.strip()

    def _results(self) -> dict[str, bool]:
        fixed = self._is_fixed
        results = dict.fromkeys(self._instance.pass_to_pass, True)
        judged = self._instance.fail_to_pass
        if self._judges_tests:
            judged = tuple(ADDED_TEST.findall(self._files.get(TESTS, b"").decode()))
        results |= dict.fromkeys(judged, fixed)
        flaky = self._engine.flaky
        return {
            test: flaky[test][self._turn % len(flaky[test])] if test in flaky else passed
            for test, passed in results.items()
        }
