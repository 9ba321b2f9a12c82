"""Which ways of judging are unbeaten: nobody agrees at least as well for at most the price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from medjury.validation._ways.ways import Spent, Way, Ways

_PRICES: tuple[Spent, ...] = ("cost", "calls")
_SAME = 1e-12


def with_front(ways: Ways) -> Ways:
    """Mark the raters that no other one beats; the price is cost, else calls, where each has one. One that does not
    cover beats nobody and is none of them."""
    known = {
        each.rater: each.agreement.value
        for each in ways.rows
        if each.agreement is not None and each.agreement.value is not None
    }
    able = [each for each in ways.rows if each.rater in known]
    by = next((price for price in _PRICES if _priced(able, price)), None)
    if by is None or len(able) < 2:
        return ways

    def beats(one: Way, other: Way) -> bool:
        gains = (known[one.rater] - known[other.rater], (other.price(by) or 0.0) - (one.price(by) or 0.0))
        return min(gains) > -_SAME and max(gains) > _SAME

    marked = {
        each.rater: each.covers and not any(beats(other, each) for other in able if other.covers)
        for each in able
    }
    rows = tuple(replace(each, on_front=marked.get(each.rater)) for each in ways.rows)
    return replace(ways, rows=rows, price=by)


def _priced(ways: Sequence[Way], price: Spent) -> bool:
    """Everyone's price is known, and somebody's is not nothing."""
    prices = [each.price(price) for each in ways]
    return None not in prices and any(prices)
