"""All that the likelihood of nested intercepts needs of the data, summed once: an evaluation then costs a few
products, whatever the number of scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medjury.foundation.errors import MedjuryError

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class NestedSums:
    """All the likelihood needs of [X y]: cross-products in all, within responses, and sums within cases.

    Responses of the same size (number of scores) are treated alike, so each part is kept once per size.
    """

    total: Floats
    sizes: Floats
    counts: Floats
    within_responses: tuple[Floats, ...]
    within_cases: tuple[Floats, ...]
    responses_of_case: Floats
    nested: bool

    @property
    def cases(self) -> int:
        return len(self.responses_of_case)

    def whitened(self, ratios: Floats) -> tuple[Floats, float]:
        """[X y]ᵀV⁻¹[X y] and log|V| for V = I + ratio_case·11ᵀ (by case) + ratio_response·11ᵀ (by
        response)."""
        case_ratio = float(ratios[0])
        response_ratio = float(ratios[1]) if self.nested else 0.0
        inflation = 1.0 + self.sizes * response_ratio
        cross = self.total.copy()
        by_case = np.zeros_like(self.within_cases[0])
        for size, products, sums in zip(inflation, self.within_responses, self.within_cases, strict=True):
            cross -= products * (response_ratio / size)
            by_case += sums / size
        scale = 1.0 + case_ratio * (self.responses_of_case @ (self.sizes / inflation))
        cross -= (by_case * (case_ratio / scale)[:, np.newaxis]).T @ by_case
        return cross, float(self.counts @ np.log(inflation) + np.log(scale).sum())


def nested_sums(table: Floats, case: NDArray[np.int64], response: NDArray[np.int64] | None) -> NestedSums:
    # Without a response intercept every case is its own "response": the same sums serve.
    inner = case if response is None else response
    order = np.lexsort((inner, case))
    starts = np.flatnonzero(np.diff(inner[order], prepend=-1) | np.diff(case[order], prepend=-1))
    cases = case[order][starts]
    if len(starts) != int(inner.max()) + 1:
        raise MedjuryError("A response belongs to two cases. Name responses by case and answering system.")
    by_response = np.add.reduceat(table[order], starts, axis=0)
    size_of = np.diff(starts, append=len(table))
    sizes, counts = np.unique(size_of, return_counts=True)
    products, sums, members = [], [], []
    for size in sizes:
        chosen = size_of == size
        part = by_response[chosen]
        products.append(part.T @ part)
        summed = np.zeros((int(case.max()) + 1, table.shape[1]))
        np.add.at(summed, cases[chosen], part)
        sums.append(summed)
        members.append(np.bincount(cases[chosen], minlength=len(summed)))
    return NestedSums(
        table.T @ table,
        sizes.astype(np.float64),
        counts.astype(np.float64),
        tuple(products),
        tuple(sums),
        np.column_stack(members).astype(np.float64),
        response is not None,
    )


def codes_of(names: Sequence[object] | NDArray[Any]) -> NDArray[np.int64]:
    """Numbers 0, 1, 2… for names of any kind."""
    if isinstance(names, np.ndarray) and names.dtype.kind in "iu":
        return np.asarray(np.unique(names, return_inverse=True)[1], dtype=np.int64)
    known: dict[object, int] = {}
    return np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int64)
