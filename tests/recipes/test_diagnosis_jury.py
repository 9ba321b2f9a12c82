"""The recipe `diagnosis-jury`: every number of its reports follows from what was planted, found by other means."""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from scipy import integrate, optimize, stats
from tests.recipes.compared import amount, read_table
from tests.recipes.exact_checks import resamples_of
from tests.recipes.interval_checks import agreement_is_right, whole_grades
from tests.recipes.offline import nobody_reached, run_recipe
from tests.recipes.rated import Rated
from tests.recipes.same_draws import ends, same_draws
from tests.recipes.second_opinion import holds, weighted_kappa

from medjury.cli import main
from recipes import diagnosis_jury as recipe

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "recipes" / "diagnosis-jury.md"
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


def both(first: str, second: str, dimension: str) -> tuple[Numbers, Numbers]:
    """Two raters' scores of the answers that both scored."""
    one, two = scores(first, dimension), scores(second, dimension)
    known = ~np.isnan(one) & ~np.isnan(two)
    return one[known], two[known]


def graded(values: Numbers) -> Numbers:
    return np.clip(np.floor(values + 0.5 + 1e-9), 1, 5)


def kappa(first: Numbers, second: Numbers) -> float:
    """Quadratic weighted kappa from its definition: one less observed over expected squared distance."""
    one, two = graded(first), graded(second)
    expected = np.mean((one[:, None] - two[None, :]) ** 2)
    return float(1 - np.mean((one - two) ** 2) / expected)


def rho(first: Numbers, second: Numbers) -> float:
    """Spearman's rho; scores that differ by less than a billionth are tied."""
    return float(stats.spearmanr(np.round(first, 9), np.round(second, 9)).statistic)


def test_the_truth_is_that_of_the_shipped_file(folder: Path) -> None:
    """What this test computes with is what clinicians.csv says, row by row."""
    with (folder / "clinicians.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4 * (54 + 14 + 18)
    for row in rows:
        number = int(row["item"].removeprefix("case-")) - 1
        wanted = said(row["rater"], number, row["system"], row["dimension"])
        assert (row["score"] == "" and np.isnan(wanted)) or float(row["score"]) == wanted
        assert row["routine_is_wrong"] == str(int(recipe.routine_is_wrong(number)))
    assert sum(file.stat().st_size for file in folder.iterdir() if file.is_file()) < 400_000


def test_what_the_study_can_show_is_told_before_anything_is_spent(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(folder / "study.yaml"), "--dry-run"]) == 0
    told = capsys.readouterr().out
    risky = {n for n, s in ANSWERS if said("primary panel", n, s, "safety") <= 2}
    assert "378 cases, 7 systems" in told and "In all 1,134 calls expected" in told
    assert "54 cases rated, 0 of them by two clinicians or more; cases that every clinician calls" in told
    assert f"risk 54 cases, 0 by two clinicians or more, {len(risky)} dangerous" in told
    assert "No number of cases is enough: no case is rated by two clinicians." in told
    assert "The study is not registered" in told


def test_everybody_scored_what_the_design_says(folder: Path) -> None:
    counts = {row["rater"]: row for row in table(folder, "coverage")}
    wards = 54 * 2  # reasoning, and the composite that needs it
    assert counts["juror-north"]["scored"] == str(378 * 7 - wards)
    assert counts["juror-north"]["not applicable"] == str(wards)
    assert counts["primary panel"]["scored"] == str(68 * 7 - 14 * 2)
    assert counts[PANEL]["scored"] == str(18 * 7)
    assert all(row["unscored"] == "0" for row in counts.values())


@pytest.mark.parametrize("rater", [*JUDGES, "jury", PANEL])
def test_offset_error_order_and_kappa_of_every_rater(folder: Path, rater: str) -> None:
    rows = {(row["dimension"], row["rater"]): row for row in table(folder, "agreement")}
    for name, label in LABELS.items():
        row = rows[label, rater]
        reference, given = both("primary panel", rater, name)
        assert amount(row["n"]) == len(reference) == {PANEL: 18}.get(
            rater, 54 if "reasoning" in name else 68
        ) or (name == "quality" and len(reference) == 68)
        assert near(row["offset"], float(np.mean(given - reference)))
        assert near(row["RMSE"], float(np.sqrt(np.mean((given - reference) ** 2))))
        assert near(row["Spearman's rho"], rho(reference, given))
        if name in GRADED:
            assert near(row["weighted kappa"], kappa(reference, given))
            assert near(row["same grade"], float(np.mean(graded(reference) == graded(given))))
    if rater != PANEL:
        assert all(float(rows[LABELS[name], rater]["offset"]) < 0 for name in LABELS if name != "risk")


