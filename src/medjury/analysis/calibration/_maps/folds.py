"""Folds of whole cases: what teaches a calibration never shares a case with what it is reported on."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medjury.foundation.errors import MedjuryError

FOLDS = 5
# A fold with fewer labelled cases says next to nothing, and what is fitted without it hangs on single cases.
CASES_PER_FOLD = 5

Cases = Sequence[object] | NDArray[Any]


def case_folds(
    cases: Cases, *, folds: int = FOLDS, seed: int = 0, minimum: int = CASES_PER_FOLD
) -> NDArray[np.int64]:
    """A fold number for every item, the same for all items of a case, sizes differing by one case at most.

    It depends on the names of the cases and the seed alone, not on the order of the rows. Fewer than
    `minimum` cases in a fold are refused.

    >>> case_folds(["a", "b", "a", "c"], folds=2, minimum=1).tolist()
    [1, 0, 1, 0]
    """
    if folds < 2:
        raise MedjuryError(f"cross-fitting needs 2 folds or more, not {folds}.")
    names = [str(case) for case in cases]
    known = sorted(set(names), key=lambda name: hashlib.sha256(f"{seed}\0{name}".encode()).digest())
    smallest = len(known) // folds
    if smallest < max(minimum, 1):
        fewer = len(known) // max(minimum, 1)
        advice = f", or use {fewer} folds" if 2 <= fewer < folds else ""
        raise MedjuryError(
            f"too few labels: of {len(known)} labelled cases a fold would hold {smallest}, and each of {folds} "
            f"folds needs {minimum}. Label {minimum * folds} cases or more{advice}."
        )
    place = {name: index % folds for index, name in enumerate(known)}
    return np.array([place[name] for name in names], dtype=np.int64)
