"""What the gate of a study is told, wherever calls are made: hosts, prices, and how fast models may be asked."""

from __future__ import annotations

from typing import Any

from medjury.models import Limits, PriceList
from medjury.studies._study import Study


def study_prices(study: Study) -> PriceList:
    """The shipped prices, with the study's own on top."""
    prices = PriceList.shipped()
    for model, part in study.models:
        if part.price is not None:
            prices = prices.with_price(model, **part.price.model_dump())
    return prices


def gate_settings(study: Study, prices: PriceList, place: int = 0, workers: int = 1) -> dict[str, Any]:
    """For one of several workers, which share out the calls at a time that a model allows."""
    return {
        "allow_hosts": study.settings.allow_hosts,
        "prices": prices,
        "limits": {
            model.name: Limits(
                None if part.concurrency is None else _part(part.concurrency, place, workers),
                part.requests_per_minute,
                part.tokens_per_minute,
            )
            for model, part in study.models
        },
    }


def _part(whole: int, place: int, workers: int) -> int:
    return max(1, whole // workers + (place < whole % workers))
