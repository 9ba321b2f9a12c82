"""How a number is printed: one way for the terminal, the report and a notebook."""

from __future__ import annotations

import math
from datetime import datetime

from medjury.statistics._estimate import Estimate

NOTHING = "–"
_MOST_DIGITS = 3
Printable = str | float | int | Estimate | None


def shown(value: Printable, digits: int = 3) -> str:
    """A value as a reader wants it: thousands apart, estimates with their interval, nothing as a dash.

    >>> shown(Estimate(0.7468, 0.5249, 0.9081, 40, "bca"))
    '0.747 (0.525 to 0.908)'
    """
    if value is None:
        return NOTHING
    if isinstance(value, Estimate):
        if value.value is None:
            return f"not defined: {value.reason}"
        number = _number(value.value, digits)
        if value.low is None and value.high is None:
            return number
        ends = (NOTHING if end is None else _number(end, digits) for end in (value.low, value.high))
        return f"{number} ({' to '.join(ends)})"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return _number(value, 0)
    return _number(value, digits) if isinstance(value, float) else value


def supported(estimate: Estimate) -> str:
    """An estimate with the digits that its interval supports: two of the interval's width, and never so few that an
    end which is not 0 or 1 reads as 0 or 1. For narrow screens alone: a report and a file have every digit.

    >>> supported(Estimate(0.7468, 0.5249, 0.9081, 40, "bca")), supported(Estimate(0.121, 0.004, 0.238, 40, "bca"))
    ('0.75 (0.52 to 0.91)', '0.121 (0.004 to 0.238)')
    """
    if estimate.low is None or estimate.high is None or not estimate.high > estimate.low:
        return shown(estimate)
    digits = min(max(1 - math.floor(math.log10(estimate.high - estimate.low)), 0), _MOST_DIGITS)
    ends = (estimate.low, estimate.high)
    while digits < _MOST_DIGITS and any(round(end, digits) in (0, 1) and end not in (0, 1) for end in ends):
        digits += 1
    return shown(estimate, digits)


def percent(share: float | None, digits: int = 0) -> str:
    """A share of one as a percentage."""
    return NOTHING if share is None else f"{100 * share:.{digits}f} %".replace("-", "−")


def percent_of_limit(limit: float) -> str:
    """A limit as it was stated: 2.5 % is never rounded to 2 %."""
    return f"{100 * limit:.6g} %".replace("-", "−")


def digits_beside(share: float, limit: float) -> int:
    """With how many digits a percentage is told from a limit that it is not: 10.05 % is not the 10 % allowed.

    >>> digits_beside(21 / 209, 0.1), digits_beside(0.2, 0.1), digits_beside(0.1, 0.1)
    (2, 1, 1)
    """
    apart = (
        digits for digits in range(1, _MOST_DIGITS + 1) if percent(share, digits) != percent(limit, digits)
    )
    return 1 if share == limit else next(apart, _MOST_DIGITS)


def p_value(value: float | None) -> str:
    """A p-value as journals want it."""
    return NOTHING if value is None else "< 0.001" if value < 0.001 else f"{value:.3f}"


def counted(count: int, thing: str) -> str:
    """`1 judge`, `3 judges`."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def moment(stamp: object) -> str:
    """An ISO time as people write it; anything else as it is."""
    try:
        when = datetime.fromisoformat(str(stamp))
    except ValueError:
        return str(stamp)
    return f"{when:%Y-%m-%d %H:%M} UTC" if when.utcoffset() is not None else str(stamp)


def _number(value: float, digits: int) -> str:
    rounded = f"{value:,.{digits}f}"
    # −0.00 is zero, and a minus sign is no hyphen.
    return rounded.lstrip("-") if float(rounded.replace(",", "")) == 0 else rounded.replace("-", "−")
