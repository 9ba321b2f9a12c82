"""Ways of judging on the same answers: planted quality and price are found, and no more is claimed than shown."""

from __future__ import annotations

import csv
import html
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.report.planted import page_of, rules, write_run
from tests.report.ways import Planted, judges_of, ways_frame

from medjury.analysis.agreement import agreement
from medjury.analysis.agreement._kappa import kappa_statistics
from medjury.analysis.agreement._pairs_of_humans import mean_over_pairs
from medjury.report import write_page
from medjury.statistics import combined, replicates, shown
from medjury.tables import grades_of, open_run
from medjury.validation import Ways, compare_ways

DIMENSIONS = ("accuracy", "clarity")
HUMANS = ("clinician-1", "clinician-2")


def table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "tables" / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def words(page: str) -> str:
    start = page.index('id="strategies"')
    part = re.sub(r"<svg.*?</svg>", "", page[start : page.index("</section>", start)], flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", part)))


def ways_of(folder: Path) -> Ways:
    found = compare_ways(open_run(folder, resamples=200))
    assert found is not None
    return found


def scores(ratings: pl.DataFrame, dimension: str) -> pl.DataFrame:
    one = ratings.filter(pl.col("dimension") == dimension)
    return one.pivot(on="rater", index=["item", "system"], values="score").sort("item", "system")


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, pl.DataFrame, str]]:
    folder = tmp_path_factory.mktemp("ways")
    ratings = ways_frame(cases=110, systems=("alpha", "beta"), dimensions=DIMENSIONS, unscored=0.02)
    write_run(folder, ratings, judges=judges_of(), gate=rules(severe_dimensions=DIMENSIONS))
    yield folder, ratings, write_page(folder, cases_shown=2).read_text()


def test_the_planted_order_is_found_and_only_what_is_shown_is_said(
    golden: tuple[Path, pl.DataFrame, str],
) -> None:
    folder, _, page = golden
    said = words(page)
    assert "Every difference is to plain (single)" in said
    assert "panel earns its cost and agrees better than plain" in said
    assert "twice is not shown to be better than plain" in said
    assert "fool agrees worse than plain" in said
    assert "panel agrees better than plain" in said and "it takes 12 times the cost" in said
    front = {line["rater"]: line["unbeaten"] for line in table(folder, "ways-of-judging")}
    assert front["plain"] == front["panel"] == "yes" and front["fool"] == front["jury"] == "no"


def test_agreement_by_dimension_is_that_of_the_statistics_functions(
    golden: tuple[Path, pl.DataFrame, str],
) -> None:
    folder, ratings, page = golden
    kept = scores(ratings, "clarity").drop_nulls()
    grades = grades_of((1, 5))
    kappa = kappa_statistics(grades.values, ["quadratic"])
    rows = grades.grade(kept.select(*HUMANS, "panel", "plain").to_numpy())
    both = combined(
        mean_over_pairs(kappa, [(0, 2), (1, 2)], "panel "), mean_over_pairs(kappa, [(0, 3), (1, 3)], "plain ")
    )
    made = replicates(rows, both, clusters=kept["item"].to_list(), resamples=4000)
    direct = made.difference("panel kappa_quadratic", "plain kappa_quadratic")
    line = next(
        each
        for each in table(folder, "ways-of-judging-by-dimension")
        if (each["dimension"], each["rater"]) == ("Clarity", "panel")
    )
    assert float(line["agreement"]) == pytest.approx(made.observed["panel kappa_quadratic"])
    assert float(line["difference"]) == pytest.approx(direct.value)
    # Other resamples, the same interval but for their noise.
    assert float(line["difference low"]) == pytest.approx(direct.low, abs=0.03)
    assert float(line["difference high"]) == pytest.approx(direct.high, abs=0.03)
    assert shown(float(line["agreement"])) in words(page)


