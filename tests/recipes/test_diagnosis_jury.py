"""The recipe `diagnosis-jury`: what is planted, and what its reports have beyond the tables that `every_number`
makes a second time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from scipy import integrate, stats
from tests.recipes.compared import amount, read_table
from tests.recipes.exact_checks import resamples_of
from tests.recipes.offline import nobody_reached, run_recipe
from tests.recipes.same_draws import ends, same_draws

from recipes import diagnosis_jury as recipe

LABELS = {
    "diagnosis": "Diagnoses",
    "differential": "Differential diagnosis",
    "reasoning": "Clinical reasoning",
    "risk": "Risk from treatment",
    "safety": "Patient safety (6 minus risk)",
    "quality": "Quality without reasoning (0.4 diagnosis, 0.2 differential, 0.4 safety)",
    "quality_with_reasoning": "Quality with reasoning (0.3 diagnosis, 0.1 differential, 0.3 reasoning, 0.3 safety)",
}
GRADED = ("diagnosis", "differential", "reasoning", "risk", "safety")
JUDGES = tuple(recipe.JUDGES)
PANEL = "rescore panel"
SYSTEMS = (*recipe.SYSTEMS, recipe.WARD)
Row = dict[str, str]
Numbers = np.ndarray[Any, np.dtype[np.float64]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The recipe as a user writes it, its three studies run by the command line, with no socket to be had."""
    with nobody_reached():
        yield run_recipe(tmp_path_factory, "diagnosis-jury")


def table(folder: Path, name: str, run: str = "diagnosis-jury") -> list[Row]:
    return read_table(folder / "runs" / run / "tables" / f"{name}.csv")


def near(shown: str, wanted: float, tolerance: float = 1e-9) -> bool:
    return amount(shown) == pytest.approx(wanted, abs=tolerance)


@cache
def said(rater: str, number: int, system: str, dimension: str, **how: Any) -> float:
    """What a rater says, from the planted truth: NaN where not applicable or not asked."""
    if rater == "jury":
        return float(np.mean([said(judge, number, system, dimension, **how) for judge in JUDGES]))
    parts = {"quality": (0.4, 0.2, 0.0, 0.4), "quality_with_reasoning": (0.3, 0.1, 0.3, 0.3)}
    if dimension in parts:
        names = ("diagnosis", "differential", "reasoning", "safety")
        pairs = [(weight, name) for weight, name in zip(parts[dimension], names, strict=True) if weight]
        return sum(weight * said(rater, number, system, name, **how) for weight, name in pairs)
    if dimension == "safety":
        return 6 - said(rater, number, system, "risk", **how)
    if rater == "primary panel" and not recipe.labelled(number, system):
        return float("nan")
    if rater == PANEL and not recipe.rescored(number, system):
        return float("nan")
    grade = recipe.heard(rater.removesuffix(" panel"), recipe.planted(number, system), **how)[dimension]
    return float("nan") if grade is None else float(grade)


ANSWERS = [(number, system) for number in range(recipe.CASES) for system in SYSTEMS]


@cache
def scores(rater: str, dimension: str) -> Numbers:
    return np.array([said(rater, *answer, dimension) for answer in ANSWERS])


def severe(rater: str) -> tuple[Numbers, Numbers]:
    """Whether the primary panel saw danger and the rater scored it, and whether the rater erred severely."""
    panel, given = scores("primary panel", "safety"), scores(rater, "safety")
    dangerous = (panel <= 2) & ~np.isnan(given)
    return dangerous, dangerous & (given - panel >= 2 - 1e-9)


def lower(errors: int, n: int, other: int, m: int, prior: float) -> float:
    """P(first rate < second rate) for two beta posteriors, by integration."""
    first = stats.beta(errors + prior, n - errors + prior)
    second = stats.beta(other + prior, m - other + prior)
    return float(integrate.quad(lambda p: first.pdf(p) * second.sf(p), 0, 1, limit=400)[0])


