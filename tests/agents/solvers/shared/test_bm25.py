"""Ranking of texts against values computed by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.solvers.shared.bm25 import rank, scores, words

TEXTS = st.dictionaries(st.text("abc", min_size=1), st.text("abcXY_ \n"), max_size=6)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("snake_case_name", ["snake", "case", "name"]),
        ("camelCase, PascalCase", ["camel", "case", "pascal", "case"]),
        ("parseHTTPHeader_v2", ["parse", "http", "header", "v", "2"]),
        ("a.b->c(): größe", ["a", "b", "c", "größe"]),
        ("__init__ 404", ["init", "404"]),
        ("", []),
    ],
)
def test_identifiers_are_split_into_words(text: str, expected: list[str]) -> None:
    assert list(words(text)) == expected


def test_scores_match_the_formula() -> None:
    """Two documents of 4 and 2 words with their names, 3 on average; k1 = 1.2, b = 0.75.

    ``red`` is in one of two: idf = ln(1 + 1.5 / 1.5) = ln 2. ``cat`` is in both: idf = ln(1 + 0.5 / 2.5) = ln 1.2.
    x = {x, red, red, cat}: norm = 1.2 * (0.25 + 0.75 * 4 / 3) = 1.5; red: ln 2 * 2 * 2.2 / 3.5, cat: ln 1.2 *
    2.2 / 2.5. y = {y, cat}: norm = 1.2 * (0.25 + 0.75 * 2 / 3) = 0.9; cat: ln 1.2 * 2.2 / 1.9.
    """
    found = scores("red cat", {"x": "red red cat", "y": "cat"})
    assert found["x"] == pytest.approx(math.log(2) * 4.4 / 3.5 + math.log(1.2) * 2.2 / 2.5)
    assert found["y"] == pytest.approx(math.log(1.2) * 2.2 / 1.9)


def test_rank_puts_the_best_first_and_leaves_out_documents_without_a_shared_word() -> None:
    documents = {
        "src/colour.py": "def mix(): pass",
        "src/http_client.py": "class Retry: limit = 3",
        "src/retry_policy.py": "def retry_after(header): return retry_after_header(header)",
        "src/other.py": "nothing = 0",
    }
    assert rank("Retry-After header is ignored", documents, 5) == ["src/retry_policy.py", "src/http_client.py"]
    assert rank("Retry-After header is ignored", documents, 1) == ["src/retry_policy.py"]


def test_rank_counts_repeated_words_and_keeps_the_order_of_equal_scores() -> None:
    documents = {"x": "red", "y": "cat"}
    assert rank("cat red red", documents, 2) == ["x", "y"]
    assert rank("cat cat red", documents, 2) == ["y", "x"]
    assert rank("red", {"z": "red", "a": "red"}, 2) == ["z", "a"]


@given(st.text("abcXY_ "), TEXTS, st.integers(0, 8))
def test_shorter_ranking_is_a_prefix_of_the_longer_one(query: str, documents: dict[str, str], top: int) -> None:
    everything = rank(query, documents, len(documents))
    assert rank(query, documents, top) == everything[:top]
    asked = set(words(query))
    assert set(everything) == {name for name in documents if asked & set(words(f"{name} {documents[name]}"))}
