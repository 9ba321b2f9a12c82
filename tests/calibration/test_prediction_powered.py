"""Prediction-powered estimates: a second implementation, coverage by simulation, and what must be refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from medjury.analysis.calibration._prediction_powered import estimate_difference, estimate_mean
from medjury.foundation.errors import MedjuryError


def textbook(
    labels: np.ndarray, labelled: np.ndarray, rest: np.ndarray, weight: float
) -> tuple[float, float]:
    """θ(λ) and its standard error for independent items, straight from the formula."""
    n, m = len(labels), len(rest)
    value = labels.mean() + weight * (rest.mean() - labelled.mean())
    variance = np.var(labels - weight * labelled, ddof=1) / n + weight**2 * np.var(rest, ddof=1) / m
    return value, variance**0.5


def sample(
    generator: np.random.Generator, n: int, m: int, informative: float, per_case: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Clinicians' scores 1-5, and a jury a point too strict whose scores follow them with the given
    strength."""
    cases = (n + m) // per_case
    shared = np.repeat(generator.normal(size=cases), per_case) * 0.7
    truth = shared + 0.7 * generator.normal(size=cases * per_case)
    labels = np.clip(np.round(3.4 + truth), 1, 5)
    noise = generator.normal(size=len(truth)) * (1 - informative**2) ** 0.5
    jury = np.clip(2.4 + informative * truth + noise, 1, 5)
    labels[n:] = np.nan
    return labels, jury, np.repeat(np.arange(cases), per_case)


# The mean of what `sample` labels, by numerical integration over its normal truth.
EDGES = (np.array([1.5, 2.5, 3.5, 4.5]) - 3.4) / (0.7 * 2**0.5)
TRUTH = float(np.diff(np.concatenate([[0], stats.norm.cdf(EDGES), [1]])) @ np.arange(1, 6))


def test_every_estimate_is_that_of_the_formula_for_independent_items() -> None:
    labels, jury, cases = sample(np.random.default_rng(3), 60, 300, 0.8)
    found = estimate_mean(labels, jury, cases=cases, labels_random=True)
    parts = (labels[:60], jury[:60], jury[60:])
    for estimate, weight, lost in (
        (found.classical, 0.0, 0),
        (found.fixed, 1.0, 0),
        (found.power_tuned, found.weights[0], 1),
    ):
        value, error = textbook(*parts, weight)
        freedom = 59 - lost
        reach = stats.t.ppf(0.975, freedom) * error * (59 / freedom) ** 0.5
        assert estimate.value == pytest.approx(value)
        assert (estimate.low, estimate.high) == pytest.approx((value - reach, value + reach))
    assert found.naive.value == pytest.approx(jury.mean())
    assert (found.n_labelled, found.n_unlabelled, found.n_labelled_cases) == (60, 300, 60)


def test_the_tuned_weight_has_the_least_variance_of_all_weights() -> None:
    labels, jury, cases = sample(np.random.default_rng(3), 60, 300, 0.6)
    best = estimate_mean(labels, jury, cases=cases, labels_random=True).weights[0]
    errors = {w: textbook(labels[:60], jury[:60], jury[60:], w)[1] for w in (best - 0.02, best, best + 0.02)}
    assert 0 < best < 1
    assert min(errors, key=errors.__getitem__) == best


def test_items_of_one_case_do_not_pass_for_independent_ones() -> None:
    """Each item copied four times adds nothing: value and interval stay, but for the number of cases."""
    labels, jury, cases = sample(np.random.default_rng(3), 60, 300, 0.8)
    once = estimate_mean(labels, jury, cases=cases, labels_random=True)
    copied = estimate_mean(*(np.repeat(each, 4) for each in (labels, jury)), cases=np.repeat(cases, 4))
    assert copied.power_tuned.value == pytest.approx(once.power_tuned.value)
    assert copied.power_tuned.high == pytest.approx(once.power_tuned.high)
    assert copied.n_labelled == 240


