"""Prices: dated, in one currency, with the user's own on top; unknown is unknown."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.models import ChatModel, PriceList, Scripted, make_model


def hosted(model: str) -> ChatModel:
    return make_model("openai", url="https://api.example/v1", model=model, name="juror")


def test_the_shipped_list_is_dated_and_whole() -> None:
    prices = PriceList.shipped()
    assert date.fromisoformat(prices.as_of) and prices.currency == "USD"
    assert len(prices.prices) > 20
    for name, price in prices.prices.items():
        assert 0 < price.input < price.output, name
        assert price.cached_input is None or price.cached_input < price.input, name
        assert prices.sources[name]


def test_a_dated_version_has_its_models_price() -> None:
    prices = PriceList.shipped()
    assert prices.price(hosted("gpt-4o-2024-08-06")) == prices.prices["gpt-4o"]
    assert prices.price(hosted("claude-sonnet-4-20250514")) == prices.prices["claude-sonnet-4"]
    assert prices.price(hosted("gpt-4o-mini")) == prices.prices["gpt-4o-mini"] != prices.prices["gpt-4o"]


def test_an_unknown_price_is_none_and_a_model_in_this_process_is_free() -> None:
    prices = PriceList.shipped()
    assert prices.estimate(hosted("home-made"), 1000, 1000) is None
    assert prices.estimate(Scripted("x"), 1000, 1000) == 0.0


def test_a_jurors_own_price_goes_first() -> None:
    model = hosted("gpt-4o")
    prices = PriceList.shipped().with_price(model, input=1.0, output=2.0)
    assert prices.estimate(model, 1_000_000, 1_000_000) == 3.0
    assert PriceList.shipped().estimate(model, 1_000_000, 1_000_000) == 12.5


def test_cached_input_costs_its_own_price_or_the_full_one() -> None:
    model = hosted("m")
    dear = PriceList.shipped().with_price(model, input=10.0, output=0.0).price(model)
    cheap = PriceList.shipped().with_price(model, input=10.0, output=0.0, cached_input=1.0).price(model)
    assert dear and cheap
    assert dear.of(1_000_000, 0, 500_000) == 10.0
    assert cheap.of(1_000_000, 0, 500_000) == 5.5
    assert cheap.of(1_000_000, 0, 9_000_000) == 1.0, "no more tokens can be cached than were sent"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "models: {}",
        "as_of: 2026-01-01\ncurrency: EUR\nmodels: {m: {input: -1, output: 2}}",
        "a: [",
        "models: 5",
    ],
)
def test_a_list_that_is_not_one_is_refused_with_its_form(text: str, tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(text)
    with pytest.raises(MedjuryError, match=r"prices\.yaml(: not a price list|, line 1: not valid YAML)"):
        PriceList.read(file)
    with pytest.raises(MedjuryError, match="cannot be read"):
        PriceList.read(tmp_path / "absent.yaml")
