"""The share of supported claims against the clinicians' majority."""

from __future__ import annotations

from typing import Any

from tests.tables.run_folders import rows_of
from tests.validation.on_trial import on_trial

from medjury.report._sections.claims import share_curve


def yes_no(scores: dict[str, Any], *, known: dict[str, list[str]] | None = None) -> Any:
    return on_trial(rows_of(scores), scale=(0, 1), known=known)


def test_the_share_of_claims_is_held_against_the_clinicians_majority() -> None:
    evidence = yes_no(
        {"clinician a": [1, 0, 1, 0, 1, None, 1], "clinician b": [1, 0, 0, 0, 1, None, 1], "jury": [1] * 7}
    )
    curve = share_curve(
        evidence,
        "jury",
        "accuracy",
        {
            ("case 0", ""): [0.9, 0.7],
            ("case 1", ""): [0.8],
            ("case 2", ""): [1.0],
            ("case 3", ""): [0.1],
            ("case 4", ""): [0.6],
            ("case 5", ""): [1.0],
        },
        0.8,
    )
    assert curve and (
        curve.truth,
        [round(each, 6) for each in curve.shares],
        curve.without_share,
        curve.tied,
        curve.threshold,
        curve.rater,
        curve.dimension,
        curve.at(0.8),
        curve.at(0.81),
        curve.area.value,
    ) == (
        (1.0, 0.0, 0.0, 1.0),
        [0.8, 0.8, 0.1, 0.6],
        1,
        1,
        0.8,
        "jury",
        "accuracy",
        (1, 1, 1, 1),
        (0, 0, 2, 2),
        0.625,
    )


def test_patients_make_the_interval_of_the_area_wider_in_its_own_way() -> None:
    scores = [place % 2 for place in range(24)]
    shares = {
        (f"case {place}", ""): [0.2 + 0.2 * (place % 2) + 0.03 * (place * 7 % 11)] for place in range(24)
    }
    made = [
        share_curve(
            yes_no({"clinician a": scores, "jury": scores}, known=known), "jury", "accuracy", shares, 0.5
        )
        for known in (None, {"patient": [str(place // 2) for place in range(24)]})
    ]
    assert [
        each
        and (
            each.area.n,
            each.area.method,
            round(each.area.value or 0, 4),
            each.area.low and round(each.area.low, 3),
        )
        for each in made
    ] == [
        (24, "95 % DeLong on the logit scale", 0.9306, 0.759),
        (24, "95 % BCa-t bootstrap, 2000 resamples of 12 clusters, seed 0", 0.9306, 0.749),
    ]


def test_a_dimension_of_more_grades_or_without_clinicians_or_shares_has_no_curve() -> None:
    assert [
        share_curve(evidence, "jury", name, shares, 0.5)
        for evidence, name, shares in (
            (on_trial({"clinician a": [1, 2], "jury": [1, 2]}), "accuracy", {("case 0", ""): [1.0]}),
            (yes_no({"jury": [1, 0]}), "accuracy", {("case 0", ""): [1.0]}),
            (yes_no({"clinician a": [1, 0], "jury": [1, 0]}), "other", {("case 0", ""): [1.0]}),
            (yes_no({"clinician a": [1, 0], "jury": [1, 0]}), "accuracy", {}),
        )
    ] == [None, None, None, None]


def test_the_curve_has_the_confidence_of_the_evidence() -> None:
    scores = [place % 2 for place in range(24)]
    shares = {
        (f"case {place}", ""): [0.2 + 0.2 * (place % 2) + 0.03 * (place * 7 % 11)] for place in range(24)
    }
    evidence = on_trial({"clinician a": scores, "jury": scores}, scale=(0, 1), confidence=0.8)
    curve = share_curve(evidence, "jury", "accuracy", shares, 0.5)
    assert curve is not None and curve.area.method == "80 % DeLong on the logit scale"
