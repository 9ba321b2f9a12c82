"""Columns of a design: which of them the data tell apart from the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# A column is a combination of the others where they leave less of its square than this.
COLLINEAR = 1e-9


def identified(design: Floats) -> list[bool]:
    """For each column, whether the data hold something of it that the other columns have not."""
    products = _unit_products(design)
    if _all_apart(products):
        return [True] * len(products)
    return [
        _left_over(products, place, [*range(place), *range(place + 1, len(products))])
        for place in range(len(products))
    ]


def independent(design: Floats) -> list[int]:
    """The columns, from the left, that the ones before them do not make up; together they span the same."""
    products = _unit_products(design)
    if _all_apart(products):
        return list(range(len(products)))
    kept: list[int] = []
    for place in range(len(products)):
        if _left_over(products, place, kept):
            kept.append(place)
    return kept


def _unit_products(design: Floats) -> Floats:
    """Cross-products of the columns at length one; a column of zeros stays one."""
    products = design.T @ design
    length = np.sqrt(np.diag(products))
    length = np.where(length > 0, length, 1.0)
    return np.asarray(products / np.outer(length, length))


def _all_apart(products: Floats) -> bool:
    """What the others leave of a column is never less than the smallest eigenvalue: one look instead of many."""
    return bool(np.linalg.eigvalsh(products)[0] > 1000 * COLLINEAR)


def _left_over(products: Floats, place: int, others: Sequence[int]) -> bool:
    here = products[place, others]
    explained = (
        float(here @ np.linalg.lstsq(products[np.ix_(others, others)], here, rcond=1e-12)[0])
        if others
        else 0.0
    )
    return float(products[place, place]) - explained > COLLINEAR