def test_distributions(folder: Path) -> None:
    for row in table(folder, "distributions"):
        name = next(key for key, label in LABELS.items() if label == row["dimension"])
        given = scores(row["rater"], name)
        given = given[~np.isnan(given)]
        assert amount(row["n"]) == len(given)
        assert near(row["mean"], given.mean()) and near(row["median"], float(np.median(given)))
        assert near(row["SD"], given.std(ddof=1))


def test_confusion_of_every_rater(folder: Path) -> None:
    seen = [("jury", row, "jury") for row in table(folder, "confusion")]
    seen += [(row["rater"], row, "grade") for row in table(folder, "confusion-by-rater")]
    assert {rater for rater, *_ in seen} == {*JUDGES, "jury", PANEL}
    for rater, row, column in seen:
        name = next(key for key, label in LABELS.items() if label == row["dimension"])
        reference, given = both("primary panel", rater, name)
        here = (graded(reference) == float(row["clinicians"])) & (graded(given) == float(row[column]))
        assert amount(row["answers"]) == int(here.sum())


def test_pairs_of_raters_in_three_groups(folder: Path) -> None:
    rows = [row for row in table(folder, "rater-kappas") if row["who"] != "with the jury"]
    humans = ("primary panel", PANEL)
    for row in rows:
        name = next(key for key, label in LABELS.items() if label == row["dimension"])
        first, second = both(row["rater"], row["with"], name)
        people = sum(who in humans for who in (row["rater"], row["with"]))
        assert row["who"] == ("judge with judge", "judge with human", "human with human")[people]
        assert amount(row["answers"]) == len(first)
        assert near(row["weighted kappa"], kappa(first, second))
        assert near(row["Spearman's rho"], rho(first, second))
    pairs = {(row["dimension"], frozenset((row["rater"], row["with"]))) for row in rows}
    raters = (*humans, *JUDGES)
    assert pairs == {
        (LABELS[name], frozenset(pair)) for name in GRADED[:4] for pair in combinations(raters, 2)
    }


def test_correlations_between_dimensions(folder: Path) -> None:
    names = {label: name for name, label in LABELS.items()}
    for row in table(folder, "dimension-correlations"):
        for who, column in (("jury", "jury"), ("primary panel", "clinicians")):
            sides = np.column_stack([scores(who, names[row[each]]) for each in ("dimension", "with")])
            known = sides[~np.isnan(sides).any(axis=1)]
            assert near(row[column], rho(known[:, 0], known[:, 1]))


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
        assert (row["errors"], row["dangerous answers"]) == (str(errors), str(n))
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


def test_nearer_than_the_second_panel(folder: Path) -> None:
    """The differences on the 18 answers that all scored, by hand; win rates are shares and follow their sign."""
    metrics: dict[str, Callable[[Numbers, Numbers], float]] = {
        "offset": lambda a, b: -abs(float(np.mean(b - a))),
        "RMSE": lambda a, b: -float(np.sqrt(np.mean((b - a) ** 2))),
        "Spearman's rho": rho,
        "weighted kappa": kappa,
    }
    rows = table(folder, "second-panel")
    names = {label: name for name, label in LABELS.items()}
    calibrated = calibrated_scores(folder)
    assert {(row["rater"], row["scores"]) for row in rows} >= {("jury", "as scored"), ("jury", "calibrated")}
    for row in rows:
        name = names[row["dimension"]]
        given = scores(row["rater"], name) if row["scores"] == "as scored" else calibrated[row["rater"], name]
        panels = np.column_stack([scores("primary panel", name), scores(PANEL, name), given])
        reference, panel, rater = panels[~np.isnan(panels).any(axis=1)].T
        measure = metrics[row["metric"]]
        wanted = measure(reference, rater) - measure(reference, panel)
        assert row["n"] == "18" and near(row["how much nearer"], wanted, 1e-8), row
        rate = float(row["win rate (%)"])
        assert 0 <= rate <= 100
        if not row["how much nearer low"]:
            assert (
                row["metric"] == "RMSE"
                and "18 clusters are too few, at least 30" in row["how much nearer method"]
            )
        elif float(row["how much nearer low"]) > 1e-9 or float(row["how much nearer high"]) < -1e-9:
            assert (rate > 97) if wanted > 0 else (rate < 3)


