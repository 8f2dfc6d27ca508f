"""Rank texts by a query: Okapi BM25 over the words of identifiers. Pure.

Weighting: Robertson and Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond*, 2009, with the inverse
document frequency of Lucene, which is never negative.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache

K1 = 1.2  # saturation of term frequency; the authors recommend 1.2 to 2
B = 0.75  # penalty for long texts, from 0 (none) to 1; the authors recommend 0.5 to 0.8

_RUN = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\d])(?=\d)|(?<=\d)(?=[^\d])")


def words(text: str) -> Iterator[str]:
    """Yield the words of a text in lower case; identifiers are split at underscores, case changes and digits.

    ``parseHTTPHeader_v2`` gives ``parse``, ``http``, ``header``, ``v``, ``2``.
    """
    for match in _RUN.finditer(text):
        yield from _parts(match[0])


@lru_cache(maxsize=65_536)
def _parts(run: str) -> tuple[str, ...]:
    return tuple(part.lower() for part in _HUMP.split(run))


def rank(query: str, documents: Mapping[str, str], top: int) -> list[str]:
    """Return the names of the best documents for a query, best first; documents that share no word are left out.

    Repeated words of the query count repeatedly; the words of a document's name count as text. Equal scores keep their
    order.
    """
    weighed = scores(query, documents)
    return sorted(weighed, key=lambda name: -weighed[name])[:top]


def scores(query: str, documents: Mapping[str, str]) -> dict[str, float]:
    """Return the score of each document that shares a word with the query; arguments as for ``rank``."""
    wanted = Counter(words(query))
    counts = {name: _count_words(f"{name}\n{text}") for name, text in documents.items()}
    lengths = {name: count.total() for name, count in counts.items()}
    mean = sum(lengths.values()) / max(len(lengths), 1)
    found = {name: {word: count[word] for word in wanted.keys() & count.keys()} for name, count in counts.items()}
    holding = Counter(word for shared in found.values() for word in shared)
    weights = {  # the inverse document frequencies
        word: math.log(1 + (len(documents) - count + 0.5) / (count + 0.5)) for word, count in holding.items()
    }
    return {
        name: sum(
            wanted[word] * weights[word] * often * (K1 + 1) / (often + K1 * (1 - B + B * lengths[name] / mean))
            for word, often in sorted(shared.items())  # a sum of floats depends on its order
        )
        for name, shared in found.items()
        if shared
    }


def _count_words(text: str) -> Counter[str]:
    """Equal identifiers are split only once."""
    counts: Counter[str] = Counter()
    for run, often in Counter(_RUN.findall(text)).items():
        for part in _parts(run):
            counts[part] += often
    return counts
