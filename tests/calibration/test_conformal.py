"""Conformal sets: coverage by simulation, and the promises that hold exactly."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from medjury.analysis.calibration import held_out_sets
from medjury.analysis.calibration._conformal import (
    GradeSets,
    Taught,
    case_uniforms,
    fit_models,
    strangeness,
)
from medjury.foundation.errors import MedjuryError

GRADES = (1, 2, 3, 4, 5)


def jury_and_label(generator: np.random.Generator, cases: int, per_case: int = 1) -> tuple[np.ndarray, ...]:
    """A jury of three, half a point strict, and the clinician's grade."""
    quality = np.repeat(generator.normal(size=cases), per_case) * 0.8
    quality = quality + 0.6 * generator.normal(size=cases * per_case)
    labels = np.clip(np.round(3.4 + 1.2 * quality), 1, 5)
    judges = 2.8 + quality[:, None] + 0.6 * generator.normal(size=(len(quality), 3))
    return np.clip(np.round(judges), 1, 5).mean(axis=1), labels, np.repeat(np.arange(cases), per_case)


def fitted_sets(scores: np.ndarray, labels: np.ndarray, **how: Any) -> Callable[..., GradeSets]:
    settings = {"grades": GRADES, "level": 0.9, "method": "cv+", "ties": "exact", "seed": 0} | how
    taught = Taught.by(scores, labels, **settings)
    return partial(taught.sets, fit_models([taught])[0])


def coverage(method: str, ties: str, runs: int, cases: int = 500, per_case: int = 1) -> float:
    generator = np.random.default_rng(21)
    found = []
    for run in range(runs):
        scores, labels, names = jury_and_label(generator, cases, per_case)
        fitted = fitted_sets(scores, labels, cases=names, method=method, ties=ties, seed=run)
        new_scores, new_labels, new_names = jury_and_label(generator, 1500)
        sets = fitted(new_scores, cases=[f"new {name}" for name in new_names])
        found.append(sets.covers(new_labels).mean())
    return float(np.mean(found))


@pytest.mark.parametrize("method", ["split", pytest.param("cv+", marks=pytest.mark.simulation)])
def test_sets_of_500_cases_cover_90_percent_give_or_take_two(method: str) -> None:
    assert coverage(method, "exact", 40) == pytest.approx(0.9, abs=0.02)


@pytest.mark.simulation
def test_conservative_sets_cover_at_least_as_much() -> None:
    assert 0.9 <= coverage("split", "conservative", 40) <= 0.94


@pytest.mark.simulation
def test_several_items_of_one_case_do_not_spoil_the_coverage_of_new_cases() -> None:
    """100 cases with 5 items each are 100 draws, not 500."""
    assert coverage("split", "exact", 60, cases=100, per_case=5) == pytest.approx(0.9, abs=0.02)


@pytest.mark.simulation
def test_each_group_keeps_its_own_promise() -> None:
    """The jury is blind in one specialty; a common set would cover it far less than the other."""
    generator = np.random.default_rng(23)

    def draw(cases: int) -> tuple[np.ndarray, np.ndarray, list[str]]:
        scores, labels, _ = jury_and_label(generator, cases)
        blind = np.arange(cases) % 2 == 0
        labels = np.where(blind, generator.integers(1, 6, size=cases), labels)
        return scores, labels.astype(float), ["blind" if each else "sighted" for each in blind]

    found: dict[str, list[float]] = {"common": [], "blind": [], "sighted": []}
    for run in range(25):
        scores, labels, groups = draw(600)
        new_scores, new_labels, new_groups = draw(1000)
        is_blind = np.array(new_groups) == "blind"
        names, new_names = [f"{run} {n}" for n in range(600)], [f"new {run} {n}" for n in range(1000)]
        common = fitted_sets(scores, labels, cases=names)
        own = fitted_sets(scores, labels, cases=names, groups=groups)
        found["common"].append(common(new_scores, cases=new_names).covers(new_labels)[is_blind].mean())
        covered = own(new_scores, cases=new_names, groups=new_groups).covers(new_labels)
        found["blind"].append(covered[is_blind].mean())
        found["sighted"].append(covered[~is_blind].mean())
    assert np.mean(found["common"]) < 0.87
    assert np.mean(found["blind"]) == pytest.approx(0.9, abs=0.025)
    assert np.mean(found["sighted"]) == pytest.approx(0.9, abs=0.025)