def test_severe_errors_their_overlap_and_their_posterior(folder: Path) -> None:
    planted = {3: JUDGES, 21: JUDGES, 10: ("juror-east",)}
    rows = {row["rater"]: row for row in table(folder, "severe-errors")}
    beside = {row["rater"]: row for row in table(folder, "second-panel-severe-errors")}
    danger, wrong = severe(PANEL)
    m, other = int(danger.sum()), int(wrong.sum())
    for rater in (*JUDGES, "jury"):
        danger, wrong = severe(rater)
        n, errors = int(danger.sum()), int(wrong.sum())
        found = {ANSWERS[place][0] for place in np.flatnonzero(wrong)}
        assert found == {
            number for number, who in planted.items() if rater in who or (rater == "jury" and len(who) > 1)
        }
        row = rows[rater]
        assert (row["errors"], row["dangerous with a score"]) == (str(errors), str(n))
        exact = stats.binomtest(errors, n).proportion_ci(method="exact")
        # The upper end is exact, the lower one Jeffreys'.
        low = stats.beta.ppf(0.025, errors + 0.5, n - errors + 0.5)
        assert near(row["rate"], errors / n)
        assert near(row["rate low"], low) and near(row["rate high"], exact.high)
        row = beside[rater]
        assert (row["errors"], row["panel's errors"]) == (f"{errors} of {n}", f"{other} of {m}")
        told = [float(each) for each in re.findall(r"[\d.]+", row["P(rater's is lower)"])]
        wanted = [lower(errors, n, other, m, prior) for prior in (1.0, 0.5)]
        assert told == pytest.approx(wanted, abs=6e-4)
    overlap = {row["exactly these judges"]: row["answers"] for row in table(folder, "severe-error-overlap")}
    assert overlap == {" + ".join(sorted(JUDGES)): "2", "juror-east": "1"}


def test_wrong_routine_diagnoses_by_the_ward_s_own_scores(folder: Path) -> None:
    """Figure 5: the jury's scores of the ward's answers, where the panel agreed with the ward and where not."""
    rows = table(folder, "triage-labels-by-system")
    for name in GRADED[:4]:
        for wrong in (0, 1):
            given = [
                said("jury", number, recipe.WARD, "safety" if name == "risk" else name)
                for number in range(recipe.CASES)
                if recipe.routine_is_wrong(number) == bool(wrong)
            ]
            if name == "reasoning":
                continue
            (row,) = [
                row
                for row in rows
                if (row["dimension"], row["system"], row["value"]) == (LABELS[name], recipe.WARD, str(wrong))
            ]
            assert amount(row["answers"]) == len(given) == (16 if wrong else 38)
            columns = ("lowest", "lower quartile", "median", "upper quartile", "highest")
            for column, share in zip(columns, (0, 0.25, 0.5, 0.75, 1), strict=True):
                assert near(row[column], float(np.quantile(given, share)))


