"""The tables that papers print: each where its data are, with the numbers that the command prints."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from tests.report.planted import planted_frame, record_lines, write_run

from medjury.cli import main
from medjury.report import write_page
from medjury.report._html import table_html
from medjury.statistics import Estimate

CASES = 48
GRADED = ("accuracy", "clarity")


def ratings() -> pl.DataFrame:
    """Two graded dimensions, one question of yes and no, a text metric, judges that were asked twice, and a
    clinician who rated the first ten cases again."""
    frame = planted_frame(cases=CASES, dimensions=GRADED, repeats=2, seed=5)
    asked = frame.filter(pl.col("dimension") == "clarity").with_columns(
        pl.lit("referral").alias("dimension"), (pl.col("score") > 3).cast(pl.Float64).alias("score")
    )
    of_clinician = (pl.col("rater") == "clinician-1") & (pl.col("dimension") == "accuracy")
    number = pl.col("item").str.slice(5).cast(pl.Int64)
    metric = frame.filter(of_clinician).with_columns(
        pl.lit("rouge_l").alias("rater"),
        pl.lit("metric").alias("rater_kind"),
        (pl.col("score") / 10 + 0.05 * (number % 4)).round(6).alias("score"),
    )
    again = frame.filter(of_clinician & (number < 10)).with_columns(
        pl.lit(1, dtype=pl.Int64).alias("repeat"), (6 - pl.col("score")).alias("score")
    )
    return pl.concat([frame, asked, metric, again])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    dimensions = [
        {
            "name": name,
            "label": name.capitalize(),
            "grades": [0, 1] if name == "referral" else [1, 2, 3, 4, 5],
        }
        for name in (*GRADED, "referral")
    ]
    instrument = {"name": "made", "version": "1", "fingerprint": "ab", "dimensions": dimensions}
    folder = write_run(tmp_path_factory.mktemp("paper") / "run", ratings(), instrument=instrument)
    write_page(folder)
    return folder


def lines(run: Path, name: str) -> list[dict[str, str]]:
    with (run / "tables" / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def line(run: Path, name: str, **where: str) -> dict[str, str]:
    (found,) = (each for each in lines(run, name) if all(each[key] == value for key, value in where.items()))
    return found


def told(run: Path, *words: str) -> Any:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        assert main([words[0], *(() if words[0] != "calibrate" else words[1:2]), str(run),
                     *words[1 if words[0] != "calibrate" else 2:], "--json"]) == 0  # fmt: skip
    return json.loads(out.getvalue())


def sides(rater: str, dimension: str) -> tuple[np.ndarray, np.ndarray]:
    """The clinicians' mean and the rater's score of every answer, put together from the rows alone."""
    rows = ratings().filter(pl.col("dimension") == dimension)
    means = rows.group_by("item", "rater", "rater_kind").agg(pl.col("score").mean()).sort("item")
    people = means.filter(pl.col("rater_kind") == "clinician").group_by("item").agg(pl.col("score").mean())
    both = means.filter(pl.col("rater") == rater).join(people, on="item", suffix="_people").sort("item")
    return both["score_people"].to_numpy(), both["score"].to_numpy()


def test_attributes_are_pooled_without_the_question(run: Path) -> None:
    found = line(run, "attributes", dimension="all graded dimensions, pooled", rater="judge-a")
    assert int(found["n"]) == len(GRADED) * CASES
    page = (run / "report.html").read_text()
    assert "not pooled, as yes/no questions are not grades: referral" in page
    said = told(run, "agreement", "--by", "all", "--statistics", "icc_3_k")
    row = next(row for row in said if (row["rater"], row["reference"]) == ("judge-a", "consensus"))
    assert (float(found["ICC(3,k)"]), float(found["ICC(3,k) low"])) == (row["value"], row["low"])


def test_the_reason_for_no_number_may_break_into_lines() -> None:
    reason = "the rater gave every item the same score, so that nothing can be said of its agreement"
    rows = [
        ("judge-a", Estimate(0.5, None, None, 10, "")),
        ("judge-b", Estimate(None, None, None, 10, "", reason)),
    ]
    page = table_html(("rater", "kappa"), rows, caption="Agreement")
    assert f'<td class="number reason">not defined: {reason}</td>' in page
    assert '<td class="number" data-value="0.5">0.500</td>' in page


def test_a_sentence_among_numbers_keeps_a_column_that_can_be_read() -> None:
    why = "The clinicians' ratings in this study were made up for a demonstration."
    page = table_html(("rater", "n", "why"), [("judge-a", 40, why)], caption="Verdicts")
    assert '<td class="prose">The clinicians' in page and '<td class="number" data-value="40">40</td>' in page


def test_a_text_metric_stands_beside_the_jury_by_its_order(run: Path) -> None:
    found = line(run, "agreement", dimension="Accuracy", rater="rouge_l")
    assert found["weighted kappa"] == found["offset"] == "" and found["Spearman's rho"]
    people, metric = sides("rouge_l", "accuracy")
    assert float(found["Spearman's rho"]) == pytest.approx(stats.spearmanr(people, metric).statistic)
    both = line(run, "standardised", dimension="Accuracy", rater="rouge_l")
    r = np.corrcoef(people, metric)[0, 1]
    assert float(both["averaged first"]) == pytest.approx(2 * r / (1 + r))
    humans = line(run, "standardised", dimension="Accuracy", rater="clinicians with one another")
    assert humans["pairs"] == "1 of 1 pairs of raters"
    said = told(run, "agreement", "--statistics", "icc_3_k_z_raters_first")
    row = next(row for row in said if row["rater"] == "rouge_l")
    assert (float(both["each rater first"]), float(both["each rater first low"])) == (
        row["value"],
        row["low"],
    )


def test_a_study_without_these_data_has_none_of_these_sections(tmp_path: Path) -> None:
    others = record_lines("of some kind", [{"kind": "of some kind"}] * 2)
    folder = write_run(tmp_path / "run", planted_frame(cases=30, clinicians={}), records=others)
    write_page(folder)
    page = (folder / "report.html").read_text()
    sections = set(re.findall(r'<section id="([^"]+)"', page))
    assert not sections & {
        "attributes", "classes", "second-panel", "errors", "claims", "deliberations", "adaptive", "closed-loop",
        "shortened", "preference",
    }  # fmt: skip
    assert not (folder / "tables" / "standardised.csv").exists()
