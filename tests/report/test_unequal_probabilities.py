"""A report of a review drawn by stated probabilities: it weights, says so, and shows nothing that does not."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from tests.calibration.test_review_queue import judged, with_clinicians

from medjury.report import write_page
from medjury.statistics import shown
from medjury.tables import rating_table
from medjury.validation import evidence_of, validate


def test_the_page_shows_the_weighted_numbers_and_leaves_the_others_out(tmp_path: Path) -> None:
    frame, grades = judged(200)
    rows = with_clinicians(frame, grades, 150).rows.drop("row", "cluster")
    drawn = rating_table(rows.with_columns(explanation=pl.lit("")), scale=(1, 5))
    write_page(tmp_path, evidence=evidence_of(drawn, resamples=200))
    page = (tmp_path / "report.html").read_text()
    assert "How the answers were drawn for review" in page and "left out of this report" in page
    assert 'id="confusion"' not in page and 'id="calibration"' not in page
    lines = {row.rule.id: row.rule for row in validate(drawn, resamples=200).rows}
    assert lines["offset"].value is not None and shown(lines["offset"].value) in page
    kappa = evidence_of(drawn, resamples=200).estimate("accuracy", "jury", "kappa_quadratic")
    assert kappa is not None and shown(kappa.value) in page and shown(kappa.low) in page
