"""Reads what images hold: Debian packages, the language's packages and the commit, in a container of each."""

from assay.harness.engines.base import LABEL, BoxSpec, Engine
from assay.harness.engines.tars import pack_tar
from assay.harness.errors import EnvironmentFailure
from assay.instances.environments.images_lock import Layer, Lock
from assay.instances.toolchains.buildfiles import build_text, find_text

SECONDS = 300.0
BYTES = 64 * 1024 * 1024  # most that the lists of one image may take


def find_language(layer: Layer, lock: Lock) -> str:
    """Return the language whose packages an image holds; empty for a toolchain and for an image that is not Assay's."""
    own = layer.labels.get(f"{LABEL}.language", "") if layer.dockerfile else ""
    parent = lock.layers.get(layer.parent)
    return own or (find_language(parent, lock) if parent and layer.dockerfile else "")


def read_contents(engine: Engine, image: str, language: str) -> dict[str, str]:
    """List the content of an image and its packages, if known: name to text of each list. Raises EnvironmentFailure."""
    listing = find_text("contents.sh", language) if language else ""
    scripts = {"contents.sh": build_text("contents.sh"), "language.sh": listing}
    delivery = pack_tar({f"build/{name}": text for name, text in scripts.items()}, ["build"])
    with engine.open(BoxSpec(image, labels={f"{LABEL}.kind": "lock"})) as box:
        box.put(delivery)
        done = box.exec(["sh", "/build/contents.sh"], seconds=SECONDS)
        files = box.get("/tmp/contents", BYTES)
    if done.exit_code != 0:
        said = done.output.decode(errors="replace").strip()
        problem = f"took more than {SECONDS:.0f} s" if done.timed_out else (said or "no message").splitlines()[-1]
        raise EnvironmentFailure(f"what {image} holds cannot be listed: {problem}", tail=said)
    return {name: content.decode(errors="replace") for name, content in sorted(files.items())}
