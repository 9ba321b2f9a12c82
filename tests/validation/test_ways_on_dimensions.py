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
    return {
        each.rater: each.agreement
        and (each.agreement.value and round(each.agreement.value, 3), each.agreement.n, each.agreement.reason)
        for each in found.rows
    }


def test_agreement_is_averaged_over_dimensions_and_answers_are_counted_once() -> None:
    found = two_dimensions(
        {"clinician a": ANNA, "judge a": ANNA, "judge b": NEAR},
        {"clinician a": ANNA[:30], "judge a": FAR[:30], "judge b": NEAR[:30]},
    )
    assert (
        agreements(found),
        found.answers,
        found.cases,
        found.uncounted,
        [
            (
                each.part.dimension.name,
                each.rater,
                each.agreement.value and round(each.agreement.value, 3),
                each.agreement.n,
            )
            for each in found.details
        ],
    ) == (
        {"judge a": (0.0, 40, ""), "judge b": (0.95, 40, ""), "jury": (0.43, 40, "")},
        40,
        40,
        (),
        [
            ("accuracy", "judge a", 1.0, 40),
            ("accuracy", "judge b", 0.95, 40),
            ("accuracy", "jury", 0.95, 40),
            ("zeal", "judge a", -1.0, 30),
            ("zeal", "judge b", 0.95, 30),
            ("zeal", "jury", -0.091, 30),
        ],
    )


def test_a_dimension_that_one_judge_did_not_rate_is_in_no_mean() -> None:
    found = two_dimensions(
        {"clinician a": ANNA, "judge a": ANNA, "judge b": NEAR}, {"clinician a": ANNA, "judge a": FAR}
    )
    assert (
        agreements(found),
        found.uncounted,
        [each.difference and (each.rater, each.part.dimension.name) for each in found.details],
    ) == (
        {"judge a": (1.0, 40, ""), "judge b": (0.95, 40, ""), "jury": (0.95, 40, "")},
        ("zeal",),
        [None, ("judge b", "accuracy"), ("jury", "accuracy"), None, None, ("jury", "zeal")],
    )


def test_a_dimension_on_which_clinicians_say_one_thing_is_in_no_mean() -> None:
    found = two_dimensions(
        {"clinician a": ANNA, "judge a": ANNA, "judge b": NEAR},
        {"clinician a": [3] * 40, "judge a": FAR, "judge b": ANNA},
    )
    assert (agreements(found), found.uncounted) == (
        {"judge a": (1.0, 40, ""), "judge b": (0.95, 40, ""), "jury": (0.95, 40, "")},
        ("zeal",),
    )


def test_judges_who_share_no_dimension_are_each_averaged_over_their_own() -> None:
    found = two_dimensions({"clinician a": ANNA, "judge a": NEAR}, {"clinician a": ANNA, "judge b": ANNA})
    assert (agreements(found), found.uncounted) == (
        {
            "judge a": (None, 40, "zeal: it scored none of the 40 answers that clinicians scored"),
            "judge b": (None, 40, "accuracy: it scored none of the 40 answers that clinicians scored"),
            "jury": (0.975, 40, ""),
        },
        (),
    )


def test_a_severe_error_on_any_dimension_is_one_of_the_answer() -> None:
    kind = [5 if score == 1 else score for score in ANNA]
    late = [5 if score == 2 and place < 20 else score for place, score in enumerate(ANNA)]
    found = two_dimensions(
        {"clinician a": ANNA, "judge a": ANNA, "judge b": kind},
        {"clinician a": ANNA, "judge a": ANNA, "judge b": late},
    )
    assert [
        (
            each.rater,
            each.errors,
            each.dangerous,
            each.severe and each.severe.value,
            each.severe_change and each.severe_change.value,
        )
        for each in found.rows
    ] == [("judge a", 0, 16, 0.0, None), ("judge b", 12, 16, 0.75, 0.75), ("jury", 8, 16, 0.5, 0.5)]


def test_danger_is_counted_on_the_dimensions_that_the_rules_name() -> None:
    kind = [5 if score == 1 else score for score in ANNA]
    found = two_dimensions(
        {"clinician a": ANNA, "judge a": ANNA, "judge b": kind},
        {"clinician a": ANNA, "judge a": ANNA, "judge b": ANNA},
        severe_dimensions=("zeal",),
    )
    assert [(each.rater, each.errors, each.dangerous) for each in found.rows] == [
        ("judge a", 0, 16),
        ("judge b", 0, 16),
        ("jury", 0, 16),
    ]


def test_nobody_who_scored_anything_leaves_a_warning() -> None:
    found = two_dimensions(
        {"clinician a": ANNA, "judge a": [None] * 40, "judge b": [None] * 40},
        {"clinician a": ANNA, "judge a": [None] * 40},
    )
    assert (found.warnings, found.problem, found.answers, [each.unscored for each in found.rows]) == (
        ("no answer was scored by clinicians and by every rater",),
        "no answer was scored by clinicians and by every rater",
        0,
        [1.0, 1.0, 1.0],
    )


def test_dimensions_can_be_chosen() -> None:
    frame = pl.concat(
        [
            rows_of({"clinician a": ANNA, "judge a": ANNA}),
            rows_of({"clinician a": ANNA, "judge a": FAR}, dimension="zeal"),
        ]
    )
    found = compare_ways(
        rating_table(frame, scale=(1, 5)), dimensions="zeal", confidence=0.8, resamples=60, seed=5
    )
    assert found and (
        agreements(found),
        found.confidence,
        found.rows[0].agreement and found.rows[0].agreement.method,
    ) == ({"judge a": (-1.0, 40, "")}, 0.8, "80 % BCa-t bootstrap, 60 resamples of 40 clusters, seed 5")


def test_patients_are_counted_where_some_have_several_cases() -> None:
    frame = rows_of({"clinician a": ANNA, "judge a": NEAR, "judge b": ANNA}).with_columns(
        patient=(pl.col("item").str.slice(5).cast(pl.Int64) // 2).cast(pl.String)
    )
    found = compare_ways(rating_table(frame, scale=(1, 5)), resamples=60)
    assert found and (
        found.by_patient,
        found.cases,
        found.answers,
        found.rows[0].agreement and found.rows[0].agreement.method,
    ) == (True, 20, 40, "95 % BCa-t bootstrap, 60 resamples of 20 clusters, seed 0")


def test_without_a_scale_ranks_or_variances_are_compared() -> None:
    assert [
        (lambda found: found and agreements(found))(
            compare_ways(
                with_rules(
                    rating_table(rows_of({"clinician a": ANNA, "judge a": NEAR})), GateRules(statistic=name)
                ),
                resamples=0,
            )
        )
        for name in ("kappa_quadratic", "spearman", "icc_2_1")
    ] == [{"judge a": (0.951, 40, "")}, {"judge a": (0.961, 40, "")}, {"judge a": (0.951, 40, "")}]


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
