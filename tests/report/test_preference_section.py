"""Shares of preference count cases, not rows, and say who was asked about how many."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.report.planted import planted_frame, section_made, write_run

from medjury.report._exhibits import Exhibits
from medjury.report._sections.preference import preference

DIMENSIONS = [
    {"name": "concordant", "label": "Concordant", "grades": [0, 1], "higher_is_better": True},
    {"name": "preference", "label": "Preferred answer", "grades": [-1, 0, 1], "higher_is_better": True},
]


INSTRUMENT = {"name": "preference", "version": "1.0", "dimensions": DIMENSIONS}


def frame(cases: int, systems: tuple[str, ...] = ("a", "b"), seed: int = 3) -> pl.DataFrame:
    """Judges and clinicians on both dimensions; what is not concordant has no preference."""
    made = planted_frame(
        cases=cases, systems=systems, dimensions=("concordant", "preference"), judges={"j": 1.0}
    )
    made = made.filter(pl.col("rater_kind") != "jury")
    draw = np.random.default_rng(seed)
    keys = ["item", "system", "rater", "repeat"]
    verdicts = made.select(keys).unique(maintain_order=True)
    verdicts = verdicts.with_columns(
        pl.Series("agree", draw.random(verdicts.height) < 0.7),
        pl.Series("taste", draw.integers(-1, 2, verdicts.height).astype(float)),
    )
    asked = (pl.col("dimension") == "concordant") | pl.col("agree")
    return (
        made.join(verdicts, on=keys)
        .with_columns(
            pl.when(pl.col("dimension") == "concordant")
            .then(pl.col("agree").cast(pl.Float64))
            .when(pl.col("agree"))
            .then(pl.col("taste"))
            .alias("score"),
            pl.when(asked).then(pl.lit("scored")).otherwise(pl.lit("not_applicable")).alias("status"),
        )
        .drop("agree", "taste")
        .select(made.columns)
    )


def page(folder: Path, ratings: pl.DataFrame, **changes: Any) -> tuple[str, list[dict[str, str]]]:
    return section(write_run(folder, ratings, **{"instrument": INSTRUMENT, **changes}))


def section(run: Path) -> tuple[str, list[dict[str, str]]]:
    exhibits = Exhibits()
    body = section_made(run, preference, exhibits, 400)
    return body, list(csv.DictReader(io.StringIO(exhibits.tables.get("preference", ""))))


@pytest.mark.parametrize("systems", [("",), ("a", "b")])
def test_the_shares_are_those_of_the_table(tmp_path: Path, systems: tuple[str, ...]) -> None:
    ratings = frame(30, systems)
    _, rows = page(tmp_path, ratings)
    assert len(rows) == 3 * len(systems) and rows[0]["kind"] == "clinician"
    for row in rows:
        own = ratings.filter(pl.col("rater") == row["rater"], pl.col("system") == row.get("system", ""))
        taste = own.filter(pl.col("dimension") == "preference")["score"].drop_nulls()
        assert row["compared"] == str(len(taste)) and row["pairs"] == "30"
        assert float(row["answer preferred"]) == pytest.approx((taste == 1).mean())
        assert float(row["specialist preferred"]) == pytest.approx((taste == -1).mean())
        assert row["neither"] == str((taste == 0).sum())
        assert row["answer preferred method"] == "95 % Wilson score"


def test_rows_of_one_case_are_resampled_together(tmp_path: Path) -> None:
    once = frame(30, ("",))
    twice = pl.concat([once, once.with_columns(pl.col("repeat") + 1)])
    _, (single, *_) = page(tmp_path / "once", once.filter(pl.col("rater") == "j"))
    _, (double, *_) = page(tmp_path / "twice", twice.filter(pl.col("rater") == "j"))
    assert "clusters" in double["answer preferred method"]
    width = [
        float(row["answer preferred high"]) - float(row["answer preferred low"]) for row in (single, double)
    ]
    assert width[1] > 0.8 * width[0], "the same verdicts again make nothing more certain"


def test_cases_of_one_patient_are_resampled_together(tmp_path: Path) -> None:
    cases = frame(40, ("",)).filter(pl.col("rater") == "j")
    number = pl.col("item").str.extract(r"(\d+)").cast(pl.Int64)
    _, (alone, *_) = page(tmp_path / "alone", cases)
    run = write_run(tmp_path / "together", cases, instrument=INSTRUMENT)
    cases.with_columns((number % 8).cast(pl.String).alias("patient")).write_parquet(run / "ratings.parquet")
    _, (together, *_) = section(run)
    assert "clusters" not in alone["concordant method"] and "clusters" in together["concordant method"]
    assert alone["concordant"] == together["concordant"]


def test_another_instrument_has_no_such_section(tmp_path: Path) -> None:
    other = planted_frame(cases=5)
    assert page(tmp_path, other, instrument={"name": "note_quality", "version": "1.0"}) == ("", [])


def test_a_judge_that_was_not_asked_in_both_orders_is_said_so(tmp_path: Path) -> None:
    body, _ = page(tmp_path, frame(8))
    assert "No judge was asked in both orders" in body