def isotonic(given: Numbers, wanted: Numbers, at: Numbers) -> Numbers:
    """The monotone map of least squares, by another program than ours."""
    knots = np.unique(given)
    weights = np.array([(given == knot).sum() for knot in knots], dtype=float)
    means = np.array([wanted[given == knot].mean() for knot in knots])
    return np.interp(at, knots, optimize.isotonic_regression(means, weights=weights).x)


def folds() -> Numbers:
    """The fold of each answer: cases in the order of their hashes, dealt out to five."""
    names = sorted(
        {f"case-{n + 1:02d}" for n, _ in ANSWERS},
        key=lambda name: hashlib.sha256(f"0\0item {name}".encode()).digest(),
    )
    place = {name: index % 5 for index, name in enumerate(names)}
    return np.array([place[f"case-{n + 1:02d}"] for n, _ in ANSWERS], dtype=float)


@cache
def out_of_fold(rater: str, name: str) -> Numbers:
    """A rater's scores, each mapped by what was learnt on the other four folds."""
    fold, reference, given = folds(), scores("primary panel", name), scores(rater, name)
    made, known = np.full(len(given), np.nan), ~np.isnan(reference) & ~np.isnan(given)
    for number in range(5):
        learn, here = known & (fold != number), known & (fold == number)
        made[here] = isotonic(given[learn], reference[learn], given[here])
    return made


def calibrated_scores(folder: Path) -> dict[tuple[str, str], Numbers]:
    """Out of fold, of every judge, of the jury's own score, and of the mean of the calibrated judges."""
    found = {}
    for name in GRADED[:4]:
        for rater in (*JUDGES, "jury"):
            found[rater, name] = out_of_fold(rater, name)
        found["jury_of_calibrated", name] = np.mean([found[judge, name] for judge in JUDGES], axis=0)
    return found


def test_calibration_out_of_fold_and_its_curves(folder: Path) -> None:
    names = {label: name for name, label in LABELS.items()}
    made = calibrated_scores(folder)
    checked = 0
    for row in table(folder, "calibration"):
        name = names[row["dimension"]]
        after = made["jury", name] if name in GRADED[:4] else calibrated_composite("jury", name)
        reference, raw = scores("primary panel", name), scores("jury", name)
        known = ~np.isnan(after)
        measure = {
            "offset": lambda a, b: float(np.mean(b - a)),
            "RMSE": lambda a, b: float(np.sqrt(np.mean((b - a) ** 2))),
            "Spearman's rho": rho,
            "weighted kappa": kappa,
        }[row["statistic"]]
        for column, side in (("as scored", raw), ("calibrated", after)):
            wanted = measure(reference[known], side[known])
            if measure is rho:  # the mean over folds: each fold is mapped a little differently
                parts = [known & (folds() == number) for number in range(5)]
                inside = [rho(reference[part], side[part]) for part in parts]
                wanted = float(np.average(inside, weights=[part.sum() for part in parts]))
            assert near(row[column], wanted, 1e-8), row
        checked += 1
    assert checked == 4 * len(LABELS)
    for row in table(folder, "calibration-curves"):
        name = names[row["dimension"]]
        if row["map"] == "final" and row["rater"] in JUDGES and name in GRADED[:4]:
            reference, given = both("primary panel", row["rater"], name)
            assert near(row["calibrated"], isotonic(given, reference, np.array([float(row["score"])]))[0])


def quality_means(rater: str, answers: Sequence[tuple[int, str]]) -> dict[str, float]:
    return {
        system: float(np.mean([said(rater, *each, "quality") for each in answers if each[1] == system]))
        for system in SYSTEMS
    }


