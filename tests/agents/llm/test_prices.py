from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.llm.chat import TokenUsage
from assay.agents.llm.prices import Price, Prices, load_prices
from assay.harness.errors import DataError, UserError


def test_cost_of_fresh_cached_and_answer_tokens() -> None:
    price = Price(input=2.0, cached=0.5, output=8.0)
    usage = TokenUsage(prompt_tokens=1_000_000, cached_tokens=400_000, completion_tokens=250_000)
    assert price.cost(usage) == pytest.approx(0.6 * 2.0 + 0.4 * 0.5 + 0.25 * 8.0)
    assert Price(input=2.0, output=8.0).cost(usage) == pytest.approx(2.0 + 2.0)


@pytest.mark.parametrize("name", ["toy", "toy-2026-01-31", "toy-20260131", "acme/toy", "acme/v/toy-2026-01-31"])
def test_model_is_found_without_its_provider_and_date(name: str) -> None:
    price = Price(input=1, output=2)
    assert Prices(models={"toy": price}).find(name) is price


def test_longer_name_takes_precedence() -> None:
    table = Prices(models={"toy": Price(input=1, output=1), "acme/toy": Price(input=9, output=9)})
    assert table.cost("acme/toy-2026-01-31", TokenUsage(prompt_tokens=1_000_000)) == 9
    assert table.cost("other/toy", TokenUsage(prompt_tokens=1_000_000)) == 1


@pytest.mark.parametrize("name", ["", "to", "toy-mini", "toy/x", "toy-2026"])
def test_other_model_has_no_price(name: str) -> None:
    assert Prices(models={"toy": Price(input=1, output=1)}).cost(name, TokenUsage(prompt_tokens=1)) is None


def test_user_file_overrides_the_bundled_prices(tmp_path: Path) -> None:
    usual = load_prices()
    assert usual.find("gpt-4o-mini-2024-07-18") == Price(input=0.15, cached=0.075, output=0.6)
    mine = tmp_path / "prices.yaml"
    mine.write_text("models:\n  gpt-4o-mini: {input: 1, output: 2}\n  local: {input: 0, output: 0}\n")
    table = load_prices(mine)
    assert table.find("gpt-4o-mini") == Price(input=1, output=2)
    assert table.cost("local", TokenUsage(prompt_tokens=5)) == 0
    assert table.find("gpt-4o") == usual.find("gpt-4o")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("models: {x: {input: -1, output: 1}}", r"mine\.yaml: field models\.x\.input"),
        ("models: {x: {input: 1}}", r"field models\.x\.output"),
        ("prices: {}", "field prices: is unknown; .*; write 'models:' and below it lines such as 'my-model: {input"),
        ("models: [", "is not YAML"),
        ("- 1", r"mine\.yaml"),
    ],
)
def test_wrong_file_raises_with_the_field(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(DataError, match=problem):
        load_prices(file)


def test_missing_file_raises(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        load_prices(tmp_path / "none.yaml")


counts = st.integers(0, 10**7)


@given(counts, counts, counts)
def test_cached_tokens_never_cost_more(prompt: int, cached: int, answer: int) -> None:
    usage = TokenUsage(prompt_tokens=prompt, cached_tokens=cached, completion_tokens=answer)
    full = usage.model_copy(update={"cached_tokens": 0})
    price = Price(input=2, cached=0.5, output=8)
    assert 0 <= price.cost(usage) <= price.cost(full) + 1e-9


def test_limit_in_money_needs_a_price() -> None:
    prices = Prices(models={"toy": Price(input=1, output=2)})
    prices.check("toy-2026-01-31", ["--cost"])
    prices.check("my/own", [])
    with pytest.raises(UserError) as caught:
        prices.check("my/own", ["--cost", "--total-cost"])
    assert str(caught.value) == (
        "the price of my/own is not known, so --cost and --total-cost would limit nothing; give --prices FILE with a "
        """line such as 'models: {"my/own": {input: 0.5, output: 1.5}}' (US dollars per million tokens), """
        "or limit --tokens"
    )


def test_line_that_the_error_shows_is_a_price_file(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        Prices().check("my/own:7b", ["--cost"])
    mine = tmp_path / "prices.yaml"
    mine.write_text(str(caught.value).split("'")[1])
    assert load_prices(mine).find("my/own:7b") == Price(input=0.5, output=1.5)