def labels_found_are_right(row: Row, score: Numbers, labelled: Numbers) -> None:
    """Labelled cases found when the lowest scores are read first, equal ones in any order: the mean, and how
    far to read for 80 %, which the report finds by halving and so knows to a millionth."""
    place = np.unique(np.round(score, 9), return_inverse=True)[1]
    draws = same_draws(np.column_stack([np.zeros_like(score), labelled, place]), None, resamples_of([row]))
    level = (place[:, None] == np.arange(place.max() + 1)).astype(float)
    later = (place[:, None] < place) + (place[:, None] == place) / 2

    def found(w: Numbers) -> Numbers:
        return (w * labelled * (w @ later.T)).sum(axis=1) / w.sum(axis=1) / (w @ labelled)

    def reading(w: Numbers) -> Numbers:
        read, hits = w @ level, (w * labelled) @ level
        before, wanted = np.cumsum(hits, axis=1) - hits, 0.8 * (w @ labelled)[:, None]
        last = np.argmax(before + hits >= wanted - 1e-9, axis=1)[:, None]
        part = (wanted - np.take_along_axis(before, last, 1)) / np.take_along_axis(hits, last, 1)
        own = np.take_along_axis(read, last, 1)
        total = np.take_along_axis(np.cumsum(read, axis=1), last, 1) - own + part * own
        return (total[:, 0]) / w.sum(axis=1)

    everybody = np.ones((1, len(score)))
    for column, statistic, tolerance in (
        ("mean share found", found, 1e-9),
        ("share to review to find 80 %", reading, 2e-6),
    ):
        made = statistic(draws.resampled)
        assert near(row[column], statistic(everybody)[0], tolerance), (
            column,
            statistic(everybody),
            row[column],
        )
        if labelled.sum() < 30:
            assert not row[f"{column} low"] and not row[f"{column} high"], row
            assert "cases hold a case labelled" in row[f"{column} method"], row
            continue
        low, high = ends(0.5, made, np.ones(2), "part", "percentile")
        assert "percentile" in row[f"{column} method"]
        assert near(row[f"{column} low"], low, tolerance), (column, low, row)
        assert near(row[f"{column} high"], high, tolerance), (column, high, row)


def logistic_slope(score: Numbers, outcome: Numbers) -> tuple[float, float]:
    """The most likely slope of the log-odds, and its error by the sandwich of single cases."""
    design, line = np.column_stack([np.ones_like(score), score]), np.zeros(2)
    for _ in range(50):
        share = 1 / (1 + np.exp(-design @ line))
        bread = np.linalg.inv(design.T @ (design * (share * (1 - share))[:, None]))
        line = line + bread @ design.T @ (outcome - share)
    filling = design * (outcome - share)[:, None]
    n = len(score)
    return float(line[1]), float(np.sqrt((bread @ filling.T @ filling @ bread)[1, 1] * n / (n - 1)))


def test_wrong_routine_diagnoses_with_the_ward_as_reference(folder: Path) -> None:
    """Figure 4: the probability that the panel disagrees, by the systems' mean safety against the ward."""
    wrong = np.array([recipe.routine_is_wrong(number) for number in range(recipe.CASES)], dtype=float)
    for row in table(folder, "triage-labels", "ward-reference"):
        name = next(key for key, label in LABELS.items() if label == row["dimension"])
        mean = np.array(
            [
                np.mean(
                    [
                        said("jury", n, s, "safety" if name == "risk" else name, ward=True)
                        for s in recipe.TESTED
                    ]
                )
                for n in range(recipe.CASES)
            ]
        )
        assert (row["cases"], row["labelled"]) == ("54", "16")
        assert near(row["median score, label 0"], float(np.median(mean[wrong == 0])))
        assert near(row["median score, label 1"], float(np.median(mean[wrong == 1])))

        labels_found_are_right(row, mean, wrong)
        slope, error = logistic_slope(mean, wrong)
        reach = stats.t.ppf(0.975, len(mean) - 2) * error
        assert near(row["log-odds per point"], slope)
        assert near(row["log-odds per point low"], slope - reach)
        assert near(row["log-odds per point high"], slope + reach)
        if name != "differential":
            assert float(row["log-odds per point high"]) < 0


def test_a_risk_that_was_turned_round_is_said_to_be_so(folder: Path) -> None:
    """More of it is then better, and the wrong routine diagnoses are on the left."""
    for name in ("label-probability", "label-scores"):
        drawn = (folder / "runs" / "ward-reference" / "figures" / f"{name}.svg").read_text(encoding="utf-8")
        assert ">Risk from treatment, turned<" in drawn and "mean score (more is better)" in drawn
        assert "routine is wrong" in drawn


def test_stability_is_asked_at_a_temperature_at_which_a_model_may_change_its_mind(folder: Path) -> None:
    judges = yaml.safe_load((folder / "stability.yaml").read_text())["judges"]
    assert [judge["temperature"] for judge in judges] == [1.0] * 3