def agreed(folder: Path, statistic: str, people: tuple[str, ...] = HUMANS) -> float:
    """The mean of the jury's agreement with each clinician."""
    found = [
        agreement(open_run(folder), raters="jury", reference=one, statistics=[statistic], resamples=0)
        for one in people
    ]
    return float(np.mean([each.rows[0].estimate.value for each in found]))


def test_where_nothing_is_left_out_the_jury_has_its_number_of_agreement(tmp_path: Path) -> None:
    folder = write_run(tmp_path, ways_frame(cases=60, dimensions=("accuracy",)), judges=judges_of())
    write_page(folder, cases_shown=0)
    way = table(folder, "ways-of-judging")[-1]
    assert way["rater"] == "jury"
    assert float(way["agreement"]) == pytest.approx(agreed(folder, "kappa_quadratic"))


def test_settings_and_strategies_come_from_the_manifest(golden: tuple[Path, pl.DataFrame, str]) -> None:
    lines = {each["rater"]: each for each in table(golden[0], "ways-of-judging-settings")}
    assert (
        lines["panel"]["way of judging"] == "deliberation" and lines["jury"]["way of judging"] == "jury of 4"
    )
    assert 'rounds: {"most": 9}' in lines["panel"]["settings"] and "hash" not in lines["panel"]["settings"]


def test_without_clinicians_the_table_has_what_each_takes_and_says_what_is_missing(tmp_path: Path) -> None:
    ratings = ways_frame(cases=20, dimensions=("accuracy",), clinicians={})
    folder = write_run(tmp_path, ratings, judges=judges_of(), humans=None)
    said = words(write_page(folder).read_text())
    assert "nobody knows which way of judging agrees with clinicians" in said and "earns" not in said
    line = table(folder, "ways-of-judging")[0]
    assert "agreement" not in line and float(line["calls"]) == 2
    assert not (folder / "figures" / "ways-of-judging.svg").exists()


def test_cases_used_for_development_are_left_out(tmp_path: Path) -> None:
    ratings = ways_frame(cases=60, dimensions=("accuracy",))
    shown_ones = ("case-0000", "case-0001", "case-0002")
    # As examples they would be known by heart, and dear.
    known = pl.col("item").is_in(shown_ones) & (pl.col("rater") == "plain")
    spoilt = ratings.with_columns(cost=pl.when(known).then(99.0).otherwise(pl.col("cost")))
    folder = write_run(
        tmp_path, spoilt, judges=judges_of(), gate=rules(development_cases=shown_ones, minimum_cases=10)
    )
    ways = ways_of(folder)
    assert ways.cases == 57 and ways.find(rater="plain").spending.cost == pytest.approx(0.001)
    assert "3 cases used for development are left out" in words(page_of(folder))


def test_a_rater_that_judged_other_answers_is_compared_with_nobody_and_spoils_nothing(tmp_path: Path) -> None:
    ratings = ways_frame(cases=60, dimensions=("accuracy",))
    panel = pl.col("rater") == "panel"
    moved = ratings.with_columns(system=pl.when(panel).then(pl.lit("rewritten")).otherwise("system"))
    ways = ways_of(write_run(tmp_path, moved, judges=judges_of()))
    alone = ways.find(rater="panel")
    assert alone.agreement is not None and alone.agreement.value is None and alone.on_front is None
    assert alone.difference is None and alone.severe is None and alone.spending.calls == 9
    assert ways.cases == 60 and ways.find(rater="plain").agreement.value > 0.3  # type: ignore[union-attr,operator]


def test_a_better_rater_that_is_beaten_does_not_earn_its_cost(tmp_path: Path) -> None:
    ways = {
        "plain": Planted("single", 2.0, 1, 0.001),
        "good": Planted("claims", 0.2, 3, 0.003),
        "dear": Planted("deliberation", 0.6, 9, 0.009),
    }
    ratings = ways_frame(ways, cases=150, dimensions=("accuracy",))
    said = words(page_of(write_run(tmp_path, ratings, judges=judges_of(ways))))
    assert "good earns its cost and agrees better than plain" in said
    assert "dear and jury agree better than plain, but another does so for less" in said


