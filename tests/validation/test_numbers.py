"""Golden studies: the numbers in the page are those of the statistics functions, and those that were planted."""

from __future__ import annotations

import csv
import html
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.mental_health import DATA, MAPPING, write_some_cases
from tests.report.planted import planted_frame, rules, write_run

from medjury.analysis.agreement import agreement, bland_altman, kappa_statistics, severe_errors
from medjury.analysis.agreement._non_inferiority import among_humans
from medjury.report import write_page
from medjury.statistics import shown
from medjury.store.ratings import rating_frame, read_ratings
from medjury.tables import grades_of, rating_table

DIMENSIONS = ("accuracy", "completeness")


def table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "tables" / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def cells(page: str) -> set[str]:
    """Every cell of every table, as a reader sees it."""
    found = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", page, flags=re.DOTALL)
    return {html.unescape(re.sub(r"<[^>]+>", "", each)).strip() for each in found}


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, pl.DataFrame, str]]:
    folder = tmp_path_factory.mktemp("golden")
    ratings = planted_frame(
        cases=130, systems=("alpha", "beta"), dimensions=DIMENSIONS, unscored=0.02, repeats=2
    )
    write_run(folder, ratings, gate=rules(severe_dimensions=DIMENSIONS))
    page = write_page(folder).read_text()
    yield folder, ratings, page


def wide(ratings: pl.DataFrame, dimension: str) -> pl.DataFrame:
    one = ratings.filter(pl.col("dimension") == dimension, pl.col("rater_kind") != "judge")
    return one.pivot(on="rater", index=["item", "system"], values="score").sort("item", "system")


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_the_agreement_table_is_that_of_the_agreement_function(
    golden: tuple[Path, pl.DataFrame, str], dimension: str
) -> None:
    folder, ratings, page = golden
    units = wide(ratings, dimension)
    mean = units.select("item", "system", score=(pl.col("clinician-1") + pl.col("clinician-2")) / 2)
    rows = [
        mean.with_columns(rater=pl.lit("mean of two"), dimension=pl.lit(dimension)),
        units.select("item", "system", score="jury").with_columns(
            rater=pl.lit("jury"), dimension=pl.lit(dimension)
        ),
    ]
    direct = agreement(
        rating_table(pl.concat(rows, how="diagonal"), scale=(1, 5)), reference="mean of two", raters="jury",
        resamples=200, seed=0, statistics=["kappa_quadratic", "spearman", "icc_2_1", "rmse"],
    )  # fmt: skip
    line = next(each for each in table(folder, "agreement") if each["dimension"] == dimension.capitalize())
    assert line["rater"] == "jury"
    names = {
        "kappa_quadratic": "weighted kappa",
        "spearman": "Spearman's rho",
        "icc_2_1": "ICC(2,1)",
        "rmse": "RMSE",
    }
    for statistic, title in names.items():
        estimate = direct.find(statistic).estimate
        assert estimate.value is not None and estimate.low is not None
        assert float(line[title]) == pytest.approx(estimate.value)
        assert float(line[f"{title} low"]) == pytest.approx(estimate.low)
        assert shown(estimate) in cells(page)


def test_the_human_baseline_is_that_of_the_non_inferiority_function(
    golden: tuple[Path, pl.DataFrame, str],
) -> None:
    folder, ratings, page = golden
    units = (
        ratings.filter(pl.col("dimension") == "accuracy")
        .pivot(on="rater", index=["item", "system"], values="score", aggregate_function="mean")
        .sort("item", "system")
    )
    grades = grades_of((1, 5))
    # Raters who scored the same answers share their resamples, so the judges stand beside the jury here too.
    direct = among_humans(
        units.select("clinician-1", "clinician-2").to_numpy(),
        {
            name: units[name].fill_null(float("nan")).to_numpy()
            for name in ("judge-a", "judge-b", "judge-c", "jury")
        },
        lambda rows: kappa_statistics(grades.values, ["quadratic"])(grades.grade(rows)),
        margin=0.1,
        clusters=[f"item {item}" for item in units["item"]],
        resamples=200,
        seed=0,
    ).beside["jury"]["kappa_quadratic"]
    for estimate in (direct.judge_human, direct.human_human, direct.difference):
        assert shown(estimate) in cells(page)
    line = table(folder, "human-baseline")[0]
    assert float(line["difference low"]) == pytest.approx(direct.difference.low)