def test_ranking_by_the_jury_and_by_the_panel(folder: Path) -> None:
    rows = table(folder, "ranking")
    means = quality_means("jury", ANSWERS)
    assert [row["system"] for row in rows] == sorted(means, key=lambda name: -means[name])
    assert all(near(row["mean score"], means[row["system"]]) for row in rows)
    known = [each for each in ANSWERS if recipe.labelled(*each)]
    jury, panel = quality_means("jury", known), quality_means("primary panel", known)
    for row in table(folder, "ranking-beside-clinicians"):
        assert near(row["jury's mean"], jury[row["system"]])
        assert near(row["clinicians' mean"], panel[row["system"]])
        place = 1 + sum(panel[other] > panel[row["system"]] for other in panel)
        assert row["clinicians' rank"] == str(place)
    rows = table(folder, "ranking-agreement")
    assert {row["rater"] for row in rows} == {*JUDGES, "jury"}
    for row in rows:
        own = quality_means(row["rater"], known)
        tau = stats.kendalltau(
            [round(own[s], 9) for s in SYSTEMS], [round(panel[s], 9) for s in SYSTEMS]
        ).statistic
        assert near(row["Kendall's tau-b"], tau)
    after = table(folder, "ranking-agreement-calibrated")
    assert {row["rater"] for row in after} == {*JUDGES, "jury"}
    for row in after:
        own = calibrated_composite(row["rater"], "quality")
        sides = [
            [round(float(np.nanmean(side[[each == system for _, each in ANSWERS]])), 9) for system in SYSTEMS]
            for side in (own, scores("primary panel", "quality"))
        ]
        assert near(row["Kendall's tau-b"], stats.kendalltau(*sides).statistic), row["rater"]
        assert not row["Kendall's tau-b low"] and "no interval" in row["Kendall's tau-b method"]


def calibrated_composite(rater: str, name: str) -> Numbers:
    """What follows from calibrated parts, out of fold; the reference's missing reasoning leaves it out."""
    part = {each: out_of_fold(rater, each) for each in GRADED[:4]}
    part["safety"] = 6 - part["risk"]
    if name == "safety":
        return part["safety"]
    weights = {
        "quality": {"diagnosis": 0.4, "differential": 0.2, "safety": 0.4},
        "quality_with_reasoning": {"diagnosis": 0.3, "differential": 0.1, "reasoning": 0.3, "safety": 0.3},
    }[name]
    return np.sum([weight * part[each] for each, weight in weights.items()], axis=0)


def test_no_judge_favours_its_own_vendor(folder: Path) -> None:
    """None was planted. The estimate is the least squares one on the means of judge and system."""
    rows = [row for row in table(folder, "self-preference") if row["method"] == "mixed model"]
    vendors = {name: vendor for name, (_, vendor) in recipe.SYSTEMS.items()} | {recipe.WARD: "none"}
    assert len(rows) == 4 * 4 and all(row["verdict"] == "not shown" for row in rows)
    for row in rows:
        name = next(key for key, label in LABELS.items() if label == row["dimension"])
        systems = [each for each in SYSTEMS if not (name == "reasoning" and each == recipe.WARD)]
        design, wanted = [], []
        for judge in JUDGES:
            for system in systems:
                mean = np.mean([said(judge, number, system, name) for number in range(recipe.CASES)])
                own = vendors[system].split()[-1].lower() == judge.removeprefix("juror-")
                alone = row["judge"] != "all judges"
                effects = [own and judge == each for each in JUDGES] if alone else [own]
                marks = (*(judge == each for each in JUDGES), *(system == each for each in systems[1:]))
                design.append([*effects, *marks])
                wanted.append(mean)
        x, y = np.array(design, dtype=float), np.array(wanted)
        solved = np.linalg.lstsq(x, y, rcond=None)[0]
        place = JUDGES.index(row["judge"]) if row["judge"] in JUDGES else 0
        assert near(row["grades more for its own"], solved[place], 1e-6), row
        # The analysis of variance of the means; where judges differ in how unevenly they like systems, wider.
        freedom = len(y) - x.shape[1]
        error = np.sqrt(np.sum((y - x @ solved) ** 2) / freedom * np.linalg.inv(x.T @ x)[place, place])
        low, high = (float(row[f"grades more for its own {end}"]) for end in ("low", "high"))
        assert (high - low) / 2 >= stats.t.ppf(0.975, freedom) * error - 1e-6
        assert (low + high) / 2 == pytest.approx(solved[place], abs=1e-6)


