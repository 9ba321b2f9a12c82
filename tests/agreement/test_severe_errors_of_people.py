"""Severe errors of people: what a second panel was not asked about it did not overlook."""

from __future__ import annotations

import polars as pl

from medjury.analysis.agreement import agreement
from medjury.tables import rating_table

PRIMARY = [1, 1, 1, 1, 5, 4, 3, 5, 4, 3, 5, 4]
SECOND = {0: 5, 1: 1, 4: 5, 5: 4}


def test_only_answers_that_a_person_rated_count_where_a_judge_answers_for_all() -> None:
    rows = [(f"case-{n}", "primary", "clinician", score) for n, score in enumerate(PRIMARY)]
    rows += [(f"case-{n}", "second", "clinician", score) for n, score in SECOND.items()]
    rows += [(f"case-{n}", "judge", "judge", score) for n, score in SECOND.items()]
    frame = pl.DataFrame(
        [(item, rater, kind, "accuracy", float(score)) for item, rater, kind, score in rows],
        schema=["item", "rater", "rater_kind", "dimension", "score"],
        orient="row",
    )
    found = agreement(
        rating_table(frame, scale=(1, 5)),
        reference="primary",
        raters=["second", "judge"],
        severe="accuracy",
        resamples=200,
    ).severe
    person, judge = found["accuracy", "second"], found["accuracy", "judge"]
    assert (person.errors, person.dangerous, person.unscored) == (1, 2, 0)
    assert (judge.errors, judge.dangerous, judge.unscored) == (1, 2, 2)
