"""What calls cost: a dated price list that ships with the package, and the user's own prices on top."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from medjury.foundation.documents import parse_document
from medjury.foundation.errors import MedjuryError
from medjury.models._chat import ChatModel, Reply

_MILLION = 1_000_000
_IN_PROCESS = ("embedded", "scripted")
_VERSION = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|latest)$")


@dataclass(frozen=True, slots=True)
class Price:
    """Money per million tokens. Tokens served from the provider's prompt cache may be cheaper, tokens written to it
    dearer. `batch` is the share of the price that a call in a batch job costs."""

    input: float
    output: float
    cached_input: float | None = None
    cache_write: float | None = None
    batch: float | None = None

    def of(self, tokens_in: int, tokens_out: int, tokens_cached: int = 0, tokens_written: int = 0) -> float:
        """The price of a call; `tokens_cached` and `tokens_written` are among `tokens_in`.

        >>> Price(2.0, 8.0, 0.5).of(1_000_000, 500_000, 200_000)
        5.7
        >>> Price(2.0, 8.0, 0.5, 2.5).of(1_000_000, 0, 200_000, 400_000)
        1.9
        """
        cached = min(tokens_cached, tokens_in) if self.cached_input is not None else 0
        written = min(tokens_written, tokens_in - cached) if self.cache_write is not None else 0
        money = (
            (tokens_in - cached - written) * self.input
            + tokens_out * self.output
            + cached * (self.cached_input or 0.0)
            + written * (self.cache_write or 0.0)
        )
        return money / _MILLION

    @property
    def dearest(self) -> Price:
        """The same without hope for the cache: every token of a prompt at the most that it can cost."""
        return replace(
            self, input=max(self.input, self.cache_write or 0.0), cached_input=None, cache_write=None
        )

    @property
    def in_batch(self) -> Price:
        """What the same costs in a batch job; the full price where no other is known."""
        share = 1.0 if self.batch is None else self.batch
        cached, written = (
            None if each is None else share * each for each in (self.cached_input, self.cache_write)
        )
        return Price(share * self.input, share * self.output, cached, written, self.batch)


@dataclass(frozen=True)
class PriceList:
    """Prices by model id, all in one currency, as of one day. A juror's own price goes before the list."""

    as_of: str
    currency: str
    prices: Mapping[str, Price]
    sources: Mapping[str, str]
    by_juror: Mapping[str, Price]

    @classmethod
    def shipped(cls) -> PriceList:
        """The list that ships with the package."""
        return _shipped()

    @classmethod
    def read(cls, path: str | Path) -> PriceList:
        """A list of the user's own, in the form of the shipped one."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise MedjuryError(f"{path}: the price list cannot be read ({error})") from None
        return cls._load(text, str(path))

    @classmethod
    def _load(cls, text: str, file: str) -> PriceList:
        loaded = parse_document(text, file).value
        try:
            prices, sources = {}, {}
            for model, row in loaded["models"].items():
                prices[str(model)] = _price({"batch": loaded.get("batch"), **row})
                sources[str(model)] = str(row.get("source", loaded.get("source", "")))
            return cls(str(loaded["as_of"]), str(loaded["currency"]), prices, sources, {})
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise MedjuryError(
                f"{file}: not a price list ({error}); it needs as_of, currency and "
                "models: {NAME: {input: ..., output: ..., cached_input: ..., cache_write: ...}} per million tokens"
            ) from None

    def with_price(
        self,
        model: ChatModel,
        *,
        input: float,
        output: float,
        cached_input: float | None = None,
        cache_write: float | None = None,
        batch: float | None = None,
    ) -> PriceList:
        """The list with a price for this very juror."""
        price = Price(input, output, cached_input, cache_write, batch)
        return replace(self, by_juror={**self.by_juror, model.name: price})

    def price(self, model: ChatModel, *, batch: bool = False) -> Price | None:
        """The price, or None where it is not known; that of a call in a `batch` job, if one is made. A model inside
        this process is free; one whose answers were recorded has the price it had."""
        price = self._price(model)
        return price.in_batch if batch and price is not None else price

    def _price(self, model: ChatModel) -> Price | None:
        if model.name in self.by_juror:
            return self.by_juror[model.name]
        if model.host is None and (not model.recorded or model.identity.get("kind") in _IN_PROCESS):
            return Price(0.0, 0.0)
        name = model.identity.get("model", "")
        return self.prices.get(name) or self.prices.get(without_version(name))

    def knows(self, model: str) -> bool:
        """Whether the list has a price for the model of this name."""
        return model in self.prices or without_version(model) in self.prices

    def estimate(self, model: ChatModel, tokens_in: int, tokens_out: int) -> float | None:
        """What so many tokens would cost, or None where the price is not known."""
        price = self.price(model)
        return None if price is None else price.of(tokens_in, tokens_out)

    def worst(
        self, model: ChatModel, tokens_in: int, tokens_out: int, *, batch: bool = False
    ) -> float | None:
        """The most that so many tokens can cost, or None where the price is not known."""
        price = self.price(model, batch=batch)
        return None if price is None else price.dearest.of(tokens_in, tokens_out)

    def cost(self, model: ChatModel, reply: Reply, *, batch: bool = False) -> float | None:
        """What a reply cost, or None where the price is not known."""
        price = self.price(model, batch=batch)
        if price is None:
            return None
        return price.of(reply.tokens_in, reply.tokens_out, reply.tokens_cached, reply.tokens_written)

    def text(self) -> str:
        """The list for a reader."""
        lines = [f"{self.currency} per million tokens, as of {self.as_of}. Check your provider's page.", ""]
        lines.append(f"{'model':<28}{'input':>10}{'cached':>10}{'output':>10}")
        for name, price in self.prices.items():
            cached = "" if price.cached_input is None else f"{price.cached_input:g}"
            lines.append(f"{name:<28}{price.input:>10g}{cached:>10}{price.output:>10g}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        rows = {name: asdict(price) for name, price in self.prices.items()}
        return {"as_of": self.as_of, "currency": self.currency, "models": rows}


@cache
def _shipped() -> PriceList:
    file = resources.files("medjury.models").joinpath("prices.yaml")
    return PriceList._load(file.read_text("utf-8"), "prices.yaml")


def without_version(model: str) -> str:
    """The model's name without the day of its release.

    >>> without_version("gpt-4o-2024-08-06")
    'gpt-4o'
    """
    return _VERSION.sub("", model)


def _price(row: Any) -> Price:
    needed = [row["input"], row["output"]]
    numbers = [*needed, *(row.get(name) for name in ("cached_input", "cache_write", "batch"))]
    if any(each is not None and (isinstance(each, bool) or not float(each) >= 0) for each in numbers):
        raise ValueError(f"a price is a number, at least 0: {row}")
    return Price(
        float(row["input"]),
        float(row["output"]),
        *(None if each is None else float(each) for each in numbers[2:]),
    )
