"""The numbers behind the verdicts made a second time, on the same resamples; see `same_draws`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from tests.recipes.compared import amount
from tests.recipes.exact_baseline import pooled_kappa
from tests.recipes.exact_checks import both_vary, pair_draws, resamples_of
from tests.recipes.interval_checks import Grading
from tests.recipes.rated import Rated
from tests.recipes.same_draws import equals, same_draws
from tests.recipes.second_opinion import Numbers


def verdicts_are_right(
    rated: Rated,
    labels: Mapping[str, str],
    grading: Grading,
    people: Sequence[str],
    baseline: Sequence[Mapping[str, str]],
    coefficient: str,
) -> int:
    """The table `verdicts`. With one voice of the clinicians it shows weighted kappa with it; with several what
    `baseline` shows, which was made a second time, and where some answers have one clinician alone, that on all
    of them. Tells how many intervals there were."""
    names, compared = {label: name for name, label in labels.items()}, 0
    rows_of = rated.table("verdicts")
    times = resamples_of(rows_of)
    beside = {
        (each["dimension"], each["rater"]): each for each in baseline if each["coefficient"] == coefficient
    }
    for row in rows_of:
        name, rater = names[row["dimension"]], row.get("rater", "jury")
        column = "judge with clinician" if "judge with clinician" in row else "jury with clinician"
        given = rated.scores.get((rater, name), {})
        assert amount(row["held-out cases"]) == len(
            {item for item, _ in given.keys() & rated.reference(name).keys()}
        )
        if not given:
            assert not row[column]
            continue
        if len(people) == 1:
            x, y, draws = pair_draws(rated, rater, name, times)
            compared += equals(
                row, column, both_vary(grading(name)(x), grading(name)(y)), draws, "coefficient"
            )
            continue
        same = beside[row["dimension"], rater]
        for end in ("", " low", " high"):
            assert row[f"clinician with clinician{end}"] == same[f"clinician with clinician{end}"]
        table, whose = on_trial(rated, name, people, given)
        if (~np.isnan(table[:, :-1])).sum(axis=1).min() > 1:
            for end in ("", " low", " high"):
                assert row[column + end] == same[f"rater with clinician{end}"]
            compared += bool(row[f"{column} low"])
            continue
        assert coefficient == "weighted kappa"
        graded = grading(name)(table)
        pooled = pooled_kappa(graded, [(place, len(people)) for place in range(len(people))])

        def zero(w: Numbers, pooled=pooled) -> Numbers:  # type: ignore[no-untyped-def]
            """Who gives one score to answers that clinicians tell apart agrees by chance alone."""
            return np.nan_to_num(pooled(w))

        draws = same_draws(np.column_stack([graded, np.ones(len(graded))]), whose, times)
        compared += equals(row, column, zero, draws, "coefficient")
    return compared


def on_trial(
    rated: Rated, name: str, people: Sequence[str], given: Mapping[tuple[str, str], float]
) -> tuple[Numbers, list[str]]:
    """Scores of the clinicians and, last, the rater, of answers that one of them scored too, and whose they are."""
    said = [rated.scores.get((who, name), {}) for who in people]
    answers = sorted(each for each in given if any(each in side for side in said))
    table = np.array([[*(side.get(each, np.nan) for side in said), given[each]] for each in answers])
    return table, [rated.patients[item] for item, _ in answers]