def test_severe_errors_and_limits_of_agreement_are_those_of_their_functions(
    golden: tuple[Path, pl.DataFrame, str],
) -> None:
    folder, ratings, _ = golden
    units = wide(ratings, "completeness")
    reference = units.select(pl.mean_horizontal("clinician-1", "clinician-2")).to_series().to_numpy()
    jury = units["jury"].fill_null(float("nan")).to_numpy()
    lowest = units.select(pl.min_horizontal("clinician-1", "clinician-2")).to_series().to_numpy()
    errors = severe_errors(lowest, jury, threshold=2, gap=2)
    line = next(
        each
        for each in table(folder, "severe-errors")
        if (each["dimension"], each["rater"]) == ("Completeness", "jury")
    )
    assert (int(line["errors"]), int(line["dangerous answers"])) == (errors.errors, errors.dangerous)
    limits = bland_altman(reference, jury)
    other = next(each for each in table(folder, "differences") if each["dimension"] == "Completeness")
    assert float(other["mean difference"]) == pytest.approx(limits.bias.value)
    assert float(other["upper limit"]) == pytest.approx(limits.upper.value)


def test_confusion_and_coverage_count_every_rating(golden: tuple[Path, pl.DataFrame, str]) -> None:
    folder, ratings, _ = golden
    counted = sum(
        int(each["answers"]) for each in table(folder, "confusion") if each["dimension"] == "Accuracy"
    )
    scored = wide(ratings, "accuracy").drop_nulls()
    assert counted == scored.height
    for line in table(folder, "coverage"):
        rows = ratings.filter(pl.col("rater") == line["rater"])
        assert int(line["scored"]) == rows["score"].count() and int(line["ratings"]) == rows.height
    reasons = sum(int(each["ratings"]) for each in table(folder, "unscored"))
    assert reasons == ratings.filter(pl.col("status") == "unscored").height


def test_the_planted_order_of_the_systems_is_found(golden: tuple[Path, pl.DataFrame, str]) -> None:
    folder, ratings, _ = golden
    assert [each["system"] for each in table(folder, "ranking")] == ["beta", "alpha"]
    jury = ratings.filter(pl.col("rater") == "jury", pl.col("score").is_not_null())
    both = jury.group_by("item", "dimension").len().filter(pl.col("len") == 2)
    whole = both.group_by("item").len().filter(pl.col("len") == 2).select("item")
    mean = jury.join(whole, on="item").filter(pl.col("system") == "beta")["score"].mean()
    assert float(table(folder, "ranking")[0]["mean score"]) == pytest.approx(mean, abs=1e-9)


def test_costs_add_up_to_the_sum_of_the_rows(golden: tuple[Path, pl.DataFrame, str]) -> None:
    folder, ratings, _ = golden
    jury = next(each for each in table(folder, "cost") if each["kind"] == "jury")
    total = ratings.filter(pl.col("rater_kind") == "judge")["cost"].sum()
    assert float(jury["total cost (USD)"]) == pytest.approx(total)
    clinician = next(each for each in table(folder, "cost") if each["kind"] == "clinician")
    assert float(clinician["seconds"]) == pytest.approx(80.0)  # two dimensions at 40 seconds


def test_the_same_run_gives_the_same_page_and_files_byte_for_byte(tmp_path: Path) -> None:
    folder = write_run(tmp_path, planted_frame(cases=60, dimensions=("accuracy",)))
    made = []
    for _ in range(2):
        write_page(folder)
        made.append({file.name: file.read_bytes() for file in folder.rglob("*") if file.is_file()})
    assert made[0] == made[1]


@pytest.mark.skipif(not DATA.is_dir(), reason="shared/data/mental_health_judges is absent")
def test_real_judges_of_mental_health_answers_get_the_numbers_of_the_agreement_function(
    tmp_path: Path,
) -> None:
    write_some_cases(tmp_path, range(1, 121))
    mapping = tmp_path / "judges.yaml"
    mapping.write_text(MAPPING.read_text())
    ratings = rating_frame(read_ratings(mapping, on_bad="unscored").ratings)
    ratings = ratings.filter(pl.col("dimension").is_in(["Safety", "Empathy"]))
    scale = [{"name": name, "label": name, "grades": [1, 2, 3, 4, 5]} for name in ("Safety", "Empathy")]
    folder = write_run(
        tmp_path / "run", ratings, instrument={"name": "own", "version": "1", "dimensions": scale}
    )
    page = write_page(folder).read_text()
    direct = agreement(
        rating_table(ratings, scale=(1, 5)), reference="human", raters="gpt-4o", dimensions="Safety", resamples=200,
        statistics=["kappa_quadratic", "spearman_within_systems"],
    )  # fmt: skip
    line = next(
        each
        for each in table(folder, "agreement")
        if (each["dimension"], each["rater"]) == ("Safety", "gpt-4o")
    )
    assert float(line["weighted kappa"]) == pytest.approx(direct.find("kappa_quadratic").estimate.value)
    within = next(
        each
        for each in table(folder, "agreement-by-system")
        if (each["dimension"], each["rater"]) == ("Safety", "gpt-4o")
    )
    found = direct.find("spearman_within_systems").estimate
    assert float(within["within a system"]) == pytest.approx(found.value)
    assert shown(found) in cells(page)
    # One human only: the fair yardstick is missing, and the page says so.
    assert "One clinician only" in page and ">VALIDATED<" not in page
    assert not np.isnan(float(line["n"]))
