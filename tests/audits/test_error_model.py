"""The joint error model finds what was planted and nothing else."""

from __future__ import annotations

import polars as pl
import pytest
from tests.report.planted import planted_frame

from medjury.analysis.audits import error_model
from medjury.analysis.audits._text_effects import case_features
from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import Case, Note
from medjury.tables import rating_table


def planted(**changes: object) -> pl.DataFrame:
    """One judge is a grade too kind to the surgeons' answers."""
    frame = planted_frame(
        cases=60, systems=("alpha", "beta"), judges={"judge-a": 0.5, "judge-b": 0.5}, **changes
    )
    number = pl.col("item").str.slice(5).cast(pl.Int64)
    specialty = pl.when(number % 3 == 0).then(pl.lit("surgery")).otherwise(pl.lit("medicine"))
    kind = pl.when((pl.col("rater") == "judge-a") & (number % 3 == 0)).then(1.0).otherwise(0.0)
    return frame.filter(pl.col("rater_kind") != "jury").with_columns(
        specialty.alias("specialty"),
        (100 + number * 7 % 53).cast(pl.Float64).alias("length"),
        (pl.col("score") + kind).alias("score"),
    )


def test_a_planted_kindness_to_one_specialty_is_found_and_nothing_else() -> None:
    found = error_model(rating_table(planted(), scale=(1, 6)))
    effects = {(each.rater, each.group): each for each in found.rows if each.statistic == "error_effect"}
    kind = effects["judge-a", "specialty: surgery against medicine"]
    assert kind.verdict == "kinder" and kind.estimate.low < 1.0 < kind.estimate.high
    assert effects["judge-b", "specialty: surgery against medicine"].verdict == "not shown"
    assert ("judge-a", "system: beta against alpha") in effects
    assert ("judge-a", "length of the answer, per doubling") in effects
    assert kind.estimate.n == 60 * 2 * 3 * 2  # answers of two systems, three dimensions, two clinicians


def test_where_lower_is_better_too_low_is_too_kind() -> None:
    from dataclasses import replace

    table = rating_table(planted(), scale=(1, 6))
    turned = replace(
        table, dimensions=tuple(replace(each, higher_is_better=False) for each in table.dimensions)
    )
    up, down = (
        next(each for each in error_model(one).rows if each.rater == "judge-a" and "surgery" in each.group)
        for one in (table, turned)
    )
    assert down.estimate.value == pytest.approx(-up.estimate.value) and down.verdict == "stricter"


def test_without_clinicians_or_anything_known_it_says_so() -> None:
    with pytest.raises(MedjuryError, match="nothing is known about the answers except their systems"):
        error_model(rating_table(planted().drop("specialty", "length"), scale=(1, 6)))
    with pytest.raises(MedjuryError, match="an error needs clinicians"):
        error_model(rating_table(planted().filter(pl.col("rater_kind") == "judge"), scale=(1, 6)))


def test_words_of_notes_are_counted() -> None:
    case = Case("1", candidate="two words", notes=(Note("a", "three more words"), Note("b", "one")))
    features, _ = case_features([case], notes=True)
    assert features.select("length", "note_length").row(0) == (2.0, 4.0)