@pytest.mark.parametrize("statistic", ["icc_2_1", "spearman"])
def test_the_statistic_of_the_gate_is_the_one_compared(tmp_path: Path, statistic: str) -> None:
    folder = write_run(
        tmp_path,
        ways_frame(cases=60, dimensions=("accuracy",)),
        judges=judges_of(),
        gate=rules(statistic=statistic),
    )
    write_page(folder, cases_shown=0)
    assert float(table(folder, "ways-of-judging")[-1]["agreement"]) == pytest.approx(
        agreed(folder, statistic)
    )


def picky_frame(ways: dict[str, Planted], picky: str, *, keeps: float) -> pl.DataFrame:
    """Ratings of which the picky rater gives none where it would be far off: it scores what is easy."""
    ratings = ways_frame(ways, cases=120, dimensions=("accuracy",))
    truth = (
        ratings.filter(pl.col("rater_kind") == "clinician")
        .group_by("item")
        .agg(pl.col("score").mean().alias("truth"))
    )
    ratings = ratings.join(truth, on="item", how="left", maintain_order="left")
    off = (pl.col("score") - pl.col("truth")).abs()
    mine = ratings.filter(pl.col("rater") == picky)
    limit = mine.select(off.quantile(keeps, "higher")).item()
    lost = (pl.col("rater") == picky) & (off > limit)
    return ratings.with_columns(
        pl.when(lost).then(None).otherwise(pl.col("score")).alias("score"),
        pl.when(lost).then(pl.lit("unscored")).otherwise(pl.col("status")).alias("status"),
        pl.when(lost).then(pl.lit("refusal")).otherwise(pl.col("reason")).alias("reason"),
    ).drop("truth")


def test_a_rater_that_fails_on_what_is_hard_does_not_earn_its_cost_by_that(tmp_path: Path) -> None:
    ways = {
        "plain": Planted("single", 1.6, 1, 0.001),
        "picky": Planted("claims", 1.6, 2, 0.002),
        "sound": Planted("deliberation", 1.2, 4, 0.004),
    }
    ratings = picky_frame(ways, "picky", keeps=0.6)
    write_run(tmp_path, ratings, judges=judges_of(ways))
    found = ways_of(tmp_path)
    picky = found.find(rater="picky")
    assert found.sure_of(picky) and picky.difference is not None and picky.difference.value > 0.1  # type: ignore[operator]
    assert (
        picky.unscored is not None and picky.unscored > 0.2 and not picky.covers and picky.on_front is False
    )
    told = words(page_of(tmp_path))
    assert "picky agrees better than plain where it gave a score, but left too much unscored" in told
    assert "picky earns" not in told
    assert (
        f"it left {100 * picky.unscored:.1f} % unscored (plain 0.0 %), and is compared without them" in told
    )
    # It beats nobody either, however cheap it is where it answers.
    assert found.find(rater="sound").on_front is True


def test_the_number_of_answers_is_that_of_the_dimensions_in_the_mean(tmp_path: Path) -> None:
    ratings = ways_frame(cases=60, dimensions=DIMENSIONS)
    # On clarity clinicians rated thirty more cases, and all of them alike: there is no agreement to have.
    clinician = pl.col("rater_kind") == "clinician"
    ratings = ratings.filter(
        ~(clinician & (pl.col("dimension") == "accuracy") & (pl.col("item") >= "case-0030"))
    )
    ratings = ratings.with_columns(
        pl.when(clinician & (pl.col("dimension") == "clarity"))
        .then(4.0)
        .otherwise(pl.col("score"))
        .alias("score")
    )
    write_run(tmp_path, ratings, judges=judges_of(), gate=rules(statistic="spearman"))
    found = ways_of(tmp_path)
    assert found.uncounted == ("Clarity",)
    panel = found.find(rater="panel")
    assert found.answers == found.cases == 30
    assert panel.agreement is not None and panel.difference is not None
    assert panel.agreement.n == panel.difference.n == 30
