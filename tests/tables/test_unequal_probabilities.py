"""A table whose answers were drawn with unequal probabilities is weighted, or refused in words; never neither."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from medjury.analysis.agreement import agreement, agreement_by_repeat, rater_pairs
from medjury.analysis.audits import audit
from medjury.analysis.calibration import calibrate, routine_disagreement, simulate_jury, triage
from medjury.analysis.ranking import rank
from medjury.foundation.errors import MedjuryError
from medjury.tables import RatingTable, rating_table
from medjury.validation import against_panel, compare_ways

ANSWERS = 120


def drawn_table(
    probabilities: Callable[[int], float | None], raters: tuple[str, ...] = ("ann",)
) -> RatingTable:
    """Judges scored every answer; clinicians those that come up, with the probability that each was drawn with."""
    generator = np.random.default_rng(4)
    rows: list[tuple[Any, ...]] = []
    for number in range(ANSWERS):
        truth = int(generator.integers(1, 6))
        key = (f"case {number // 2}", f"system {number % 2}")
        for judge in ("j1", "j2"):
            score = float(np.clip(truth + generator.integers(-1, 2), 1, 5))
            rows.append((*key, judge, "judge", "accuracy", score, None))
        for rater in raters:
            score = float(np.clip(truth + generator.integers(-1, 2), 1, 5))
            if truth <= 2 or number % 3 == 0:
                probability = probabilities(truth)
                rows.append((*key, rater, "clinician", "accuracy", score, probability))
    names = ["item", "system", "rater", "rater_kind", "dimension", "score", "probability"]
    schema = {name: pl.Float64 if name in ("score", "probability") else pl.String for name in names}
    return rating_table(pl.DataFrame(rows, schema=schema, orient="row"), scale=(1, 5))


UNEQUAL = drawn_table(lambda truth: 1.0 if truth <= 2 else 1 / 3)
EQUAL = drawn_table(lambda truth: 0.4)
NEVER = drawn_table(lambda truth: None)


def test_a_table_knows_whose_probabilities_differ() -> None:
    assert UNEQUAL.unequal == {"ann": (pytest.approx(1 / 3), 1.0)}
    assert EQUAL.unequal == {} == NEVER.unequal


def test_a_missing_probability_is_one_and_differs_from_others() -> None:
    assert set(drawn_table(lambda truth: None if truth <= 2 else 0.5).unequal) == {"ann"}


REFUSING: dict[str, Callable[[RatingTable], object]] = {
    "calibrate": calibrate,
    "triage": triage,
    "rank": rank,
    "rater_pairs": rater_pairs,
    "agreement_by_repeat": agreement_by_repeat,
    "simulate_jury": simulate_jury,
    "audit": audit,
    "compare_ways": compare_ways,
    "against_panel": lambda table: against_panel(table, second_panel="j1"),
    "routine_disagreement": lambda table: routine_disagreement(table, routine="accuracy"),
    "reference_scores": lambda table: table.reference_scores(table.grid("accuracy")),
    "danger_word": lambda table: table.danger_word(
        table.grid("accuracy"), table.dimension("accuracy"), table.clinicians
    ),
}


@pytest.mark.parametrize("name", REFUSING)
def test_what_does_not_weight_says_so_instead_of_a_number(name: str) -> None:
    with pytest.raises(MedjuryError, match="'ann' rated were drawn with unequal probabilities"):
        REFUSING[name](UNEQUAL)


@pytest.mark.parametrize("name", REFUSING)
def test_that_another_analysis_weighted_is_no_leave(name: str) -> None:
    if name in ("reference_scores", "danger_word"):
        return  # these are asked of the table itself, by whoever weights
    with pytest.raises(MedjuryError, match="unequal probabilities"):
        REFUSING[name](UNEQUAL.with_weights)


def test_equal_probabilities_change_nothing() -> None:
    stated, plain = (agreement(table, resamples=100).to_json() for table in (EQUAL, NEVER))
    assert stated == plain


def test_agreement_weights_what_it_can_and_leaves_the_rest_undefined() -> None:
    found = agreement(UNEQUAL, raters="jury", resamples=100)
    plain = agreement(NEVER, raters="jury", resamples=100)
    assert found.find("offset").estimate.value != plain.find("offset").estimate.value
    assert "weighted by 1/probability" in found.find("kappa_quadratic").estimate.method
    assert "are worth" in found.find("kappa_quadratic").estimate.method
    undefined = {row.statistic for row in found.rows if "unequal probabilities" in row.estimate.reason}
    assert {"icc_2_1", "krippendorff_alpha_ordinal", "gwet_ac1", "wilcoxon_signed_rank"} <= undefined
    assert any("unequal probabilities" in warning for warning in found.warnings)


@pytest.mark.parametrize("whole", [True, False])
def test_weighted_kappa_is_that_of_scikit_learn_with_sample_weights(whole: bool) -> None:
    """With the jury's scores of all answers the weights of each score add up to all that have it; where only the
    answers that were read are there, they stay one over the probability."""
    metrics = pytest.importorskip("sklearn.metrics")
    rows = UNEQUAL.rows.drop("row", "cluster")
    read = rows.filter(pl.col("rater") == "ann").select("item", "system")
    table = UNEQUAL if whole else rating_table(rows.join(read, on=["item", "system"]), scale=(1, 5))
    found = agreement(table, raters="j1", resamples=0).find("kappa_quadratic").estimate.value
    grid = table.with_weights.grid("accuracy")
    both = ~np.isnan(grid.scores["ann"])
    said, weights = grid.scores["j1"], np.where(both, 1 / grid.drawn["ann"], 0.0)
    if whole:
        # Ten cases or more were read of each of the lower scores; 4 and 5 have fewer, and go together.
        strata = np.minimum(said, 4)
        for each in np.unique(strata):
            weights[strata == each] *= (strata == each).sum() / weights[strata == each].sum()
    direct = metrics.cohen_kappa_score(
        grid.scores["ann"][both],
        said[both],
        labels=[1, 2, 3, 4, 5],
        weights="quadratic",
        sample_weight=weights[both],
    )
    assert found == pytest.approx(direct)


def test_raters_of_two_reviews_are_not_one_reference() -> None:
    two = drawn_table(lambda truth: 1.0 if truth <= 2 else 0.5, ("ann", "bob"))
    rows = two.rows.with_columns(
        probability=pl.when(pl.col("rater") == "bob").then(None).otherwise(pl.col("probability"))
    ).drop("row", "cluster")
    mixed = rating_table(rows, scale=(1, 5))
    with pytest.raises(MedjuryError, match="no probability to weight by"):
        agreement(mixed, resamples=0)
    assert (
        agreement(mixed, reference="ann", raters="j1", resamples=0).find("offset").estimate.value is not None
    )


def test_one_answer_has_one_probability_for_a_rater() -> None:
    rows = [("a", "ann", "accuracy", 3, 0.5), ("a", "ann", "clarity", 3, 0.4)]
    names = ["item", "rater", "dimension", "score", "probability"]
    with pytest.raises(MedjuryError, match="two probabilities"):
        rating_table(pl.DataFrame(rows, schema=names, orient="row"))


@pytest.mark.parametrize("wrong", [0.0, 1.2, -1.0])
def test_a_probability_that_is_none_is_refused_with_its_row(wrong: float) -> None:
    rows = [("a", "ann", "accuracy", 3, 0.5), ("b", "ann", "accuracy", 3, wrong)]
    names = ["item", "rater", "dimension", "score", "probability"]
    with pytest.raises(MedjuryError, match=r"row 2.*not above 0 and at most 1"):
        rating_table(pl.DataFrame(rows, schema=names, orient="row"))
