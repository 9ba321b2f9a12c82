"""The share of supported claims against the clinicians' majority."""

from __future__ import annotations

from typing import Any

import pytest
from tests.tables.run_folders import rows_of
from tests.validation.on_trial import on_trial

from medjury.report._sections.claims import share_curve


def yes_no(scores: dict[str, Any], *, known: dict[str, list[str]] | None = None) -> Any:
    return on_trial(rows_of(scores), scale=(0, 1), known=known)


def test_the_share_of_claims_is_held_against_the_clinicians_majority() -> None:
    evidence = yes_no(
        {"clinician a": [1, 0, 1, 0, 1, None, 1], "clinician b": [1, 0, 0, 0, 1, None, 1], "jury": [1] * 7}
    )
    given = {0: [0.9, 0.7], 1: [0.8], 2: [1.0], 3: [0.1], 4: [0.6], 5: [1.0]}
    shares = {(f"case {place}", ""): own for place, own in given.items()}
    curve = share_curve(evidence, "jury", "accuracy", shares, 0.8)
    assert curve and (curve.rater, curve.dimension, curve.threshold) == ("jury", "accuracy", 0.8)
    assert curve.truth == (1.0, 0.0, 0.0, 1.0)
    assert curve.shares == pytest.approx((0.8, 0.8, 0.1, 0.6))
    assert (curve.without_share, curve.tied, curve.area.value) == (1, 1, 0.625)
    assert (curve.at(0.8), curve.at(0.81)) == ((1, 1, 1, 1), (0, 0, 2, 2))


SCORES = [place % 2 for place in range(24)]
SHARES = {(f"case {place}", ""): [0.2 + 0.2 * (place % 2) + 0.03 * (place * 7 % 11)] for place in range(24)}


def test_patients_make_the_interval_of_the_area_wider_in_its_own_way() -> None:
    pairs = {"patient": [str(place // 2) for place in range(24)]}
    for known, method, low in (
        (None, "95 % DeLong on the logit scale", 0.759),
        (pairs, "95 % BCa-t bootstrap, 2000 resamples of 12 clusters, seed 0", 0.749),
    ):
        evidence = yes_no({"clinician a": SCORES, "jury": SCORES}, known=known)
        made = share_curve(evidence, "jury", "accuracy", SHARES, 0.5)
        assert made and (made.area.n, made.area.method) == (24, method)
        assert (made.area.value, made.area.low) == pytest.approx((0.9306, low), abs=6e-4)


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
    evidence = on_trial({"clinician a": SCORES, "jury": SCORES}, scale=(0, 1), confidence=0.8)
    curve = share_curve(evidence, "jury", "accuracy", SHARES, 0.5)
    assert curve is not None and curve.area.method == "80 % DeLong on the logit scale"
