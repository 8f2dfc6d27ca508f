import ast

from assay.harness.patchdiff.generators.properties import draw

SEEN = [(1, "a b", [1, 2], None), (2, "c", [], {"k": 1.5})]


def test_the_same_seed_draws_the_same_and_another_others() -> None:
    assert draw(SEEN, 30, 1) == draw(SEEN, 30, 1) != draw(SEEN, 30, 2)


def test_draws_are_literals_of_the_kinds_that_were_seen() -> None:
    drawn = draw(SEEN, 60, 0)
    assert 10 < len(drawn) == len(set(drawn)) <= 60
    for text in drawn:
        (number, word, items, last), keywords = ast.literal_eval(text)
        assert (type(number), type(word), type(items), keywords) == (int, str, list, {})
        assert last is None or isinstance(last, dict)
    assert len({ast.literal_eval(text)[0][0] for text in drawn}) > 2, "more than what was seen"