def test_sets_have_no_holes_and_a_missing_score_has_no_set() -> None:
    scores, labels, names = jury_and_label(np.random.default_rng(1), 200)
    fitted = fitted_sets(scores, labels, cases=names)
    at = np.append(np.linspace(1, 5, 33), np.nan)
    sets = fitted(at, cases=range(34))
    for member, low, high in zip(sets.member[:-1], sets.low[:-1], sets.high[:-1], strict=True):
        assert [grade for grade, inside in zip(GRADES, member, strict=True) if inside] == list(
            range(int(low), int(high) + 1)
        )
    assert np.isnan(sets.width[-1])
    assert not sets.member[-1].any()
    assert not sets.covers(np.full(34, 3.0))[-1]


def test_with_too_few_cases_for_the_level_every_grade_stays_possible() -> None:
    scores, labels, names = jury_and_label(np.random.default_rng(1), 30)
    fitted = fitted_sets(scores, labels, cases=names, level=0.99, method="split", ties="conservative")
    assert fitted([1.0, 3.0], cases="ab").width.tolist() == [5, 5]


def test_a_tie_is_broken_the_same_way_each_time() -> None:
    scores, labels, names = jury_and_label(np.random.default_rng(1), 200)
    fitted = fitted_sets(scores, labels, cases=names)
    first, second = (fitted(scores, cases=names).member for _ in range(2))
    assert (first == second).all()
    uniforms = case_uniforms([f"c{n}" for n in range(2000)], 0)
    assert np.histogram(uniforms, bins=4, range=(0, 1))[0] == pytest.approx([500] * 4, abs=80)


def test_p_values_are_ranks_and_every_case_weighs_the_same() -> None:
    alone = strangeness(np.array([1.0, 2.0, 3.0, 4.0]), np.array(list("abcd"), dtype=object))
    assert alone.p_values(np.array([2.5]), np.ones(1)) == pytest.approx([3 / 5])
    assert alone.p_values(np.array([9.0]), np.ones(1)) == pytest.approx([1 / 5])
    assert alone.quantile(0.8) == 4.0
    assert alone.quantile(0.81) == float("inf")
    grouped = strangeness(np.array([1.0, 2.0, 3.0, 4.0]), np.array(list("aaab"), dtype=object))
    assert grouped.p_values(np.array([3.5]), np.ones(1)) == pytest.approx([2 / 3])


def test_held_out_sets_are_counted_on_cases_they_did_not_learn_from() -> None:
    scores, labels, names = jury_and_label(np.random.default_rng(2), 400)
    found = held_out_sets(scores, labels, cases=names, grades=GRADES)
    assert found.coverage.low < 0.9 < found.coverage.high
    assert found.coverage.n == 400
    assert 1 <= found.mean_width.value <= 5
    from medjury.analysis.calibration._maps import case_folds

    fold = case_folds(names)
    changed = np.where(fold == 1, 6 - labels, labels)
    again = held_out_sets(scores, changed, cases=names, grades=GRADES, resamples=0)
    assert (again.sets.member[fold == 1] == found.sets.member[fold == 1]).all()


def test_what_cannot_be_promised_is_refused() -> None:
    scores, labels, names = jury_and_label(np.random.default_rng(2), 100)
    for level in (90, 1.0, 0.4, float("nan")):
        with pytest.raises(MedjuryError, match=r"level of coverage lies between 0\.5 and 1"):
            fitted_sets(scores, labels, cases=names, level=level)
    for method in ("split", "cv+"):
        with pytest.raises(MedjuryError, match="too few labels"):
            fitted_sets(scores[:8], labels[:8], cases=names[:8], method=method)
    grouped = fitted_sets(scores, labels, cases=names, groups=["a"] * 100)
    with pytest.raises(MedjuryError, match="name the group of every item"):
        grouped(scores, cases=names)
    with pytest.raises(MedjuryError, match="group 'b' has no labelled cases"):
        grouped(scores, cases=names, groups=["b"] * 100)
    with pytest.raises(MedjuryError, match="100 items but 2 group names"):
        grouped(scores, cases=names, groups=["a"] * 2)
