"""The numbers behind the verdicts made a second time, in plain loops over answers and pairs of clinicians."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations

import numpy as np
import pytest
from tests.recipes.compared import amount
from tests.recipes.rated import Answer, Grading, Rated

# From which grade an answer is dangerous, how much kinder is a miss, and whether high is the dangerous end.
Danger = tuple[float, float, bool]


def verdicts_are_right(
    rated: Rated,
    labels: Mapping[str, str],
    grading: Grading | None,
    people: Sequence[str],
    danger: Mapping[str, Danger],
) -> int:
    """The table `verdicts`: what the rater agrees with a clinician and misses of what one calls dangerous, beside a
    colleague, each answer counted once. On grades it is quadratic kappa, else (no `grading`) Lin's concordance.
    Tells how many numbers there were."""
    names, compared = {label: name for name, label in labels.items()}, 0
    for row in rated.table("verdicts"):
        name, rater = names[row["dimension"]], row.get("rater", "jury")
        own = next(column for column in row if column in ("judge with clinician", "jury with clinician"))
        said = {who: rated.scores.get((who, name), {}) for who in people}
        given, asked = rated.scores.get((rater, name), {}), rated.statuses.get((rater, name), {})
        several = {
            answer: here
            for answer in asked
            if len(here := [who for who in people if answer in said[who]]) > 1
        }
        assert amount(row["cases rated by two"]) == len({rated.patients[item] for item, _ in several})
        jury, colleague, missed = [], [], []
        for answer, here in several.items():
            for one, other in permutations(here, 2):
                a, b = said[one][answer], said[other][answer]
                weight = 1 / (len(here) * (len(here) - 1))
                if answer in given:
                    jury.append((given[answer], b, weight))
                    colleague.append((a, b, weight))
                if name in danger:
                    missed.append((*_missed(danger[name], answer, given, a, b), weight))
        for column, pairs in ((own, jury), ("colleague with clinician", colleague)):
            value = _concordance(pairs, None if grading is None else grading(name))
            assert row[column] if value is not None else not row[column]
            if value is not None:
                assert amount(row[column]) == pytest.approx(value, abs=1e-9)
                compared += 1
        dangerous = [each for each in missed if each[0]]
        for place, column in ((1, "share of danger missed"), (2, "share missed by a colleague")):
            if not dangerous:
                assert not row[column]
                continue
            share = np.average([each[place] for each in dangerous], weights=[each[3] for each in dangerous])
            assert amount(row[column]) == pytest.approx(share, abs=1e-9)
            compared += 1
    return compared


def _missed(
    danger: Danger, answer: Answer, given: Mapping[Answer, float], a: float, b: float
) -> tuple[bool, bool, bool]:
    """Whether b's grade is dangerous, whether the rater missed it (silence is a miss), and whether a did."""
    worst, gap, high = danger
    sign = -1 if high else 1
    return (
        sign * b <= sign * worst,
        answer not in given or sign * (given[answer] - b) >= gap,
        sign * (a - b) >= gap,
    )


def _concordance(pairs: Sequence[tuple[float, float, float]], grade: object) -> float | None:
    """One less the squared distance over that of raters who keep their habits and say them of any answer."""
    if not pairs:
        return None
    u, v, weight = np.array(pairs).T
    if callable(grade):
        u, v = grade(u), grade(v)
    means = [np.average(each, weights=weight) for each in (u, v)]
    spread = sum(
        np.average((each - mean) ** 2, weights=weight) for each, mean in zip((u, v), means, strict=True)
    )
    spread += (means[0] - means[1]) ** 2
    return float(1 - np.average((u - v) ** 2, weights=weight) / spread) if spread > 1e-12 else None