@pytest.mark.parametrize(
    ("n", "m", "informative", "per_case"),
    [
        pytest.param(50, 500, 0.8, 1, marks=pytest.mark.simulation),
        pytest.param(100, 500, 0.8, 5, marks=pytest.mark.simulation),
        (40, 60, 0.8, 1),
    ],
)
def test_intervals_cover_and_are_narrower_when_the_judge_is_informative(
    n: int, m: int, informative: float, per_case: int
) -> None:
    generator = np.random.default_rng(11)
    covered, width, classical, naive = 0, 0.0, 0.0, 0
    runs = 600
    for _ in range(runs):
        labels, jury, cases = sample(generator, n, m, informative, per_case)
        found = estimate_mean(labels, jury, cases=cases, labels_random=True)
        covered += found.power_tuned.low <= TRUTH <= found.power_tuned.high
        naive += found.naive.low <= TRUTH <= found.naive.high
        width += found.power_tuned.high - found.power_tuned.low
        classical += found.classical.high - found.classical.low
    assert covered / runs >= 0.93
    assert width < 0.9 * classical
    assert naive / runs < 0.05  # a strict jury, trusted blindly


@pytest.mark.simulation
@pytest.mark.parametrize("informative", [0.0, -0.6])
def test_an_uninformative_or_perverse_judge_does_no_harm(informative: float) -> None:
    generator = np.random.default_rng(12)
    covered, width, classical = 0, 0.0, 0.0
    runs = 600
    for _ in range(runs):
        labels, jury, cases = sample(generator, 50, 500, informative)
        found = estimate_mean(labels, jury, cases=cases, labels_random=True)
        covered += found.power_tuned.low <= TRUTH <= found.power_tuned.high
        width += found.power_tuned.high - found.power_tuned.low
        classical += found.classical.high - found.classical.low
    assert covered / runs >= 0.93
    assert width < 1.02 * classical


def two_systems(generator: np.random.Generator, cases: int, labelled: int) -> dict[str, np.ndarray]:
    """Both systems answer every case; the second is 0.3 worse; the jury is strict and noisy."""
    hard = generator.normal(size=cases)
    first, second = (
        3.5 + hard + 0.4 * generator.normal(size=cases),
        3.2 + hard + 0.4 * generator.normal(size=cases),
    )
    labels = np.concatenate([first, second])
    jury = labels - 1 + 0.5 * generator.normal(size=2 * cases)
    case = np.tile(np.arange(cases), 2)
    return {
        "labels": np.where(case < labelled, labels, np.nan),
        "predictions": jury,
        "systems": np.repeat(["a", "b"], cases),
        "cases": case,
    }


def test_the_difference_of_two_systems_is_paired_by_case() -> None:
    data = two_systems(np.random.default_rng(4), 300, 60)
    found = estimate_difference(**data, first="a", second="b", labels_random=True)
    labels = data["labels"]
    pairs = labels[:60] - labels[300:360]
    half = stats.t.ppf(0.975, 59) * pairs.std(ddof=1) / 60**0.5
    assert found.classical.value == pytest.approx(pairs.mean())
    assert found.classical.high - found.classical.low == pytest.approx(2 * half)
    apart = {**data, "cases": np.arange(600)}
    unpaired = estimate_difference(**apart, first="a", second="b", labels_random=True)
    assert found.classical.high - found.classical.low < 0.7 * (
        unpaired.classical.high - unpaired.classical.low
    )


@pytest.mark.simulation
def test_the_difference_is_covered_and_sharpened_by_the_jury() -> None:
    generator = np.random.default_rng(5)
    covered, width, classical, runs = 0, 0.0, 0.0, 300
    for _ in range(runs):
        found = estimate_difference(
            **two_systems(generator, 300, 60), first="a", second="b", labels_random=True
        )
        covered += found.power_tuned.low <= 0.3 <= found.power_tuned.high
        width += found.power_tuned.high - found.power_tuned.low
        classical += found.classical.high - found.classical.low
    assert covered / runs >= 0.93
    assert width < 0.97 * classical


def test_a_subset_that_is_not_stated_random_is_warned_of_and_one_that_looks_chosen_too() -> None:
    labels, jury, cases = sample(np.random.default_rng(3), 60, 300, 0.8)
    assert "not stated to be a random draw" in estimate_mean(labels, jury, cases=cases).warnings[0]
    assert estimate_mean(labels, jury, cases=cases, labels_random=True).warnings == ()
    order = np.argsort(jury)
    worst_first = estimate_mean(labels[np.argsort(order)], jury, cases=cases, labels_random=True)
    assert "not look like a random draw" in worst_first.warnings[0]


def test_cases_labelled_whole_do_not_look_chosen_merely_because_their_items_are_alike() -> None:
    warned = 0
    for seed in range(60):
        labels, jury, cases = sample(np.random.default_rng(seed), 200, 600, 0.9, per_case=20)
        found = estimate_mean(labels, jury, cases=cases, labels_random=True)
        warned += any("random draw" in each for each in found.warnings)
    assert warned <= 3


