"""Ways of judging side by side, made a second time on the same resamples; see `same_draws`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from tests.recipes.compared import amount
from tests.recipes.exact_checks import both_vary, resamples_of
from tests.recipes.rated import Grading, Rated
from tests.recipes.same_draws import equals, same_draws
from tests.recipes.second_opinion import Numbers, Statistic


def ways_are_right(rated: Rated, labels: Mapping[str, str], grading: Grading, turned: str) -> int:
    """The tables `ways-of-judging` and `ways-of-judging-by-dimension` of a study whose clinicians have one voice:
    weighted kappa on the answers that all scored, its mean over dimensions, and the gap to the first rater.
    Errors are of the dimension `turned`, whose grades fall as danger grows. Tells how many intervals there were."""
    names, compared = {label: name for name, label in labels.items()}, 0
    rows_of, whole = rated.table("ways-of-judging-by-dimension"), rated.table("ways-of-judging")
    times = resamples_of(whole)
    raters = [str(row["rater"]) for row in whole]
    dimensions = [*dict.fromkeys(names[row["dimension"]] for row in rows_of)]
    shared = {
        name: sorted(
            set.intersection(
                set(rated.reference(name)), *(set(rated.scores.get((who, name), {})) for who in raters)
            )
        )
        for name in dimensions
    }
    answers = sorted({each for own in shared.values() for each in own})
    columns, statistics = [], {}
    for name in dimensions:
        here = np.array([each in set(shared[name]) for each in answers])
        sides = []
        for side in (rated.reference(name), *(rated.scores[who, name] for who in raters)):
            column = np.full(len(answers), np.nan)
            column[here] = grading(name)(np.array([side[each] for each in shared[name]]))
            sides.append(column)
        columns += sides
        for who, side in zip(raters, sides[1:], strict=True):
            statistics[name, who] = _inside(here, both_vary(sides[0][here], side[here]))
    whose = [rated.patients[item] for item, _ in answers]
    draws = same_draws(np.column_stack(columns), whose, times)
    for row in rows_of:
        name, who = names[row["dimension"]], str(row["rater"])
        left = rated.reference(name).keys() - set(shared[name])
        assert (amount(row["answers"]), amount(row["left out"])) == (len(shared[name]), len(left))
        compared += equals(row, "agreement", statistics[name, who], draws, "coefficient")
        if who != raters[0]:
            gap = _less(statistics[name, who], statistics[name, raters[0]])
            compared += equals(row, "difference", gap, draws, "as it is")
        if row["dangerous"]:
            danger = [each for each in shared[name] if rated.reference(turned)[each] <= 2]
            apart = [rated.scores[who, turned][each] - rated.reference(turned)[each] for each in danger]
            errors = sum(gap >= 2 - 1e-9 for gap in apart)
            assert (amount(row["dangerous"]), amount(row["errors"])) == (len(danger), errors), row
            assert amount(row["rate"]) == pytest.approx(errors / len(danger), abs=1e-9)
    seen = rated.reference(turned)
    for row in whole:
        own = rated.scores.get((row["rater"], turned), {})
        gaps = [own[each] - grade for each, grade in seen.items() if grade <= 2 and each in own]
        if row["rate"]:
            errors = sum(gap >= 2 - 1e-9 for gap in gaps)
            assert amount(row["errors"]) == errors
            assert amount(row["rate"]) == pytest.approx(errors / len(gaps), abs=1e-9)
        means = {who: _mean([statistics[name, who] for name in dimensions]) for who in raters}
        compared += equals(row, "agreement", means[str(row["rater"])], draws, "coefficient")
        if row["rater"] != raters[0]:
            gap = _less(means[str(row["rater"])], means[raters[0]])
            compared += equals(row, "difference", gap, draws, "as it is")
    return compared


def _inside(here: Numbers, statistic: Statistic) -> Statistic:
    kept: dict[int, tuple[Numbers, Numbers]] = {}

    def read(w: Numbers) -> Numbers:
        if id(w) not in kept:
            kept[id(w)] = w, statistic(w[:, here])
        return kept[id(w)][1]

    return read


def _mean(parts: list[Statistic]) -> Statistic:
    return lambda w: np.mean([each(w) for each in parts], axis=0)


def _less(one: Statistic, two: Statistic) -> Statistic:
    return lambda w: one(w) - two(w)
