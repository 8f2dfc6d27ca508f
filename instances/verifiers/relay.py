"""The relay: a program in a task's container that answers downloads. Compiled once, for any Linux."""

from collections.abc import Callable, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path

from assay.harness.domain import Limits, Recipe
from assay.harness.engines.base import BoxSpec, Engine
from assay.harness.engines.tars import pack_tar
from assay.harness.errors import EnvironmentFailure
from assay.harness.files import hold_lock, replace_file
from assay.instances.toolchains.ensure import ensure
from assay.instances.toolchains.images import UserImages, find_toolchain
from assay.instances.toolchains.make import make_toolchain

SOURCE = Path(__file__).with_name("relay.go")
BUILD = (
    "cd /relay && GOCACHE=/tmp/go GO111MODULE=off CGO_ENABLED=0 GOPROXY=off "
    "go build -trimpath -ldflags '-s -w' -o relay relay.go"
)
LIMITS = Limits(seconds=900, cpus=2)
LARGEST = 64 * 1024 * 1024


def build_relay(engine: Engine, images: UserImages, cache: Path, note: Callable[[str], None]) -> bytes:
    """Return the program, compiled in Assay's own image for Go; raises EnvironmentFailure."""
    source = SOURCE.read_bytes()
    wanted = find_toolchain(Recipe(language="go"), images, engine)
    kept = cache / "relay" / sha256(source + wanted.identity.encode()).hexdigest()[:32]
    with hold_lock(kept.with_suffix(".lock")):
        if not kept.is_file():
            if wanted.is_made:
                ensure(wanted.name, engine, cache, partial(make_toolchain, wanted, engine), note)
            note("building the relay that answers downloads")
            with engine.open(BoxSpec(wanted.name, LIMITS, archive=pack_tar({"relay/relay.go": source}))) as box:
                ran = box.exec(["bash", "-lc", BUILD], seconds=LIMITS.seconds)
                files = box.get("/relay/relay", LARGEST)
            if ran.exit_code or not files:
                tail = ran.output.decode(errors="replace")
                raise EnvironmentFailure(f"the relay of downloads could not be compiled: {tail[-400:]}", tail=tail)
            replace_file(kept, files["relay"])
            note("built the relay")
    return kept.read_bytes()


def make_options(options: Mapping[str, str]) -> list[str]:
    """Write options of the relay as words; those without a value are left out."""
    return [f"-{name}={value}" for name, value in options.items() if value]
