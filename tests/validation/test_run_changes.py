"""What changed between two runs, number by number, on scores that can be worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from tests.tables.run_folders import rows_of

from medjury.store.runs import GateRules, Manifest
from medjury.tables import RatingTable, rating_table, with_rules
from medjury.tables._rating_table import RunDetails
from medjury.validation import RunComparison, compare_runs

ANNA = [1 + place % 5 for place in range(40)]
NEAR = [min(5, score + (place % 4 == 0)) for place, score in enumerate(ANNA)]
KIND = [min(5, score + 1) for score in ANNA]
STRICT = [max(1, score - 1) for score in ANNA]
UP_TWO = [min(5, score + 2) for score in ANNA]


def table(
    scores: Mapping[str, Sequence[float | None]], *, scale: Any = (1, 5), patients: int = 0, **rules: Any
) -> RatingTable:
    frame = rows_of(scores)
    if patients:
        number = pl.col("item").str.slice(5).cast(pl.Int64) // patients
        frame = frame.with_columns(patient=number.cast(pl.String))
    return with_rules(
        rating_table(frame, scale=scale), GateRules(**{"severe_dimensions": ("accuracy",), **rules})
    )


def changes(first: RatingTable, second: RatingTable, **settings: Any) -> list[tuple[Any, ...]]:
    """(what, first, second, difference, low, high, n), all to three decimals."""

    def short(value: float | None) -> float | None:
        return None if value is None else round(value, 3) + 0.0

    return [
        (
            row.what,
            short(row.first.value),
            short(row.second.value),
            short(row.difference.value),
            short(row.difference.low),
            short(row.difference.high),
            row.difference.n,
        )
        for row in compare_runs(first, second, resamples=200, **settings).rows
    ]


def compared(first: RatingTable, second: RatingTable) -> RunComparison:
    return compare_runs(first, second, resamples=60)


def test_a_kinder_second_run_is_told_on_every_number() -> None:
    assert changes(
        table({"clinician a": ANNA, "jury": NEAR}), table({"clinician a": ANNA, "jury": KIND})
    ) == [
        ("mean score", 3.2, 3.8, 0.6, 0.441, 0.759, 40),
        ("RMSE against clinicians", 0.447, 0.894, 0.447, 0.3, 0.606, 40),
        ("offset against clinicians", 0.2, 0.8, 0.6, 0.441, 0.759, 40),
        ("size of the offset", 0.2, 0.8, 0.6, None, None, 40),
        ("ICC(2,1) with clinicians", 0.951, 0.804, -0.147, -0.207, -0.096, 40),
        ("weighted kappa with clinicians", 0.95, 0.8, -0.15, -0.211, -0.098, 40),
        ("rate of severe errors", 0.0, 0.0, 0.0, -0.206, 0.206, 16),
    ]


def test_offsets_that_lie_on_two_sides_of_zero_differ_in_size_by_less_than_in_sign() -> None:
    assert [
        row
        for row in changes(
            table({"clinician a": ANNA * 5, "jury": STRICT * 5}),
            table({"clinician a": ANNA * 5, "jury": UP_TWO * 5}),
        )
        if "offset" in row[0]
    ] == [
        ("offset against clinicians", -0.8, 1.4, 2.2, 2.095, 2.32, 200),
        ("size of the offset", 0.8, 1.4, 0.6, 0.457, 0.79, 200),
    ]


def test_where_an_offset_may_lie_on_either_side_of_zero_its_change_in_size_has_no_interval() -> None:
    level = [score + (place % 4 == 0) - (place % 4 == 1) for place, score in enumerate([3, 4, 3, 4] * 10)]
    rows = compare_runs(
        table({"clinician a": [3, 4, 3, 4] * 10, "jury": level}),
        table({"clinician a": [3, 4, 3, 4] * 10, "jury": [5, 4, 4, 4] * 10}),
        resamples=200,
    ).rows
    size, signed = (
        next(row.difference for row in rows if row.what == what)
        for what in ("size of the offset", "offset against clinicians")
    )
    assert (size.value, size.low, size.high) == (0.75, None, None)
    assert size.method == (
        "no interval: an offset may lie on either side of zero; the change of the offset has one"
    )
    assert signed.low < signed.value < signed.high


@pytest.mark.parametrize(
    ("human", "one", "two", "offset", "size"),
    [
        (
            [3, 4, 5],
            [2, 3, 4, 2, 3, 3],
            [2, 2, 3, 1, 3, 4],
            (-1.167, -1.5, -0.333, -0.435, -0.219),
            (1.167, 1.5, 0.333, 0.219, 0.435),
        ),
        (
            [3, 2, 1],
            [4, 3, 2, 4, 3, 3],
            [4, 4, 3, 5, 3, 2],
            (1.167, 1.5, 0.333, 0.232, 0.435),
            (1.167, 1.5, 0.333, 0.232, 0.435),
        ),
    ],
    ids=["surely below zero, mirrored", "surely above zero"],
)
def test_an_offset_that_is_surely_on_one_side_changes_in_size_as_it_does_or_mirrored(
    human: list[int], one: list[int], two: list[int], offset: tuple[float, ...], size: tuple[float, ...]
) -> None:
    first, second = (table({"clinician a": human * 70, "jury": scores * 35}) for scores in (one, two))
    assert [row for row in changes(first, second) if "offset" in row[0]] == [
        ("offset against clinicians", *offset, 210),
        ("size of the offset", *size, 210),
    ]


@pytest.mark.parametrize(
    ("size", "of_a_patient", "said"),
    [
        (200, 0, ""),
        (199, 0, "no interval: 199 answers are too few, at least 200 are needed"),
        (210, 7, ""),
        (203, 7, "no interval: 29 cases are too few, at least 30 are needed"),
    ],
)
def test_the_change_in_size_of_an_offset_needs_thirty_cases_and_two_hundred_answers(
    size: int, of_a_patient: int, said: str
) -> None:
    one, two = (
        table({"clinician a": (ANNA * 6)[:size], "jury": (jury * 6)[:size]}, patients=of_a_patient)
        for jury in (KIND, UP_TWO)
    )
    (row,) = [each for each in compared(one, two).rows if each.what == "size of the offset"]
    assert row.difference.value is not None and (row.difference.low is None) == bool(said)
    assert row.difference.method.startswith(said)


def test_severe_errors_are_compared_on_the_dangerous_answers_that_both_scored() -> None:
    late = [4 if place < 10 and score == 1 else score for place, score in enumerate(ANNA)]
    both = compared(table({"clinician a": ANNA, "jury": ANNA}), table({"clinician a": ANNA, "jury": late}))
    assert [
        (row.what, row.first.method, row.second.method, row.difference.value)
        for row in both.rows
        if "severe" in row.what
    ] == [("rate of severe errors", "0 of 16", "2 of 16", 0.125)]


def test_where_no_danger_is_claimed_no_severe_errors_are_compared() -> None:
    one, two = (
        table({"clinician a": ANNA, "jury": scores}, severe_dimensions=())
        for scores in (ANNA, [4] * len(ANNA))
    )
    found = compared(one, two)
    assert not [row for row in found.rows if "severe" in row.what] and found.rows
    assert not [each for each in found.warnings if "dangerous" in each]


def test_the_least_gap_of_a_severe_error_is_an_error_and_less_is_none() -> None:
    assert [
        compared(
            table({"clinician a": [2] * 12, "jury": [2] * 12}),
            table({"clinician a": [2] * 12, "jury": [said] * 12}),
        )
        .rows[-1]
        .second.method
        for said in (3.99, 4.0)
    ] == ["0 of 12", "12 of 12"]


@pytest.mark.parametrize(
    ("first", "second", "scale", "left_out"),
    [
        ({"clinician a": ANNA, "jury": NEAR}, {"clinician a": ANNA, "jury": KIND}, (1, 5), 0),
        # Clinicians of one run count for both.
        ({"clinician a": ANNA, "jury": NEAR}, {"judge a": KIND}, (1, 5), 0),
        # Where they saw no danger there is no rate of severe errors, and without a scale no kappa either.
        (
            {"clinician a": [3, 4, 5] * 5, "jury": [3, 4, 5] * 5},
            {"clinician a": [3, 4, 5] * 5, "jury": [4, 4, 5] * 5},
            *((1, 5), 1),
        ),
        ({"clinician a": ANNA, "jury": NEAR}, {"clinician a": ANNA, "jury": KIND}, None, 2),
    ],
)
def test_what_can_be_compared_is(
    first: dict[str, list[int]], second: dict[str, list[int]], scale: Any, left_out: int
) -> None:
    whats = [
        *("mean score", "RMSE against clinicians", "offset against clinicians", "size of the offset"),
        *("ICC(2,1) with clinicians", "weighted kappa with clinicians", "rate of severe errors"),
    ]
    found = compared(table(first, scale=scale), table(second, scale=scale))
    assert [row.what for row in found.rows] == whats[: len(whats) - left_out]


def test_without_clinicians_only_the_scores_are_compared() -> None:
    assert [
        (row.what, round(row.difference.value or 0, 6))
        for row in compared(table({"judge a": ANNA}), table({"judge a": NEAR})).rows
    ] == [("mean score", 0.2)]


def test_nothing_that_both_scored_is_a_comparison_of_nothing() -> None:
    found = compared(
        table({"clinician a": ANNA[:4], "jury": [1, 2, None, None]}),
        table({"clinician a": ANNA[:4], "jury": [None, None, 3, 4]}),
    )
    assert [
        (
            row.dimension,
            row.what,
            row.first.reason,
            row.difference.reason,
            row.difference.n,
            row.difference.method,
        )
        for row in found.rows
    ] == [
        (
            "accuracy",
            "mean score",
            "no answer was scored in both runs",
            "no answer was scored in both runs",
            0,
            "none",
        )
    ]


def test_what_must_be_read_first_is_said_of_each_run() -> None:
    first = table(
        {"clinician a": ANNA, "jury": [None if place < 2 else score for place, score in enumerate(ANNA)]}
    )
    second = table(
        {
            "clinician a": [2, *ANNA[1:]],
            "jury": [None if place == 5 else score for place, score in enumerate(ANNA)],
        }
    )
    assert compared(first, second).warnings == (
        "accuracy: 3 answers were scored in one run only and are left out",
        (
            "accuracy: dangerous answers left without a score: A 2 of 16 and B 1 of 16; the rate "
            "of severe errors below is of answers that both scored"
        ),
    )


def test_an_answer_on_which_clinicians_changed_their_mind_counts_for_no_agreement() -> None:
    found = compared(
        table({"clinician a": ANNA, "jury": NEAR}), table({"clinician a": [2, *ANNA[1:]], "jury": KIND})
    )
    assert [(row.what, row.difference.n) for row in found.rows[:3]] == [
        ("mean score", 40),
        ("RMSE against clinicians", 39),
        ("offset against clinicians", 39),
    ]
    assert any("rate 1 answers differently" in each for each in found.warnings)


def test_development_cases_of_either_run_are_in_no_change() -> None:
    found = compared(
        table({"clinician a": ANNA, "jury": NEAR}, development_cases=("case 1", "case 2", "gone")),
        table({"clinician a": ANNA, "jury": KIND}, development_cases=("case 3",)),
    )
    assert (found.warnings, found.rows[0].difference.n) == (
        (
            (
                "3 cases that served development in either run (tuning, examples) are left out of "
                "all changes: agreement on them proves nothing"
            ),
        ),
        37,
    )


def test_scales_that_differ_are_not_compared() -> None:
    found = compared(
        table({"clinician a": ANNA, "jury": NEAR}), table({"clinician a": ANNA, "jury": KIND}, scale=(0, 5))
    )
    assert (found.warnings, found.rows) == (
        ("accuracy: the scales differ, so the scores are not compared",),
        (),
    )


def two_dimensions() -> RatingTable:
    rows = [rows_of({"clinician a": ANNA, "jury": NEAR}, dimension=name) for name in ("accuracy", "zeal")]
    return with_rules(rating_table(pl.concat(rows), scale=(1, 5)), GateRules())


def test_a_dimension_of_one_run_only_is_named() -> None:
    more, one = two_dimensions(), table({"clinician a": ANNA, "jury": NEAR})
    assert compared(more, one).warnings == ("only A has zeal",)
    assert compared(one, more).warnings == ("only B has zeal",)


def test_verdicts_and_coverage_stand_side_by_side() -> None:
    shy = [None if place < 10 else score for place, score in enumerate(ANNA)]
    found = compared(two_dimensions(), table({"clinician a": ANNA, "jury": shy}))
    assert found.first == found.second == "ratings of no run folder"
    assert found.verdicts == (
        ("accuracy", "NOT VALIDATED", "NOT VALIDATED"), ("zeal", "NOT VALIDATED", "not judged")
    )  # fmt: skip
    assert found.coverage == (("accuracy", "100.0 %", "75.0 %"),)


def test_patients_are_resampled_whole_and_confidence_and_seed_are_as_asked() -> None:
    for patients, clusters in ((0, 40), (2, 20)):
        one, two = (table({"clinician a": ANNA, "jury": jury}, patients=patients) for jury in (NEAR, KIND))
        found = compare_runs(one, two, resamples=60, seed=4, confidence=0.9)
        assert (found.by_patient, found.confidence) == (bool(patients), 0.9)
        said = f"90 % BCa-t bootstrap, 60 resamples of {clusters} clusters, seed 4"
        assert {row.difference.method for row in found.rows[:3]} == {said}


def test_a_constant_jury_has_no_correlation_to_compare() -> None:
    found = compared(
        table({"clinician a": ANNA, "jury": [3] * 40}), table({"clinician a": ANNA, "jury": ANNA})
    )
    assert [
        (row.what, row.first.reason, row.first.method, row.difference.reason)
        for row in found.rows
        if row.first.value is None
    ] == [
        (
            "weighted kappa with clinicians",
            "a rater does not vary",
            "as observed",
            "second kappa_quadratic or first kappa_quadratic does not exist for these data",
        )
    ]


def of_run(**manifest: Any) -> RatingTable:
    run = RunDetails(manifest=Manifest.model_validate(manifest))
    return replace(table({"clinician a": ANNA, "jury": NEAR}), run=run)


def test_a_run_is_titled_by_its_name_and_how_it_ended() -> None:
    found = compared(
        of_run(run="morning@1", status="complete", finished_at="2026-01-01"),
        of_run(run="evening@1", status="failed", why="no room", data_hash="ab"),
    )
    assert found.first == "morning@1 (complete, finished 2026-01-01)"
    assert found.second == "evening@1 (failed, finished never)"
    said = "the runs judged different data: only cases with the same name are compared, on trust"
    assert found.warnings == (said,)


def test_what_two_runs_state_otherwise_is_listed() -> None:
    one, two = (
        of_run(medjury="1", calls=3, cost=0.123456, redacted=True),
        of_run(medjury="2", calls=4, prompt_version="7"),
    )
    assert compared(one, two).settings == (
        ("medjury", "1", "2"),
        ("prompt", "", "7"),
        ("redacted", "True", "False"),
        ("calls", "3", "4"),
        ("cost", "0.1235", "not known"),
    )
