"""Triage of a rating table, and the routine diagnosis seen through it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.special import expit
from tests.calibration.tables import rating_table

from medjury.calibration import routine_disagreement_of, triage_ratings
from medjury.errors import MedjuryError

JUDGES = {"one": -0.2, "two": 0.0, "three": 0.2}
FRAME = rating_table(cases=150, dimensions=("safety",), judges=JUDGES, instrument="diagnosis@1.0")


def test_the_table_is_ranked_with_curves_sets_and_decisions() -> None:
    found = triage_ratings(FRAME, reference=["panel"], decide_at=3, error=0.2, resamples=100)
    assert len(found.triage.order) == 300
    assert found.sets is not None
    assert found.automatic is not None
    assert found.sets.coverage.value == pytest.approx(0.9, abs=0.06)
    assert set(found.automatic.decisions.tolist()) <= {"pass", "fail", "refer"}
    assert "judge one" in found.triage.curves


def test_a_dimension_on_which_lower_is_better_is_turned_round() -> None:
    risk = FRAME.with_columns(score=6 - pl.col("score"), dimension=pl.lit("risk"))
    turned = triage_ratings(risk, reference=["panel"], resamples=0)
    plain = triage_ratings(FRAME, reference=["panel"], resamples=0)
    assert turned.reversed
    assert not plain.reversed
    assert turned.triage.priority == pytest.approx(plain.triage.priority)
    unnamed = risk.drop("instrument")
    asked = triage_ratings(unnamed, reference=["panel"], scale=(1, 5), high_is_dangerous=True, resamples=0)
    assert asked.triage.priority == pytest.approx(plain.triage.priority)


def test_without_a_reference_the_order_needs_no_label_and_decides_nothing() -> None:
    found = triage_ratings(FRAME.filter(pl.col("rater") != "panel"))
    assert found.triage.curves is None
    assert found.sets is None
    with pytest.raises(MedjuryError, match="automatic decisions need a reference"):
        triage_ratings(FRAME, judges=["one"], decide_at=3)


def test_several_dimensions_are_refused_until_one_is_named() -> None:
    frame = rating_table(dimensions=("accuracy", "clarity"))
    with pytest.raises(MedjuryError, match="triage is by one dimension; name one of accuracy, clarity"):
        triage_ratings(frame, reference=["panel"])


def ward_table() -> pl.DataFrame:
    """Judges' safety of three systems' answers against the ward diagnosis, and the panel's word on 90 of
    100."""
    generator = np.random.default_rng(1)
    rows = []
    for case in range(100):
        level = generator.uniform(1.5, 4.5)
        for system in ("a", "b", "c"):
            score = float(np.clip(np.round(level + generator.normal() / 2), 1, 5))
            rows.append((f"c{case}", system, "judge", "judge", "safety", score))
        if case < 90:
            wrong = float(generator.random() < expit(3 - 1.2 * level))
            rows.append((f"c{case}", "ward", "panel", "clinician", "ward_wrong", wrong))
    return pl.DataFrame(
        rows, schema=["item", "system", "rater", "rater_kind", "dimension", "score"], orient="row"
    )


def test_low_safety_against_the_ward_diagnosis_predicts_the_panels_disagreement() -> None:
    found = routine_disagreement_of(
        ward_table(), dimension="safety", panel_dimension="ward_wrong", reference=["panel"], scale=(1, 5)
    )
    assert (found.n, found.n_unknown) == (90, 10)
    assert found.slope.high < 0
    assert len(found.curve) == 41


def test_a_panel_without_a_word_or_with_two_is_refused() -> None:
    with pytest.raises(MedjuryError, match="no rater of panel has a score under 'ward'"):
        routine_disagreement_of(ward_table(), dimension="safety", panel_dimension="ward", reference=["panel"])
    twice = ward_table().filter(pl.col("dimension") == "ward_wrong").head(1)
    twice = twice.with_columns(score=1 - pl.col("score"), system=pl.lit("other"))
    with pytest.raises(MedjuryError, match="item 'c0': the panel both agrees and disagrees"):
        routine_disagreement_of(
            pl.concat([ward_table(), twice]),
            dimension="safety",
            panel_dimension="ward_wrong",
            reference=["panel"],
        )
