"""The judge as one more rater, and in the place of each rater: does the group's reliability change?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from medjury.agreement._groups.icc import IccForm, icc_statistics
from medjury.errors import MedjuryError
from medjury.records import dataclass
from medjury.statistics import (
    RESAMPLES,
    Clusters,
    Estimate,
    combined,
    compare,
    complete_rows,
    on_columns,
    read_scores,
)


@dataclass(frozen=True, slots=True)
class RaterChange:
    """The group's ICC before and after the judge joined it ("added") or took a human's place ("replaced").
    `change` is after − before on the same resamples, `p_value` the two-sided bootstrap p-value of no
    change."""

    kind: Literal["added", "replaced"]
    human: str
    form: IccForm
    before: Estimate
    after: Estimate
    change: Estimate
    p_value: float | None


def judge_as_rater(
    humans: ArrayLike,
    judge: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    forms: Sequence[IccForm] = ("icc_2_1", "icc_3_k"),
    clusters: Clusters = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    confidence: float = 0.95,
) -> tuple[RaterChange, ...]:
    """Change in ICC when the judge is added to the humans and when it replaces each of them in turn.

    `humans` is items x humans; items that all humans and the judge scored count. One more rater raises an
    average form (`icc_x_k`) by arithmetic alone (Spearman-Brown), so read the single form (`icc_x_1`) for
    "added". A large p-value does not show that nothing changed: look at the interval of the change, or test
    non-inferiority.

    >>> humans = [[1, 2], [2, 2], [3, 4], [4, 4], [5, 4], [2, 1]]
    >>> added = judge_as_rater(humans, [1, 2, 4, 4, 5, 2], forms=["icc_2_1"], resamples=500)[0]
    >>> added.kind, added.change.value > 0
    ('added', True)
    """
    table, said = read_scores(humans, None, 2), read_scores(judge, None, 1)
    count = table.shape[1]
    if len(said) != len(table):
        raise MedjuryError(f"{len(table)} items were rated by the humans and {len(said)} by the judge.")
    labels = tuple(names) if names is not None else tuple(f"human {place + 1}" for place in range(count))
    rows = np.column_stack([table, said])
    kept = complete_rows(rows)
    rows = rows[kept]
    cases = None if clusters is None else np.asarray(clusters, dtype=object)[kept]
    changes = []
    for form in forms:
        statistics = icc_statistics([form])
        groups = {"added": list(range(count + 1))}
        groups |= {
            f"replaced {place}": [*(each for each in range(count) if each != place), count]
            for place in range(count)
        }
        for group, columns in groups.items():
            found = compare(
                rows,
                combined(
                    on_columns(statistics, columns, "after "),
                    on_columns(statistics, list(range(count)), "before "),
                ),
                f"after {form}",
                f"before {form}",
                clusters=cases,
                resamples=resamples,
                seed=seed,
                confidence=confidence,
            )
            place = None if group == "added" else int(group.removeprefix("replaced "))
            changes.append(
                RaterChange(
                    "added" if place is None else "replaced",
                    "" if place is None else labels[place],
                    form,
                    found.second,
                    found.first,
                    found.difference,
                    found.p_value,
                )
            )
    return tuple(changes)
