"""The metrics of a study beside its clinicians' labels: the numbers of `medjury metrics --label`."""

from __future__ import annotations

import polars as pl
import pytest

from medjury.foundation.errors import MedjuryError
from medjury.tables import rating_table
from medjury.texts.metrics import meta_evaluate, metrics_beside_labels

LABELS = [0, 0, 2, 2, 1, 0, 2, 1]
RATES = [0.1, 0.2, 0.5, 0.9, 0.4, 0.0, None, 0.3]


def ratings(second: list[int] | None = None) -> pl.DataFrame:
    rows = [(f"c{n}", "dr", "clinician", label) for n, label in enumerate(LABELS)]
    rows += [(f"c{n}", "dr two", "clinician", label) for n, label in enumerate(second or [])]
    rows += [(f"c{n}", "wer", "metric", rate) for n, rate in enumerate(RATES)]
    frame = pl.DataFrame(rows, schema=["item", "rater", "rater_kind", "score"], orient="row", strict=False)
    return frame.with_columns(dimension=pl.lit("impact"), instrument=pl.lit("transcript_impact"))


def test_enrichment_by_hand_and_undefined_pairs_told() -> None:
    """WER turned so that higher is better: mean(0.5, 0.1) at label 2 less mean(0.9, 0.8, 1.0) at label 0."""
    (row,) = metrics_beside_labels(ratings(), resamples=200).rows
    assert row.enrichment.value == pytest.approx(0.3 - 0.9)
    assert (row.n_undefined, row.n_undecided) == (1, 0)
    same = ["metric", "enrichment", "enrichment_low", "enrichment_high", "kendall_tau_b", "kendall_tau_b_low",
            "kendall_tau_b_high", "aligned", "n"]  # fmt: skip
    assert [*row.as_dict()] == ["dimension", *same, "n_undefined", "n_undecided"]
    expected = meta_evaluate(
        {"wer": RATES}, LABELS, clusters=[f"c{n}" for n in range(8)], resamples=200
    ).rows[0]
    assert row.kendall_tau_b.value == expected.kendall_tau_b.value
    assert [*expected.as_dict()] == [*same, "undefined"]


def test_an_answer_on_which_clinicians_differ_has_no_label() -> None:
    other = [1, *LABELS[1:]]
    found = metrics_beside_labels(ratings(other), resamples=200)
    (row,), (shown,) = found.rows, found.shown_rows()
    assert (row.n_undecided, shown["dimension"], shown["undecided"]) == (1, "impact", 1)
    assert row.enrichment.value == pytest.approx(0.3 - (0.8 + 1.0) / 2)


def test_without_metrics_there_is_nothing_to_hold_against_labels() -> None:
    frame = ratings().filter(pl.col("rater_kind") != "metric")
    judged = frame.with_columns(rater=pl.lit("judge"), rater_kind=pl.lit("judge"))
    with pytest.raises(MedjuryError, match=r"no text metrics|no rater is left"):
        metrics_beside_labels(rating_table(pl.concat([frame, judged])))
