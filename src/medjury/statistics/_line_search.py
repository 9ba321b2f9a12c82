"""The smallest value of a function of one number between two ends: Brent's method.

Written here because a fit of a mixed model asks for hundreds of evaluations that take microseconds each: a general
optimiser spends as much again on itself, and a fifth of a second on being imported.
"""

from __future__ import annotations

import math
from collections.abc import Callable

GOLDEN = (3.0 - math.sqrt(5.0)) / 2.0
# A minimum cannot be told from its neighbourhood below the root of the machine's precision.
ROUGHNESS = math.sqrt(2.220446049250313e-16)
EVALUATIONS = 500


def smallest_between(
    function: Callable[[float], float], low: float, high: float, *, tolerance: float
) -> tuple[float, float]:
    """Where the function is smallest, to within `tolerance`, and its value there.

    Parabolas through the three best points, golden sections where those do not help; the ends themselves are never
    evaluated. Brent (1973) Algorithms for Minimization without Derivatives, chapter 5.

    >>> place, value = smallest_between(lambda x: (x - 0.3) ** 2 + 1, 0.0, 1.0, tolerance=1e-8)
    >>> round(place, 6), value
    (0.3, 1.0)
    """
    best = second = third = low + GOLDEN * (high - low)
    at_best = at_second = at_third = function(best)
    step = before = 0.0
    for _ in range(EVALUATIONS - 1):
        middle = (low + high) / 2.0
        least = ROUGHNESS * abs(best) + tolerance / 3.0
        if abs(best - middle) <= 2.0 * least - (high - low) / 2.0:
            break
        parabola = None
        if abs(before) > least:
            parabola = _parabola(best - second, best - third, at_best - at_third, at_best - at_second)
        if parabola is not None and abs(parabola) < abs(before) / 2.0 and low < best + parabola < high:
            before, step = step, parabola
            ahead = best + step
            if ahead - low < 2.0 * least or high - ahead < 2.0 * least:
                step = least if middle >= best else -least
        else:
            before = (low if best >= middle else high) - best
            step = GOLDEN * before
        tried = best + (step if abs(step) >= least else math.copysign(least, step))
        at_tried = function(tried)
        if at_tried <= at_best:
            low, high = (best, high) if tried >= best else (low, best)
            third, at_third, second, at_second = second, at_second, best, at_best
            best, at_best = tried, at_tried
            continue
        low, high = (tried, high) if tried < best else (low, tried)
        if at_tried <= at_second or second == best:
            third, at_third, second, at_second = second, at_second, tried, at_tried
        elif at_tried <= at_third or third in (best, second):
            third, at_third = tried, at_tried
    return best, at_best


def _parabola(to_second: float, to_third: float, over_third: float, over_second: float) -> float | None:
    """The step from the best point to the bottom of the parabola through it and two others; None where the three
    lie on a line."""
    first, other = to_second * over_third, to_third * over_second
    divisor = 2.0 * (other - first)
    return (to_second * first - to_third * other) / divisor if divisor else None
