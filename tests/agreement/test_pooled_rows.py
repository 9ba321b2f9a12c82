"""Pooled over attributes: which rows count, made from the design and not from the result."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from medjury.analysis.agreement import agreement, icc
from medjury.instruments import load_instrument
from medjury.tables import rating_table

INSTRUMENT = load_instrument("pdsqi9")
GRADED = [each.name for each in INSTRUMENT.dimensions if len(each.grades) > 2]
YES_OR_NO = [each.name for each in INSTRUMENT.dimensions if len(each.grades) == 2]
SUMMARIES, RATERS = 40, ("reader 1", "reader 2", "reader 3")


def study() -> tuple[pl.DataFrame, dict[str, np.ndarray]]:
    """Forty summaries on the whole instrument. Where a rater finds no abstraction needed, synthesis does not apply
    for that rater: the published design. `applies` tells where synthesis applies, rater by rater."""
    generator = np.random.default_rng(4)
    needed = generator.random(SUMMARIES) < 0.7
    truth = generator.integers(1, 6, (SUMMARIES, len(INSTRUMENT.dimensions)))
    rows, applies = [], {}
    for rater in (*RATERS, "judge"):
        applies[rater] = needed ^ (generator.random(SUMMARIES) < 0.15)
        for place, dimension in enumerate(INSTRUMENT.dimensions):
            for number in range(SUMMARIES):
                score = float(np.clip(truth[number, place] + generator.integers(-1, 2), 1, 5))
                if dimension.name in YES_OR_NO:
                    score = float(score > 3)
                if dimension.name == "abstraction":
                    score = float(applies[rater][number])
                absent = dimension.name == "synthesized" and not applies[rater][number]
                rows.append(
                    {
                        "item": f"summary {number}",
                        "rater": rater,
                        "rater_kind": "judge" if rater == "judge" else "clinician",
                        "dimension": dimension.name,
                        "instrument": "pdsqi9@1.1",
                        "score": None if absent else score,
                        "status": "not_applicable" if absent else "scored",
                    }
                )
    return pl.DataFrame(rows), applies


def expected(applies: dict[str, np.ndarray]) -> int:
    """Seven graded attributes of every summary, and synthesis where the judge and some reader scored it."""
    somebody = np.any([applies[rater] for rater in RATERS], axis=0)
    return (len(GRADED) - 1) * SUMMARIES + int((somebody & applies["judge"]).sum())


def test_the_instrument_has_eight_graded_attributes_and_three_questions() -> None:
    assert (len(GRADED), len(YES_OR_NO)) == (8, 3)


def test_a_row_is_an_answer_and_a_graded_attribute_that_both_scored() -> None:
    frame, applies = study()
    found = agreement(frame, by="all", consensus="median", resamples=0)
    row = found.find("icc_3_k", reference="consensus", rater="judge")
    assert row.estimate.n == expected(applies) < len(GRADED) * SUMMARIES
    assert any(
        f"not pooled, as yes/no questions are not grades: {', '.join(YES_OR_NO)}" in note
        for note in found.notes
    )


def test_the_pooled_coefficient_is_that_of_the_rows_put_together_by_hand() -> None:
    frame, _ = study()
    wide = frame.filter(pl.col("dimension").is_in(GRADED)).pivot(
        on="rater", index=["item", "dimension"], values="score", maintain_order=True
    )
    table = wide.select(*RATERS).to_numpy().astype(float)
    known = ~np.isnan(table).all(axis=1) & wide["judge"].is_not_null().to_numpy()
    rows = np.column_stack(
        [np.nanmedian(table[known], axis=1), wide["judge"].to_numpy()[known].astype(float)]
    )
    found = agreement(frame, by="all", consensus="median", resamples=0)
    row = found.find("icc_3_k", reference="consensus", rater="judge")
    assert row.estimate.value == pytest.approx(icc(rows, "icc_3_k", interval="none").value, abs=1e-12)


def test_questions_that_are_named_are_pooled() -> None:
    frame, applies = study()
    named = [*GRADED, "stigmatizing_summary"]
    found = agreement(frame, by="all", dimensions=named, consensus="median", resamples=0)
    row = found.find("icc_3_k", reference="consensus", rater="judge")
    assert row.estimate.n == expected(applies) + SUMMARIES
    assert not any("not pooled" in note for note in found.notes)


def test_questions_alone_are_pooled() -> None:
    frame, _ = study()
    questions = rating_table(frame.filter(pl.col("dimension").is_in(YES_OR_NO)))
    found = agreement(questions, by="all", resamples=0)
    assert (
        found.find("icc_3_k", reference="consensus", rater="judge").estimate.n == len(YES_OR_NO) * SUMMARIES
    )
