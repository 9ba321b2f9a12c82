"""Ranking from a rating table: the jury ranks, composites are no benchmarks, and a run folder needs no options."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.audits.run_folder import GRADES, write_run
from tests.ranking.tables import benchmark_table, rating_table

from medjury import tables
from medjury.analysis.calibration import calibrate
from medjury.analysis.ranking import rank
from medjury.analysis.ranking._ranked import ranked_by
from medjury.cli import main
from medjury.foundation.errors import MedjuryError


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("run"))


def jury_scores(run: Path, dimension: str, system: str) -> list[float]:
    rows = tables.rating_table(run).rows
    chosen = (pl.col("rater") == "jury") & (pl.col("dimension") == dimension) & (pl.col("system") == system)
    return rows.filter(chosen)["score"].to_list()


def test_a_composite_is_no_further_benchmark_and_a_risk_is_turned_around(run: Path) -> None:
    found = rank(run)
    assert found.benchmarks == ("accuracy", "risk") and found.raters == ("jury",)
    assert found.scale == "grades 1 to 5" and found.unit == "cases"
    assert [row.system for row in found.rows] == ["d", "c", "b", "a"]
    best = found.find(system="d")
    assert best.n == 2 * 29  # the development case is left out
    turned = 6 - np.mean(jury_scores(run, "risk", "d"))
    assert best.macro_average.value == pytest.approx(
        (np.mean(jury_scores(run, "accuracy", "d")) + turned) / 2
    )
    assert "300 resamples of 29 cases, seed 4" in best.macro_average.method


def test_what_follows_from_others_is_ranked_where_it_is_named(run: Path) -> None:
    found = rank(run, dimensions="total")
    assert found.benchmarks == ("total",) and found.scale == "scores as they are given"
    with pytest.raises(MedjuryError, match="the scale of 'total' is not known, and others have one"):
        rank(run, dimensions=["accuracy", "total"])


def test_scales_that_differ_become_shares(run: Path) -> None:
    wide = tables.rating_table(run, scale={"risk": tuple(range(11))})
    found = rank(wide)
    assert found.scale == "shares of each dimension's scale, 1 is best"
    accuracy = (np.mean(jury_scores(run, "accuracy", "c")) - 1) / 4
    risk = 1 - np.mean(jury_scores(run, "risk", "c")) / 10
    assert found.find(system="c").macro_average.value == pytest.approx((accuracy + risk) / 2)
    assert found.find(system="c").win_rate.value == rank(run).find(system="c").win_rate.value


def test_scales_with_the_same_ends_are_one_scale() -> None:
    ratings = rating_table({"A": 0.0, "B": 1.0}, cases=30)
    found = rank(tables.rating_table(ratings, scale={"accuracy": (1, 5), "clarity": (1, 3, 5)}), resamples=50)
    assert found.scale == "grades 1 to 5"


def test_a_dimension_is_turned_once_however_often_it_is_said(run: Path) -> None:
    assert rank(run, lower_is_better=["risk"]).to_json() == rank(run).to_json()


def test_patients_with_several_cases_are_resampled_whole(tmp_path: Path) -> None:
    found = rank(write_run(tmp_path, patients=True))
    assert found.unit == "patients" and "resampled: patients" in found.title
    assert "of 10 patients" in found.rows[0].macro_average.method


def test_the_order_of_the_clinicians_goes_with_it(run: Path) -> None:
    found = rank(run)
    assert found.agreement is not None
    assert [row.rater for row in found.agreement.rows] == ["ada", "bob", "cyd", "jury"]
    assert found.agreement.title.endswith("the ranking by dr one")
    alone = rank(run, raters="ada").agreement
    assert alone is not None and [row.rater for row in alone.rows] == ["ada"]
    assert rank(run, raters="dr one").agreement is None  # nobody is a yardstick for himself
    without = rank(rating_table({"A": 0.0, "B": 1.0}, cases=10), resamples=50)
    with pytest.raises(MedjuryError, match="--show agreement needs --reference"):
        without.part("agreement")


def test_clinicians_who_rated_one_system_only_do_not_stop_the_ranking(run: Path) -> None:
    rows = tables.rating_table(run).rows.drop("row", "cluster")
    few = rows.filter(
        (pl.col("rater") != "dr one") | (pl.col("system") == "a"), pl.col("dimension") == "accuracy"
    )
    found = rank(few, resamples=50)
    assert found.agreement is None
    assert any(
        text.startswith("not compared with the ranking by dr one: a ranking needs two")
        for text in found.warnings
    )
    with pytest.raises(MedjuryError, match="two systems or more"):
        rank(few, reference="dr one", resamples=50)


def test_judges_that_are_named_form_their_jury() -> None:
    ratings = rating_table({"A": 0.0, "B": 0.5}, cases=20, raters=("ada", "bob", "cyd"))
    two = rank(ratings, raters=["ada", "bob"], resamples=50)
    mean = ratings.filter(pl.col("rater") != "cyd", pl.col("system") == "B")["score"].mean()
    assert two.raters == ("jury",) and two.find(system="B").macro_average.value == pytest.approx(mean)


def test_a_jury_needs_more_than_half_of_its_judges() -> None:
    """Of two judges one is not more than half; of three, two are."""
    for judges, left in ((("ada", "bob"), 2 * 9), (("ada", "bob", "cyd"), 2 * 10)):
        ratings = rating_table({"A": 0.0, "B": 0.5}, cases=10, raters=judges)
        lost = (pl.col("rater") == "ada") & (pl.col("item") == "c3")
        found = rank(ratings.with_columns(pl.when(~lost).then(pl.col("score")).alias("score")), resamples=50)
        assert found.rows[0].n == left


def test_the_parts_can_each_be_printed_and_read(run: Path) -> None:
    costs = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}
    found = rank(run, costs=costs)
    for name in ("systems", "pairs", "agreement", "detectable", "cost"):
        part = found.part(name)
        assert len(json.loads(part.to_json())) == len(part.rows) == part.frame().height > 1
        assert part.title in part.text() and part._repr_html_().startswith("<table>")
    text = found.text()
    assert text.startswith("ranked by macro_average of jury (grades 1 to 5), as this jury sees it;")
    assert "cheapest_of_best" in text and "differences in macro_average" not in text


def test_one_case_has_no_detectable_difference_and_the_rest_is_ranked() -> None:
    found = rank(rating_table({"A": 0.0, "B": 1.0}, cases=1), resamples=50)
    assert found.detectable is None and len(found.rows) == 2
    assert "a benchmark with one case has no smallest detectable difference" in found.warnings


def test_a_table_of_benchmark_scores_is_ranked_as_it_stands(tmp_path: Path) -> None:
    table = benchmark_table({"A": 0.0, "B": 0.2}, benchmarks=12)
    table.write_csv(tmp_path / "scores.csv")
    assert rank(table).to_json() == rank(tmp_path / "scores.csv").to_json()
    assert rank(table).unit == "benchmarks" and rank(table).scale == ""
    turned = rank(table, lower_is_better=[f"b{k}" for k in range(12)], scale=(0, 1))
    assert turned.rows[0].system == "A"
    with pytest.raises(MedjuryError, match="give the scale"):
        rank(table, lower_is_better=["b1"])
    with pytest.raises(MedjuryError, match="no benchmark 'x' to turn around"):
        rank(table, lower_is_better=["x"], scale=(0, 1))


def test_what_cannot_be_averaged_or_turned_is_refused(run: Path) -> None:
    ratings = rating_table({"A": 0.0, "B": 1.0}, cases=10)
    with pytest.raises(MedjuryError, match="give the scale"):
        rank(ratings, lower_is_better=["clarity"])
    with pytest.raises(MedjuryError, match="no dimension 'colour' to turn around"):
        rank(ratings, lower_is_better=["colour"], scale=GRADES)
    with pytest.raises(MedjuryError, match="not both"):
        rank(run, composites=["q=accuracy:1,risk:1"], dimensions="accuracy")
    with pytest.raises(MedjuryError, match="there is no dimension 'colour'"):
        rank(run, composites=["q=accuracy:1,colour:1"])
    two = ratings.with_columns(pl.Series("benchmark", ["x", "y"] * (ratings.height // 2)))
    with pytest.raises(MedjuryError, match="item 'c0' has two benchmarks, 'x' and 'y'"):
        rank(two)


def test_the_command_prints_the_very_same(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rank", str(run), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(rank(run).to_json())
    assert main(["rank", str(run)]) == 0
    assert capsys.readouterr().out.strip() == rank(run).text().strip()


def test_answers_of_nobody_in_particular_are_not_ranked(run: Path) -> None:
    rows = tables.rating_table(run).rows.drop("row", "cluster").filter(pl.col("dimension") == "accuracy")
    nobody = rows.filter(pl.col("system") == "a").with_columns(pl.lit("").alias("system"))
    found = rank(pl.concat([rows, nobody]), resamples=50)
    assert [row.system for row in found.rows] == ["d", "c", "b", "a"]


def test_a_score_that_calibration_leaves_without_a_value_is_unscored() -> None:
    ratings = rating_table({"A": 0.0, "B": 1.0}, cases=40, raters=("ada",))
    clinician = ratings.with_columns(pl.lit("dr one").alias("rater"), pl.lit("clinician").alias("rater_kind"))
    table = tables.rating_table(pl.concat([ratings, clinician]), scale=(1, 5))
    ranked = ranked_by(table, None, None, None, (), (), "refuse")
    study = calibrate(table, method="offset")
    first = study.calibrations[0]
    calibrated = first.pairs.calibrated.copy()
    calibrated[0] = np.nan
    pairs = replace(first.pairs, calibrated=calibrated)
    lacking = replace(first, fitted=replace(first.fitted, out_of_fold=pairs))
    study = replace(study, calibrations=(lacking, *study.calibrations[1:]))
    scores = ranked.calibrated(study).scores(["ada"])
    assert (
        sum(scores.unscored) == 1 and sum(scores.counts) == 2 * 2 * 40 - 2
    )  # its rival's answer goes with it


def test_a_judge_without_a_single_score_leaves_nothing_to_rank() -> None:
    rows = [
        (f"case-{case}", system, rater, "accuracy", score, status, reason)
        for case in range(4)
        for system in ("one", "two")
        for rater, score, status, reason in (
            ("silent", None, "unscored", "truncated"),
            ("Dr A", 3.0, "scored", None),
        )
    ]
    columns = ["item", "system", "rater", "dimension", "score", "status", "reason"]
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    with pytest.raises(MedjuryError, match="nothing to rank"):
        rank(frame, raters="silent", reference="Dr A", scale=(1, 5))
