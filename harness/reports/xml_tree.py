"""Read XML from untrusted text in little time and memory: the elements and attributes that count, without their text.

A document is refused whole if it declares a document type (entities can expand without bound, and runners need none) or
is larger in any way than a runner's: deeper, with more elements, or with a longer tag.
"""

import xml.etree.ElementTree as ET
from codecs import getincrementaldecoder
from collections.abc import Collection, Iterator
from xml.parsers import expat

DEPTH = 200
TAGS = 1_500_000
KEPT = 300_000  # elements of the tree
TAG_BYTES = 2 * 1024 * 1024
VALUE_CHARACTERS = 4096  # longest value of an attribute; longer ones are cut
_SLICE = 256 * 1024


class _RefusedError(Exception):
    """The document is not read any further."""


def read_tree(text: str | bytes, tags: Collection[str] = (), attributes: Collection[str] = ()) -> ET.Element | None:
    """Return the root of a document, without any text.

    Args:
        text: the document, or its bytes in UTF-8; a wrong byte is one wrong character.
        tags: elements below the root that are kept, inside of kept ones; all of them if empty.
        attributes: the ones that are kept; all of them if empty.

    Returns:
        None for text that is no XML document or that is refused.
    """
    builder = _Builder(tags, attributes)
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler, parser.EndElementHandler = builder.start, builder.end
    parser.StartDoctypeDeclHandler = builder.refuse
    parser.buffer_text = True
    size = 0
    try:
        for part in _parts(text):
            size += len(part)
            parser.Parse(part, False)
            if size - parser.CurrentByteIndex > TAG_BYTES:
                return None
        parser.Parse(b"", True)
    except (expat.ExpatError, _RefusedError):
        return None
    return builder.root


def _parts(text: str | bytes) -> Iterator[bytes]:
    """Yield a document piece by piece, in correct UTF-8."""
    decode = getincrementaldecoder("utf-8")(errors="replace").decode
    for start in range(0, len(text), _SLICE):
        part = text[start : start + _SLICE]
        yield (part if isinstance(part, str) else decode(part)).encode(errors="replace")


class _Builder:
    """Makes the tree while the parser reads."""

    def __init__(self, tags: Collection[str], attributes: Collection[str]) -> None:
        self.root: ET.Element | None = None
        self._tags = frozenset(tags)
        self._attributes = frozenset(attributes)
        self._open: list[ET.Element] = []
        self._skipped = 0
        """Open elements that are not kept."""
        self._count = self._kept = 0
        self._values: dict[str, str] = {}

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > TAGS or len(self._open) + self._skipped >= DEPTH:
            raise _RefusedError
        if self._skipped or (self._tags and self._open and tag not in self._tags):
            self._skipped += 1
            return
        self._kept += 1
        if self._kept > KEPT:
            raise _RefusedError
        element = ET.Element(tag, self._select(attributes))
        if self._open:
            self._open[-1].append(element)
        else:
            self.root = element
        self._open.append(element)

    def end(self, _tag: str) -> None:
        if self._skipped:
            self._skipped -= 1
        else:
            self._open.pop()

    def refuse(self, *_: object) -> None:
        raise _RefusedError

    def _select(self, attributes: dict[str, str]) -> dict[str, str]:
        kept = attributes.items()
        return {
            name: self._values.setdefault(value, value) if len(value) < VALUE_CHARACTERS else value[:VALUE_CHARACTERS]
            for name, value in kept
            if not self._attributes or name in self._attributes
        }
