"""Many clinicians, few cases each: agreement is pooled over pairs, and nothing rests on pairs of two items."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from tests.agreement.rating_rows import long_table

from medjury.analysis.agreement import (
    agreement,
    cohen_kappa,
    icc,
    mixed_model_icc,
    non_inferiority,
)
from medjury.analysis.agreement._correlation import correlation_statistics
from medjury.analysis.agreement._icc import icc_statistics
from medjury.analysis.agreement._kappa import kappa_statistics
from medjury.analysis.agreement._pairs_of_humans import incomplete, mean_over_pairs, pooled_over_pairs
from medjury.statistics import combined, replicates
from medjury.tables import rating_table

SCALE = [1, 2, 3, 4, 5]
# Grades as in real ratings: 45 % at 5, 35 % at 4.
CUTS = np.array([-1.88, -1.41, -0.84, 0.126])
HUMAN_NOISE, JUDGE_NOISE = 0.59, 1.05
ALL = combined(
    kappa_statistics(SCALE, ["none", "linear", "quadratic"]),
    correlation_statistics(["pearson", "spearman"]),
    icc_statistics(["icc_2_1", "icc_3_1", "icc_3_k"]),
)


def graded(latent: np.ndarray, noise: float) -> np.ndarray:
    return np.searchsorted(CUTS, latent / np.sqrt(1 + noise**2)) + 1.0


def few_each(seed: int, cases: int = 150, clinicians: int = 15) -> tuple[np.ndarray, np.ndarray]:
    """Two clinicians, drawn at random, rate each case; the judge rates all."""
    generator = np.random.default_rng(seed)
    truth = generator.normal(size=cases)
    humans = np.full((cases, clinicians), np.nan)
    for case in range(cases):
        who = generator.choice(clinicians, 2, replace=False)
        humans[case, who] = graded(truth[case] + HUMAN_NOISE * generator.normal(size=2), HUMAN_NOISE)
    return humans, graded(truth + JUDGE_NOISE * generator.normal(size=cases), JUDGE_NOISE)


def true_kappas() -> tuple[float, float]:
    """Of two clinicians, and of a clinician with the judge, in a population of 400,000 cases."""
    generator = np.random.default_rng(0)
    truth = generator.normal(size=400_000)
    one, two = (
        graded(truth + HUMAN_NOISE * generator.normal(size=len(truth)), HUMAN_NOISE) for _ in range(2)
    )
    judge = graded(truth + JUDGE_NOISE * generator.normal(size=len(truth)), JUDGE_NOISE)

    def kappa(first: np.ndarray, second: np.ndarray) -> float:
        chance = first.var() + second.var() + (first.mean() - second.mean()) ** 2
        return float(1 - ((first - second) ** 2).mean() / chance)

    return kappa(one, two), kappa(one, judge)


def test_agreement_among_many_clinicians_is_what_two_of_them_truly_have() -> None:
    humans_truth, judge_truth = true_kappas()
    assert humans_truth == pytest.approx(0.66, abs=0.02)
    found = [
        non_inferiority(*few_each(seed), kappa_statistics(SCALE, ["quadratic"]), margin=0.1, resamples=99)
        for seed in range(40)
    ]
    own, beside = (
        np.mean([getattr(each["kappa_quadratic"], side).value for each in found])
        for side in ("human_human", "judge_human")
    )
    assert own == pytest.approx(humans_truth, abs=0.025)
    assert beside == pytest.approx(judge_truth, abs=0.025)
    # The mean of pairs that share one to three items, which was reported before, is far too low.
    humans, _ = few_each(0)
    pairs = list(combinations(range(15), 2))
    mean = replicates(humans, mean_over_pairs(kappa_statistics(SCALE, ["quadratic"]), pairs), resamples=0)
    assert mean.observed["kappa_quadratic"] < humans_truth - 0.2


def test_a_judge_well_below_many_clinicians_is_not_called_non_inferior() -> None:
    humans_truth, judge_truth = true_kappas()
    assert humans_truth - judge_truth == pytest.approx(0.145, abs=0.03)
    called = [
        non_inferiority(*few_each(seed), kappa_statistics(SCALE, ["quadratic"]), margin=0.1, resamples=199)[
            "kappa_quadratic"
        ].non_inferior
        for seed in range(60)
    ]
    assert np.mean(called) <= 0.05


def test_an_estimate_lies_inside_its_own_interval() -> None:
    for seed in range(12):
        for each in non_inferiority(*few_each(seed), ALL, margin=0.1, resamples=399).values():
            for part in (each.judge_human, each.human_human, each.difference):
                assert part.low <= part.value <= part.high


@pytest.mark.parametrize("name", ["pearson", "spearman", "icc_3_1", "icc_3_k"])
def test_what_is_blind_to_a_clinician_s_level_has_no_interval_of_a_few_cases_each_and_says_why(
    name: str,
) -> None:
    for cases, refused in ((50, True), (90, False)):
        found = non_inferiority(*few_each(1, cases), ALL, margin=0.1, resamples=199)
        each = found[name]
        for part in (each.judge_human, each.human_human, each.difference):
            assert part.value is not None
            assert (part.low is None) == refused
            assert ("6.7 items on average, and 10 are needed" in part.method) == refused
        assert (each.p_value is None) == (each.non_inferior is None) == refused
        for other in ("kappa_quadratic", "icc_2_1"):
            assert found[other].human_human.low is not None


def test_two_raters_without_gaps_have_their_own_coefficients() -> None:
    humans, judge = few_each(1)
    first = np.nanmax(humans, axis=1)
    rows = np.column_stack([first, judge])
    pooled = replicates(rows, pooled_over_pairs(ALL, rows, [(0, 1)]), resamples=0).observed
    for name, weights in (("kappa", "none"), ("kappa_linear", "linear"), ("kappa_quadratic", "quadratic")):
        assert pooled[name] == pytest.approx(cohen_kappa(first, judge, scale=SCALE, weights=weights).value)
    for form in ("icc_2_1", "icc_3_1", "icc_3_k"):
        assert pooled[form] == pytest.approx(icc(rows, form).value)
    plain = replicates(rows, correlation_statistics(["pearson", "spearman"]), resamples=0).observed
    assert pooled["pearson"] == pytest.approx(plain["pearson"])
    assert pooled["spearman"] == pytest.approx(plain["spearman"])


def test_a_rater_s_level_does_not_count_for_what_is_blind_to_levels() -> None:
    humans, judge = few_each(2)
    rows = np.column_stack([humans, judge])
    pairs = list(combinations(range(15), 2))
    shifted = rows + np.append(np.arange(15) % 3, 0)
    statistics = combined(correlation_statistics(["pearson"]), icc_statistics(["icc_2_1", "icc_3_1"]))
    before, after = (
        replicates(table, pooled_over_pairs(statistics, table, pairs), resamples=0).observed
        for table in (rows, shifted)
    )
    for blind in ("pearson", "icc_3_1"):
        assert after[blind] == pytest.approx(before[blind])
    assert after["icc_2_1"] < before["icc_2_1"] - 0.1


def test_a_complete_design_keeps_the_mean_over_pairs() -> None:
    generator = np.random.default_rng(3)
    truth = generator.normal(size=30)
    table = graded(truth[:, np.newaxis] + 0.6 * generator.normal(size=(30, 4)), 0.6)
    assert not incomplete(table[:, :3])
    found = non_inferiority(table[:, :3], table[:, 3], kappa_statistics(SCALE, ["quadratic"]), margin=0.1)
    kappas = [
        cohen_kappa(table[:, one], table[:, two], scale=SCALE, weights="quadratic", interval="none").value
        for one, two in combinations(range(3), 2)
    ]
    own = found["kappa_quadratic"].human_human
    assert own.value == pytest.approx(np.mean(kappas))
    assert own.method.startswith("mean over 3 pairs of raters;")


def test_the_table_says_how_many_pairs_really_count() -> None:
    humans, judge = few_each(4, cases=40, clinicians=17)
    share = {place: int(np.count_nonzero(~np.isnan(humans[:, place]))) for place in range(17)}
    names = {place: f"clinician {place}" for place in range(17) if share[place]}
    pairs = list(combinations(names, 2))
    meeting = sum(bool((~np.isnan(humans[:, list(pair)])).all(axis=1).any()) for pair in pairs)
    frame = long_table(
        {**{name: humans[:, place].tolist() for place, name in names.items()}, "judge": judge.tolist()}
    )
    found = agreement(
        rating_table(frame.filter(frame["score"].is_not_nan()), scale=(1, 5)),
        reference=list(names.values()),
        raters="judge",
        statistics=["kappa_quadratic"],
        singles=False,
        resamples=99,
    )
    row = found.find("kappa_quadratic", reference="each reference", rater="the other references")
    assert meeting < 40 < len(pairs)
    assert row.estimate.method.startswith(
        f"pooled over the {meeting} of {len(pairs)} pairs of raters who share an item, 40 shared scores;"
    )


def test_the_mixed_model_on_a_complete_table_is_the_analysis_of_variance() -> None:
    generator = np.random.default_rng(5)
    table = generator.normal(size=(40, 1)) + 0.6 * generator.normal(size=(40, 4)) + [0.0, 0.3, -0.2, 0.1]
    found = mixed_model_icc(table)
    for form in ("icc_2_1", "icc_3_1", "icc_2_k", "icc_3_k"):
        assert found[form].value == pytest.approx(icc(table, form).value, abs=1e-6)
        assert found[form].low < found[form].value < found[form].high


def test_the_mixed_model_of_many_clinicians_equals_statsmodels() -> None:
    formula = pytest.importorskip("statsmodels.formula.api")
    pandas = pytest.importorskip("pandas")
    generator = np.random.default_rng(6)
    truth = 2 * generator.normal(size=60)
    table = truth[:, np.newaxis] + generator.normal(size=(60, 6)) + 0.8 * generator.normal(size=6)
    for case in range(60):
        table[case, generator.choice(6, 4, replace=False)] = np.nan
    item, rater = np.nonzero(~np.isnan(table))
    frame = pandas.DataFrame({"score": table[item, rater], "item": item, "rater": rater, "all": 1})
    parts = {"item": "0 + C(item)", "rater": "0 + C(rater)"}
    fitted = formula.mixedlm("score ~ 1", frame, groups="all", vc_formula=parts, re_formula="0").fit(
        reml=True
    )
    items, raters = fitted.vcomp
    found = mixed_model_icc(table, ["icc_2_1", "icc_3_1", "icc_2_k"])
    single = items / (items + raters + fitted.scale)
    assert found["icc_2_1"].value == pytest.approx(single, abs=1e-4)
    assert found["icc_3_1"].value == pytest.approx(items / (items + fitted.scale), abs=1e-4)
    # Two raters an item.
    assert found["icc_2_k"].value == pytest.approx(2 * single / (1 + single), abs=1e-4)


def test_a_design_that_cannot_answer_says_so() -> None:
    humans, _ = few_each(7)
    alone = np.where(np.arange(15) == np.nanargmax(humans, axis=1)[:, np.newaxis], humans, np.nan)
    refused = mixed_model_icc(alone)["icc_2_1"]
    assert refused.value is None
    assert refused.reason == "0 items were scored by two raters or more, and the mixed model needs 10"
    split = np.full((40, 4), np.nan)
    generator = np.random.default_rng(8)
    split[:20, :2] = generator.normal(size=(20, 1)) + 0.5 * generator.normal(size=(20, 2))
    split[20:, 2:] = generator.normal(size=(20, 1)) + 0.5 * generator.normal(size=(20, 2))
    assert "raters fall into 2 groups that share no item" in mixed_model_icc(split)["icc_2_1"].method


def test_the_table_has_the_mixed_model_where_clinicians_rate_some_cases_each() -> None:
    humans, judge = few_each(9, cases=60)
    columns = {f"clinician {place}": humans[:, place].tolist() for place in range(15)}
    frame = long_table({**columns, "judge": judge.tolist()})
    found = agreement(
        rating_table(frame.filter(frame["score"].is_not_nan()), scale=(1, 5)),
        reference=list(columns),
        raters="judge",
        statistics=["icc_2_1", "icc_2_k"],
        singles=False,
        resamples=99,
    )
    row = found.find("icc_2_1", rater="among references")
    assert row.estimate.value == pytest.approx(mixed_model_icc(humans, ["icc_2_1"])["icc_2_1"].value)
    assert row.estimate.low < row.estimate.value < row.estimate.high
    assert "mixed model of items and raters (REML)" in row.estimate.method
