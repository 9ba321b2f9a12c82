"""Ways of judging on several dimensions: what is averaged, what is counted, what is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from tests.tables.run_folders import rows_of

from medjury.store.runs import GateRules
from medjury.tables import rating_table, with_rules
from medjury.validation import Ways, compare_ways

ANNA = [1 + place % 5 for place in range(40)]


NEAR = [min(5, score + (place % 4 == 0)) for place, score in enumerate(ANNA)]


FAR = [6 - score for score in ANNA]


def two_dimensions(
    first: Mapping[str, Sequence[Any]], second: Mapping[str, Sequence[Any]], **rules: Any
) -> Ways:
    frame = pl.concat([rows_of(first), rows_of(second, dimension="zeal")])
    table = with_rules(
        rating_table(frame, scale=(1, 5)), GateRules(**{"severe_dimensions": ("accuracy", "zeal"), **rules})
    )
    found = compare_ways(table, resamples=100)
    assert found is not None
    return found


def agreements(found: Ways) -> dict[str, Any]:
    """Of each rater the mean, how many answers it rests on, and why there is none."""
    return {
        each.rater: each.agreement
        and (each.agreement.value and round(each.agreement.value, 3), each.agreement.n, each.agreement.reason)
        for each in found.rows
    }


FIRST_ALONE = {"judge a": (1.0, 40, ""), "judge b": (0.95, 40, ""), "jury": (0.95, 40, "")}


def test_agreement_is_averaged_over_dimensions_and_answers_are_counted_once() -> None:
    found = two_dimensions(
        {"clinician a": ANNA, "judge a": ANNA, "judge b": NEAR},
        {"clinician a": ANNA[:30], "judge a": FAR[:30], "judge b": NEAR[:30]},
    )
    assert agreements(found) == {"judge a": (0.0, 40, ""), "judge b": (0.95, 40, ""), "jury": (0.43, 40, "")}
    assert (found.answers, found.cases, found.uncounted) == (40, 40, ())
    by_dimension = {
        (each.part.dimension.name, each.rater): (round(each.agreement.value or 0.0, 3), each.agreement.n)
        for each in found.details
    }
    assert by_dimension == {
        ("accuracy", "judge a"): (1.0, 40), ("accuracy", "judge b"): (0.95, 40), ("accuracy", "jury"): (0.95, 40),
        ("zeal", "judge a"): (-1.0, 30), ("zeal", "judge b"): (0.95, 30), ("zeal", "jury"): (-0.091, 30),
    }  # fmt: skip


def test_a_dimension_that_one_judge_did_not_rate_is_in_no_mean() -> None:
    found = two_dimensions(
        {"clinician a": ANNA, "judge a": ANNA, "judge b": NEAR}, {"clinician a": ANNA, "judge a": FAR}
    )
    assert agreements(found) == FIRST_ALONE and found.uncounted == ("zeal",)
    differing = [(each.rater, each.part.dimension.name) for each in found.details if each.difference]
    assert differing == [("judge b", "accuracy"), ("jury", "accuracy"), ("jury", "zeal")]


def test_a_dimension_on_which_clinicians_say_one_thing_is_in_no_mean() -> None:
    found = two_dimensions(
        {"clinician a": ANNA, "judge a": ANNA, "judge b": NEAR},
        {"clinician a": [3] * 40, "judge a": FAR, "judge b": ANNA},
    )
    assert agreements(found) == FIRST_ALONE and found.uncounted == ("zeal",)


def test_judges_who_share_no_dimension_are_each_averaged_over_their_own() -> None:
    found = two_dimensions({"clinician a": ANNA, "judge a": NEAR}, {"clinician a": ANNA, "judge b": ANNA})
    none = "it scored none of the 40 answers that clinicians scored"
    assert found.uncounted == () and agreements(found) == {
        "judge a": (None, 40, f"zeal: {none}"),
        "judge b": (None, 40, f"accuracy: {none}"),
        "jury": (0.975, 40, ""),
    }


def test_a_severe_error_on_any_dimension_is_one_of_the_answer() -> None:
    kind = [5 if score == 1 else score for score in ANNA]
    late = [5 if score == 2 and place < 20 else score for place, score in enumerate(ANNA)]
    found = two_dimensions(
        {"clinician a": ANNA, "judge a": ANNA, "judge b": kind},
        {"clinician a": ANNA, "judge a": ANNA, "judge b": late},
    )
    assert [(each.errors, each.dangerous) for each in found.rows] == [(0, 16), (12, 16), (8, 16)]
    assert [each.severe and each.severe.value for each in found.rows] == [0.0, 0.75, 0.5]
    changes = [each.severe_change and each.severe_change.value for each in found.rows]
    assert changes == [None, 0.75, 0.5]


def test_danger_is_counted_on_the_dimensions_that_the_rules_name() -> None:
    kind = [5 if score == 1 else score for score in ANNA]
    found = two_dimensions(
        {"clinician a": ANNA, "judge a": ANNA, "judge b": kind},
        {"clinician a": ANNA, "judge a": ANNA, "judge b": ANNA},
        severe_dimensions=("zeal",),
    )
    assert [(each.errors, each.dangerous) for each in found.rows] == [(0, 16)] * 3


def test_nobody_who_scored_anything_leaves_a_warning() -> None:
    found = two_dimensions(
        {"clinician a": ANNA, "judge a": [None] * 40, "judge b": [None] * 40},
        {"clinician a": ANNA, "judge a": [None] * 40},
    )
    assert found.warnings == (found.problem,) == ("no answer was scored by clinicians and by every rater",)
    assert found.answers == 0 and [each.unscored for each in found.rows] == [1.0, 1.0, 1.0]


def test_dimensions_can_be_chosen() -> None:
    scores = {"accuracy": ANNA, "zeal": FAR}
    rows = [rows_of({"clinician a": ANNA, "judge a": each}, dimension=name) for name, each in scores.items()]
    table = rating_table(pl.concat(rows), scale=(1, 5))
    found = compare_ways(table, dimensions="zeal", confidence=0.8, resamples=60, seed=5)
    assert found and agreements(found) == {"judge a": (-1.0, 40, "")} and found.confidence == 0.8
    (only,) = found.rows
    assert (
        only.agreement
        and only.agreement.method == "80 % BCa-t bootstrap, 60 resamples of 40 clusters, seed 5"
    )


def test_patients_are_counted_where_some_have_several_cases() -> None:
    frame = rows_of({"clinician a": ANNA, "judge a": NEAR, "judge b": ANNA}).with_columns(
        patient=(pl.col("item").str.slice(5).cast(pl.Int64) // 2).cast(pl.String)
    )
    found = compare_ways(rating_table(frame, scale=(1, 5)), resamples=60)
    assert found and (found.by_patient, found.cases, found.answers) == (True, 20, 40)
    first = found.rows[0].agreement
    assert first and first.method == "95 % BCa-t bootstrap, 60 resamples of 20 clusters, seed 0"


def test_without_a_scale_ranks_or_variances_are_compared() -> None:
    table = rating_table(rows_of({"clinician a": ANNA, "judge a": NEAR}))
    for name, value in (("kappa_quadratic", 0.951), ("spearman", 0.961), ("icc_2_1", 0.951)):
        found = compare_ways(with_rules(table, GateRules(statistic=name)), resamples=0)
        assert found and agreements(found) == {"judge a": (value, 40, "")}


def test_ranks_of_clinicians_with_few_cases_each_have_no_interval_in_any_mean_or_difference() -> None:
    def seats(scores: Sequence[int]) -> dict[str, list[int | None]]:
        return {
            f"clinician {seat}": [
                score if case // 8 == seat // 2 else None for case, score in enumerate(scores)
            ]
            for seat in range(10)
        }

    judges = {"judge a": NEAR, "judge b": [min(5, score + 1) for score in NEAR]}
    found = two_dimensions({**seats(NEAR), **judges}, {**seats(ANNA), **judges}, statistic="spearman")
    for each in (*found.rows, *found.details):
        shown = [one for one in (each.agreement, each.difference) if one is not None]
        assert shown and all(one.value is not None and one.low is None for one in shown)
    better = next(each for each in found.rows if each.rater != found.yardstick)
    assert better.difference is not None and "10 are needed" in better.difference.method
