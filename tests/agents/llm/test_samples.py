from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from assay.agents.llm.samples import Samples
from played_endpoint import make_request


def numbers(samples: Samples, request: Any, wanted: int = 1) -> list[int]:
    with samples.next(request, wanted) as requests:
        assert [each.messages for each in requests] == [request.messages] * wanted
        return [each.sample for each in requests]


def test_each_question_has_its_own_numbers() -> None:
    samples = Samples()
    assert [numbers(samples, make_request(text)) for text in "aaba"] == [[0], [1], [0], [2]]
    assert numbers(samples, make_request("a"), 3) == [3, 4, 5]


def test_number_without_an_answer_is_reused() -> None:
    samples = Samples()
    with samples.next(make_request(), 2) as first:
        with pytest.raises(KeyError), samples.next(make_request()):
            raise KeyError
        assert [each.sample for each in first] == [0, 1]
    assert numbers(samples, make_request(), 2) == [2, 3]


def test_threads_get_distinct_numbers() -> None:
    samples = Samples()
    with ThreadPoolExecutor(8) as pool:
        given = list(pool.map(lambda _: numbers(samples, make_request())[0], range(100)))
    assert sorted(given) == list(range(100))