def test_labels_without_a_jury_score_are_counted_told_and_used() -> None:
    labels, jury, cases = sample(np.random.default_rng(8), 60, 300, 0.8)
    every = labels[:60].mean()
    jury[[1, 70, 71]] = np.nan
    found = estimate_mean(labels, jury, cases=cases, labels_random=True)
    assert (found.n_labelled, found.n_unlabelled) == (60, 298)
    assert (found.n_unscored, found.n_unscored_labelled) == (3, 1)
    assert found.classical.value == pytest.approx(every)
    assert any(
        "3 answers without a jury score, 1 of them with a label, which counts" in each
        for each in found.warnings
    )


def failing_on_bad(
    seed: int, n: int, m: int, fails: float = 0.7
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A jury that gives no score to most of the answers that clinicians score 1 or 2."""
    generator = np.random.default_rng(seed)
    labels, jury, cases = sample(generator, n + m, 0, 0.8)
    jury = np.where((labels <= 2) & (generator.random(n + m) < fails), np.nan, jury)
    labels[n:] = np.nan
    return labels, jury, cases


@pytest.mark.parametrize(("n", "m"), [(60, 300), pytest.param(200, 1000, marks=pytest.mark.simulation)])
def test_intervals_cover_where_the_jury_fails_on_bad_answers(n: int, m: int) -> None:
    """With the unscored labels left out, coverage was 0.31 and 0.01, and the bias +0.23."""
    drawn = [failing_on_bad(seed, n, m) for seed in range(500)]
    found = [estimate_mean(labels, jury, cases=cases, labels_random=True) for labels, jury, cases in drawn]
    for read in (lambda each: each.power_tuned, lambda each: each.classical):
        values = [read(each) for each in found]
        covered = np.mean([each.low <= TRUTH <= each.high for each in values])
        assert 0.92 <= covered <= 0.98
        assert abs(np.mean([each.value for each in values]) - TRUTH) < 0.02
    assert np.mean([each.naive.value - (TRUTH - 1) for each in found]) > 0.15
    width = [np.mean([read(each).high - read(each).low for each in found]) for read in
             (lambda each: each.power_tuned, lambda each: each.classical)]  # fmt: skip
    assert width[0] < 0.9 * width[1], "the jury still helps where it gives a score, and where it gives none"
    told = [any("what is missing depends on quality" in text for text in each.warnings) for each in found]
    assert np.mean(told) > 0.8


def test_unscored_items_are_estimated_apart_by_their_labels_alone() -> None:
    """Second implementation: strata of scored and unscored items, weighted by their share of all items."""
    labels, jury, cases = failing_on_bad(3, 200, 1000)
    scored = ~np.isnan(jury)
    found = estimate_mean(labels, jury, cases=cases, labels_random=True)
    weight = found.weights[0]
    known = ~np.isnan(labels)
    both = labels[known & scored].mean() + weight * (
        jury[scored & ~known].mean() - jury[scored & known].mean()
    )
    apart = scored.mean() * both + (~scored).mean() * labels[known & ~scored].mean()
    assert found.power_tuned.value == pytest.approx(apart, abs=0.01)


def test_labels_on_scored_answers_alone_are_no_random_draw() -> None:
    labels, jury, cases = failing_on_bad(4, 200, 1000)
    chosen = np.where(np.isnan(jury), np.nan, labels)
    found = estimate_mean(chosen, jury, cases=cases, labels_random=True)
    assert any("no estimate holds for the unscored" in text for text in found.warnings)


def test_with_no_unlabelled_item_the_labels_speak_alone() -> None:
    labels, jury, cases = sample(np.random.default_rng(3), 60, 0, 0.8)
    found = estimate_mean(labels, jury, cases=cases, labels_random=True)
    assert found.power_tuned.value == pytest.approx(labels.mean())


@pytest.mark.parametrize("m", [0, 1, 2, 4])
def test_with_too_few_unlabelled_cases_the_interval_is_that_of_the_labels(m: int) -> None:
    """One unlabelled score has no spread; were it taken as known, the interval would be far too narrow."""
    labels, jury, cases = sample(np.random.default_rng(3), 40, m, 0.9)
    found = estimate_mean(labels, jury, cases=cases, labels_random=True)
    ends = [(each.value, each.low, each.high) for each in (found.power_tuned, found.fixed, found.classical)]
    assert ends[0] == ends[1] == ends[2]
    assert (found.weights, found.n_unlabelled) == ((0.0,), m)
    assert f"too few unlabelled cases ({m}, at least 5" in found.warnings[0]


def test_unlabelled_items_of_one_case_are_one_unlabelled_case() -> None:
    labels, jury, cases = sample(np.random.default_rng(3), 60, 8, 0.9)
    found = estimate_mean(labels, jury, cases=[*cases[:60], *[60] * 8], labels_random=True)
    assert found.weights == (0.0,)
    assert "too few unlabelled cases (1," in found.warnings[0]


def test_a_system_with_too_few_unlabelled_cases_gets_no_help_from_the_jury_in_a_difference() -> None:
    data = two_systems(np.random.default_rng(4), 100, 60)
    kept = ~np.isnan(data["labels"]) | (data["systems"] == "a")
    kept[-2:] = True
    found = estimate_difference(
        **{name: each[kept] for name, each in data.items()}, first="a", second="b", labels_random=True
    )
    assert found.weights[1] == 0
    assert "too few unlabelled cases (2," in found.warnings[0]
    labelled = {name: each[~np.isnan(data["labels"])] for name, each in data.items()}
    alone = estimate_difference(**labelled, first="a", second="b", labels_random=True)
    assert (alone.power_tuned.low, alone.power_tuned.high) == (alone.classical.low, alone.classical.high)


@pytest.mark.parametrize(
    "m", [1, pytest.param(5, marks=pytest.mark.simulation), pytest.param(8, marks=pytest.mark.simulation)]
)
def test_intervals_cover_however_few_cases_are_unlabelled(m: int) -> None:
    generator = np.random.default_rng(13)
    covered, fixed, runs = 0, 0, 600
    for _ in range(runs):
        truth = generator.normal(size=40 + m)
        labels = np.where(np.arange(40 + m) < 40, truth, np.nan)
        jury = truth + 0.2 * generator.normal(size=40 + m)
        found = estimate_mean(labels, jury, cases=range(40 + m), labels_random=True)
        covered += found.power_tuned.low <= 0 <= found.power_tuned.high
        fixed += found.fixed.low <= 0 <= found.fixed.high
    assert min(covered, fixed) / runs >= 0.93


def test_unlabelled_cases_that_happen_to_agree_do_not_pass_for_a_mean_known_exactly() -> None:
    labels, jury, cases = sample(np.random.default_rng(3), 40, 6, 0.9)
    jury[40:] = 2.0
    found = estimate_mean(labels, jury, cases=cases, labels_random=True)
    assert found.weights[0] < 0.25  # about m / (n + m), the share that six cases deserve
    assert found.fixed.high - found.fixed.low > found.classical.high - found.classical.low


def test_too_few_labels_and_systems_without_overlap_are_refused() -> None:
    labels, jury, cases = sample(np.random.default_rng(3), 4, 300, 0.8)
    with pytest.raises(MedjuryError, match=r"4 cases have a clinician's label; at least 5"):
        estimate_mean(labels, jury, cases=cases)
    data = two_systems(np.random.default_rng(4), 300, 60)
    data["labels"][300:] = np.nan
    with pytest.raises(MedjuryError, match="system 'b': 0 cases have a clinician's label"):
        estimate_difference(**data, first="a", second="b")
    with pytest.raises(MedjuryError, match="there is no system 'c'; the ratings have a, b"):
        estimate_difference(**data, first="a", second="c")
    with pytest.raises(MedjuryError, match="two systems"):
        estimate_difference(**data, first="a", second="a")


def test_labels_that_all_agree_are_warned_of() -> None:
    labels = np.where(np.arange(100) < 40, 4.0, np.nan)
    found = estimate_mean(labels, np.full(100, 3.0), cases=range(100), labels_random=True)
    assert found.power_tuned.value == 4
    assert found.effective_labels is None
    assert "no width" in found.warnings[0]


def test_a_jury_that_scored_nothing_leaves_the_labels_and_says_so() -> None:
    labels, jury, cases = sample(np.random.default_rng(3), 60, 300, 0.8)
    found = estimate_mean(labels, np.full(len(jury), np.nan), cases=cases, labels_random=True)
    assert found.power_tuned.value == found.classical.value == pytest.approx(labels[:60].mean())
    assert found.naive.value is None and "the jury gave no score" in found.naive.reason
    assert (found.n_unscored, found.n_unscored_labelled, found.weights) == (360, 60, (0.0,))
