"""Objects of an image's repository, as layers have them."""

from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from assay.instances.leaks.facts import Hashes, KeptLayer, LayerFacts
from assay.instances.leaks.finding import AuditedImage
from assay.instances.leaks.repository import objects
from assay.instances.leaks.trees import TreeObjects, tree_objects, write_commit
from assay.instances.leaks.unpacked import object_id
from assay.instances.trees.content import FILE, TreeEntry

Objects = dict[str, tuple[str, bytes]]  # kind and content by id


def entry(mode: bytes, name: str, found: str) -> bytes:
    return mode + b" " + name.encode() + b"\0" + bytes.fromhex(found)


def store(text: bytes, deep: bytes) -> Objects:
    """Return what git makes of ``a.txt`` and ``lib/b.txt``."""
    made: Objects = {}

    def add(kind: str, data: bytes) -> str:
        made[name := object_id(kind.encode(), data)] = (kind, data)
        return name

    lib = add("tree", entry(b"100644", "b.txt", add("blob", deep)))
    top = add("tree", entry(b"100644", "a.txt", add("blob", text)) + entry(b"40000", "lib", lib))
    add("commit", write_commit(top))
    return made


@pytest.mark.parametrize(("text", "is_fault"), [(b"two\n", False), (b"three\n", True)])
def test_a_folder_with_other_line_ends_is_known_from_the_layer_below(text: bytes, is_fault: bool) -> None:
    def tree(text: bytes) -> TreeObjects:
        return tree_objects([TreeEntry("a.txt", FILE, text), TreeEntry("lib/b.txt", FILE, b"deep\r\n")])

    below, above = store(b"one\n", b"deep\n"), store(text, b"deep\n")
    layers = [below, {name: found for name, found in above.items() if name not in below}]
    base, ancestor = tree(b"two\n"), tree(b"one\n")
    trees = SimpleNamespace(objects=lambda _: ancestor, strangers=lambda *_: [], later_objects=lambda *_: None)
    allowed = base.ids | ancestor.ids
    answer = SimpleNamespace(base=base, ref=None, below=(None,), trees=trees, list_allowed=lambda: allowed)

    def path(name: str) -> str:
        return f"testbed/.git/objects/{name[:2]}/{name[2:]}"

    def read(number: int) -> Iterator[tuple[str, bytes]]:
        return ((f"{path(name)}!{kind}", data) for name, (kind, data) in layers[number].items())

    facts = [LayerFacts(files=dict.fromkeys(map(path, layer), "")) for layer in layers]
    kept = tuple(KeptLayer(str(number), each, Hashes(), Hashes()) for number, each in enumerate(facts))
    config = SimpleNamespace(workdir="/testbed")
    image = AuditedImage("toy", config, kept, {}, read, strict=False)  # type: ignore[arg-type]
    assert bool([*objects(image, answer)]) is is_fault  # type: ignore[arg-type]