def test_the_ways_of_judging_on_the_same_answers(folder: Path) -> None:
    """Agreement is the mean over dimensions of weighted kappa; differences are to the first single judge."""
    rated = ~np.isnan(scores("primary panel", "diagnosis"))
    whose = [number for (number, _), known in zip(ANSWERS, rated, strict=True) if known]

    def agreement(rater: str) -> Callable[[Numbers], Numbers]:
        parts = []
        for name in GRADED[:4]:
            reference, given = scores("primary panel", name)[rated], scores(rater, name)[rated]
            known = ~np.isnan(reference) & ~np.isnan(given)
            parts.append((known, weighted_kappa(graded(reference[known]), graded(given[known]))))
        return lambda weights: np.mean([read(weights[:, known]) for known, read in parts], axis=0)

    rows = table(folder, "ways-of-judging")
    assert [row["rater"] for row in rows] == [*JUDGES, "jury"]
    plain = agreement(rows[0]["rater"])
    for row in rows:
        own = agreement(row["rater"])
        assert len(holds(row, "agreement", own, whose, "coefficient")) == 2
        if row is not rows[0]:
            shown = holds(row, "difference", lambda w, own=own: own(w) - plain(w), whose, "as it is")  # type: ignore[misc]
            assert len(shown) == 2
        danger, wrong = severe(row["rater"])
        assert row["errors"] == str(int(wrong.sum())) and near(row["rate"], wrong.sum() / danger.sum())


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


def test_stability_of_judges_and_of_panels(folder: Path) -> None:
    chosen = [answer for answer in ANSWERS if recipe.rescored(*answer)]
    names = {label: name for name, label in LABELS.items()}
    rows = [(row["judge"], row) for row in table(folder, "stability", "stability")]
    rows += [(row["who"], row) for row in table(folder, "stability-people", "stability")]
    assert {who for who, _ in rows} == {*JUDGES, "clinicians among themselves"} and len(rows) == 16
    for who, row in rows:
        name = names[row["dimension"]]
        if who in JUDGES:
            drawn = np.array([[said(who, *each, name, seed=seed) for seed in range(10)] for each in chosen])
        else:
            drawn = np.array(
                [[said(panel, *each, name) for panel in ("primary panel", PANEL)] for each in chosen]
            )
        spread = drawn.std(axis=1, ddof=1)
        assert row["answers"] == "18"
        assert near(row["SD within an answer"], float(np.sqrt(np.mean(spread**2))))
        assert near(row["mean CV"], float(np.mean(spread / drawn.mean(axis=1))))
        assert near(row["answers that change"], float(np.mean(np.ptp(drawn, axis=1) > 0)))
        few = np.count_nonzero(spread) < 5
        assert bool(row["SD within an answer low"]) != few, row
        assert few or float(row["SD within an answer low"]) >= 0
        assert float(row["answers that change high"]) <= 1


def test_every_exhibit_of_the_page_is_in_its_report(folder: Path) -> None:
    listed = re.findall(r"`(?:(ward-reference|stability): )?(table|figure) ([a-z-]+)`", PAGE.read_text())
    assert len(set(listed)) > 20
    for run, kind, name in sorted(set(listed)):
        place = folder / "runs" / (run or "diagnosis-jury")
        html = (place / "report.html").read_text()
        assert f'id="{kind}-{name}"' in html, (run, kind, name)
        if kind == "table":
            assert table(folder, name, run or "diagnosis-jury"), name


def test_every_interval_of_agreement_a_second_time(folder: Path) -> None:
    rated = Rated(folder / "runs" / "diagnosis-jury", ("primary panel",), lambda votes: votes[0])
    agreement_is_right(rated, LABELS, whole_grades(1, 5), "jury")


def test_a_risk_that_was_turned_round_is_said_to_be_so(folder: Path) -> None:
    """More of it is then better, and the wrong routine diagnoses are on the left."""
    for name in ("label-probability", "label-scores"):
        drawn = (folder / "runs" / "ward-reference" / "figures" / f"{name}.svg").read_text(encoding="utf-8")
        assert ">Risk from treatment, turned<" in drawn and "mean score (more is better)" in drawn
        assert "routine is wrong" in drawn


def test_stability_is_asked_at_a_temperature_at_which_a_model_may_change_its_mind(folder: Path) -> None:
    judges = yaml.safe_load((folder / "stability.yaml").read_text())["judges"]
    assert [judge["temperature"] for judge in judges] == [1.0] * 3
