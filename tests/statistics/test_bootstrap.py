"""The bootstrap engine: R's intervals on R's resamples, whole clusters, honest about what is undefined."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtri
from tests.agreement.reference_values import reference, resample_indices

from medjury.analysis.agreement import cohen_kappa, icc, pearson
from medjury.analysis.agreement._correlation import correlation_statistics
from medjury.analysis.agreement._kappa import kappa_statistics
from medjury.foundation.errors import MedjuryError
from medjury.statistics import bootstrap, combined, evaluate, on_columns, replicates
from medjury.statistics._interval import acceleration, bca_levels, bias_correction, interval, quantile
from medjury.statistics._resample import draw, leave_one_out, sample

BOOT = reference("bootstrap_bca_boot_package")


def classification(rows):
    truth, said = rows.T

    def read(weights):
        n, positive, claimed, both = (weights @ x for x in (np.ones(len(rows)), truth, said, truth * said))
        accuracy = weights @ (truth == said).astype(float) / n
        chance = (positive * claimed + (n - positive) * (n - claimed)) / n**2
        return {
            "kappa": (accuracy - chance) / (1 - chance),
            "f1": 2 * both / (positive + claimed),
            "accuracy": accuracy,
        }

    return read


def mean(rows):
    return lambda weights: {"mean": weights @ rows[:, 0] / weights.sum(axis=-1)}


def boot_case(result: dict):
    if result["name"] == "mean":
        return np.array(BOOT["data"]["x"]), mean
    return np.column_stack([BOOT["data"]["truth"], BOOT["data"]["pred"]]), classification


@pytest.mark.parametrize("result", BOOT["results"], ids=lambda result: result["name"])
def test_resampled_and_left_out_values_equal_boot(result: dict) -> None:
    rows, statistics = boot_case(result)
    indices = resample_indices(result["indices_file"].removesuffix(".csv"))
    ours = evaluate(rows, statistics, indices)[result["name"]]
    assert ours == pytest.approx(result["boot_t"], abs=1e-12)
    made = replicates(rows, statistics, resamples=1)
    assert made.observed[result["name"]] == pytest.approx(result["t0"], abs=1e-12)
    left_out = np.repeat(made.left_out[result["name"]], made.multiplicity.astype(int))
    assert np.sort(left_out) == pytest.approx(np.sort(result["jackknife_values"]), abs=1e-12)
    below = np.mean(ours < result["t0"] - 1e-12)
    assert ndtri(below) == pytest.approx(result["z0_strict_less"], abs=1e-9)


@pytest.mark.parametrize("result", BOOT["results"], ids=lambda result: result["name"])
def test_interval_ends_equal_boot(result: dict) -> None:
    """`boot` centres the jackknife on the value, not on its mean, and counts ties as not below: given its own
    z0 and a, our BCa ends are its ends."""
    ordered = np.sort(result["boot_t"])
    ends = [quantile(ordered, 0.025), quantile(ordered, 0.975)]
    assert ends == pytest.approx(result["perc"], abs=1e-12)
    assert ends == pytest.approx([ordered[49], ordered[1949]], abs=0)
    low, high, name = interval(
        result["t0"], ordered, np.empty(0), np.empty(0), method="basic", confidence=0.95
    )
    assert [low, high] == pytest.approx(result["basic"], abs=1e-12)
    assert name == "basic"
    levels = bca_levels(result["z0_strict_less"], result["acceleration_a"], 0.95)
    assert [quantile(ordered, level) for level in levels] == pytest.approx(result["bca"], abs=1e-9)
    influence = result["t0"] - np.array(result["jackknife_values"])
    centred_on_value = (influence**3).sum() / (6 * (influence**2).sum() ** 1.5)
    assert centred_on_value == pytest.approx(result["acceleration_a"], abs=1e-9)
    ours = acceleration(np.array(result["jackknife_values"]), np.ones(len(influence)))
    assert ours == pytest.approx(result["acceleration_a"], abs=1e-3)


@pytest.mark.parametrize("result", BOOT["results"], ids=lambda result: result["name"])
def test_bias_correction_counts_half_of_the_ties(result: dict) -> None:
    values = np.array(result["boot_t"])
    share = result["prop_t_lt_t0"] + result["prop_t_eq_t0"] / 2
    assert bias_correction(result["t0"], values) == pytest.approx(ndtri(share), abs=1e-9)


def test_bca_ends_equal_scipy_on_the_same_resampled_values() -> None:
    generator = np.random.default_rng(1)
    x = generator.gamma(2.0, size=30)
    values = generator.choice(x, size=(999, 30)).mean(axis=1)
    left_out = (x.sum() - x) / 29
    z0 = stats.norm.ppf((stats.percentileofscore(values, x.mean(), kind="mean")) / 100)
    assert bias_correction(x.mean(), values) == pytest.approx(z0, abs=1e-12)
    gap = left_out.mean() - left_out
    peer = (gap**3).sum() / (6 * (gap**2).sum() ** 1.5)
    assert acceleration(left_out, np.ones(30)) == pytest.approx(peer, abs=1e-12)
    theirs = stats.bootstrap(
        (x,), np.mean, n_resamples=9999, method="BCa", rng=np.random.default_rng(2)
    ).confidence_interval
    ours = bootstrap(x, mean, resamples=9999, method="bca")["mean"]
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs), abs=0.02)


def test_the_interval_of_kappa_agrees_with_a_plain_loop() -> None:
    generator = np.random.default_rng(2)
    first = generator.integers(1, 5, 60)
    second = np.clip(first + generator.integers(-1, 2, 60), 1, 4)
    theirs = stats.bootstrap(
        (first, second),
        lambda a, b: cohen_kappa(a, b, scale=range(1, 5), interval="none").value,
        paired=True,
        vectorized=False,
        n_resamples=2000,
        method="BCa",
        rng=np.random.default_rng(3),
    ).confidence_interval
    ours = cohen_kappa(first, second, scale=range(1, 5), interval="bca", resamples=20_000)
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs), abs=0.02)


def test_patterns_and_items_are_resampled_with_the_same_law() -> None:
    """Many identical rows are drawn as a multinomial, few as indices: mean and covariance are the same."""
    for rows in (np.repeat([0.0, 1.0, 2.0], [50, 30, 20]), np.array([0.0, 0.0, 1.0, 2.0])):
        data = sample(rows)
        weights = np.concatenate(list(draw(data, 40_000, 4)))
        assert (weights.sum(axis=1) == len(rows)).all()
        share = data.counts / len(rows)
        assert weights.mean(axis=0) == pytest.approx(data.counts, rel=0.02)
        covariance = len(rows) * (np.diag(share) - np.outer(share, share))
        assert np.cov(weights.T) == pytest.approx(covariance, rel=0.05, abs=0.05 * len(rows))


def test_large_samples_are_drawn_in_pieces_and_every_resample_is_whole() -> None:
    data = sample(np.random.default_rng(5).normal(size=20_000))
    blocks = list(draw(data, 60, 6))
    assert len(blocks) > 1
    weights = np.concatenate(blocks)
    assert weights.shape == (60, 20_000)
    assert (weights.sum(axis=1) == 20_000).all()


def test_memory_does_not_grow_with_the_number_of_resamples() -> None:
    rows = np.random.default_rng(7).normal(size=(3000, 2))
    tracemalloc.start()
    bootstrap(rows, correlation_statistics(["pearson"]), resamples=3000, method="percentile")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6  # all weights at once would be 72 MB


def test_rows_of_a_cluster_are_drawn_together() -> None:
    rows = np.arange(12.0)
    clusters = ["a"] * 5 + ["b"] * 3 + ["c"] * 4
    data = sample(rows, clusters)
    weights = np.concatenate(list(draw(data, 200, 8)))
    for members in (slice(0, 5), slice(5, 8), slice(8, 12)):
        assert (weights[:, members] == weights[:, members][:, :1]).all()
    without, multiplicity, groups = leave_one_out(data, 0)
    assert sorted(np.concatenate(list(without)).sum(axis=1).tolist()) == [7, 8, 9]
    assert multiplicity.tolist() == [1, 1, 1]
    assert groups == 0


def test_rating_rows_of_one_case_do_not_count_as_so_many_cases() -> None:
    """Ten copies of each item add no information: by row the interval shrinks, by case it does not."""
    generator = np.random.default_rng(9)
    x = generator.normal(size=30)
    copied = np.repeat(x, 10)
    by_case = bootstrap(copied, mean, clusters=np.repeat(np.arange(30), 10), resamples=4000)["mean"]
    by_row = bootstrap(copied, mean, resamples=4000)["mean"]
    once = bootstrap(x, mean, resamples=4000)["mean"]
    assert by_case.high - by_case.low == pytest.approx(once.high - once.low, rel=0.05)
    assert by_row.high - by_row.low < 0.4 * (once.high - once.low)
    assert "of 30 clusters" in by_case.method
    assert by_case.n == 300


def test_neither_the_order_of_items_nor_the_names_of_clusters_decide_the_interval() -> None:
    generator = np.random.default_rng(17)
    x, clusters = generator.integers(1, 6, 60).astype(float), generator.integers(0, 15, 60)
    order = generator.permutation(60)
    names = np.array([f"case {letter}" for letter in "qwertyuiopasdfg"], dtype=object)
    first = bootstrap(x, mean, clusters=clusters, resamples=300)["mean"]
    second = bootstrap(x[order], mean, clusters=names[clusters[order]], resamples=300)["mean"]
    assert (first.low, first.high) == pytest.approx((second.low, second.high), abs=1e-12)


def test_clusters_of_the_same_content_are_one_pattern() -> None:
    data = sample([1, 2, 2, 1, 3, 3], ["a", "a", "b", "b", "c", "c"])
    assert sorted(data.multiplicity.tolist()) == [1, 2]
    assert data.clusters == 3
    weights = np.concatenate(list(draw(data, 500, 0)))
    assert (weights[:, 0] == weights[:, 1]).all()
    assert (weights.sum(axis=1) == 6).all()
    assert weights[:, 2].mean() == pytest.approx(2, abs=0.2)


def test_clusters_of_one_item_are_no_clusters() -> None:
    x = np.random.default_rng(10).normal(size=25)
    plain = bootstrap(x, mean, resamples=500)["mean"]
    named = bootstrap(x, mean, resamples=500, clusters=[f"case {i}" for i in range(25)])["mean"]
    assert (plain.low, plain.high) == (named.low, named.high)


def test_the_same_seed_gives_the_same_interval_and_another_gives_another() -> None:
    x = np.random.default_rng(11).normal(size=25)
    first, again = (bootstrap(x, mean, resamples=300, seed=5) for _ in range(2))
    other = bootstrap(x, mean, resamples=300, seed=6)
    assert first == again
    assert first["mean"].low != other["mean"].low


def test_with_thousands_of_clusters_groups_are_left_out_and_the_method_says_so() -> None:
    """Groups give the same acceleration on average, and at this size it hardly matters."""
    gaps = []
    for seed in range(12):
        x = np.random.default_rng(seed).exponential(size=5000)
        made = replicates(x, mean, resamples=50, seed=seed)
        assert len(made.left_out["mean"]) == 1000
        single = acceleration((x.sum() - x) / 4999, np.ones(5000))
        gaps.append(acceleration(made.left_out["mean"], made.multiplicity) - single)
    assert np.mean(gaps) == pytest.approx(0.0, abs=1e-3)
    assert "acceleration from 1000 groups" in made.estimate("mean").method


def test_few_undefined_resamples_are_left_out_and_counted() -> None:
    found = pearson([1] * 16 + [2] * 4, [1, 2, 3, 4] * 5, resamples=2000)
    assert found.low is not None
    assert "undefined in" in found.method
    assert found.method.endswith("left out")


def test_many_undefined_resamples_leave_no_interval() -> None:
    found = cohen_kappa([1] * 20 + [2], [1] * 20 + [2], scale=[1, 2], resamples=1000)
    assert found.value == 1.0
    assert found.low is None
    assert found.high is None
    assert "no interval: undefined in" in found.method


def test_a_value_outside_all_its_resamples_falls_back_to_the_percentile_and_says_so() -> None:
    low, high, name = interval(
        5.0, np.array([1.0, 2.0, 3.0]), np.ones(3), np.ones(3), method="bca", confidence=0.9
    )
    assert (low, high) == (1.0, 3.0)
    assert name == "percentile (no BCa: all resamples lie on one side of the value)"


def test_bca_levels_do_not_turn_back_beyond_their_pole() -> None:
    low, high = bca_levels(0.0, 0.6, 0.95)
    assert 0.0 <= low < high == 1.0


def test_a_comparison_uses_the_same_resamples_for_both() -> None:
    """Two judges that err on the same items differ far more surely than their own intervals suggest."""
    generator = np.random.default_rng(13)
    truth = generator.normal(size=60)
    noise = generator.normal(size=60)
    rows = np.column_stack([truth, truth + noise, truth + 1.2 * noise])
    statistics = combined(
        on_columns(correlation_statistics(["pearson"]), [0, 1], "first."),
        on_columns(correlation_statistics(["pearson"]), [0, 2], "second."),
    )
    made, pair = replicates(rows, statistics, resamples=2000), ("first.pearson", "second.pearson")
    (first, second), gap = map(made.estimate, pair), made.difference(*pair)
    assert gap.value == pytest.approx(first.value - second.value)
    assert gap.low > 0
    assert made.p_value(*pair) < 0.01
    assert first.low < second.high
    assert made.p_value(*pair[::-1]) == made.p_value(*pair)
    assert made.difference(*pair[::-1]).value == -gap.value


def test_equal_statistics_have_a_p_value_of_one() -> None:
    rows = np.random.default_rng(14).normal(size=(20, 1))
    twice = combined(on_columns(mean, [0], "a."), on_columns(mean, [0], "b."))
    assert replicates(rows, twice, resamples=200).p_value("a.mean", "b.mean") == 1.0


def column_means(rows):
    return lambda weights: {
        name: weights @ rows[:, column] / weights.sum(axis=-1) for column, name in ((0, "a"), (1, "b"))
    }


@pytest.mark.parametrize(("size", "least"), [(2, 0.5), (5, 0.0625)])
def test_few_units_that_all_agree_prove_no_difference(size: int, least: float) -> None:
    first = np.arange(size, dtype=float)
    same_gap = replicates(np.column_stack([first, first + 1]), column_means, resamples=999)
    assert same_gap.difference("a", "b").value == -1
    assert same_gap.p_value("a", "b") == least  # the sign test's: 2 / 2^n
    nearly = np.column_stack([first, first + 1 + first / 100])
    assert replicates(nearly, column_means, resamples=999).p_value("a", "b") == least
    twice = np.repeat(nearly, 10, axis=0)
    clustered = replicates(twice, column_means, clusters=np.repeat(np.arange(size), 10), resamples=999)
    assert clustered.p_value("a", "b") == least


def test_many_units_that_all_agree_have_the_least_p_value_that_the_resamples_allow() -> None:
    first = np.arange(40.0)
    made = replicates(np.column_stack([first, first + 1]), column_means, resamples=999)
    found = made.p_value("a", "b")
    assert found == 2 / 1000 and type(found) is float


def test_the_p_value_of_no_difference_is_uniform_enough() -> None:
    generator = np.random.default_rng(15)
    drawn = (generator.normal(size=(60, 2)) for _ in range(400))
    values = [replicates(rows, column_means, resamples=199).p_value("a", "b") for rows in drawn]
    assert 0.02 < np.mean(np.array(values) <= 0.05) < 0.09


def test_incomplete_rows_do_not_count_but_stay_in_the_resamples() -> None:
    rows = np.array([[1, 1, 2], [2, 2, np.nan], [3, 2, 3], [1, np.nan, 1], [2, 3, 3], [3, 3, 2]])
    statistics = combined(
        on_columns(kappa_statistics([1, 2, 3], ["none"]), [0, 1], "a."),
        on_columns(kappa_statistics([1, 2, 3], ["none"]), [0, 2], "b."),
    )
    made = replicates(rows, statistics, resamples=50)
    for column, name in ((1, "a.kappa"), (2, "b.kappa")):
        alone = cohen_kappa(rows[:, 0], rows[:, column], scale=[1, 2, 3], interval="none")
        assert made.observed[name] == pytest.approx(alone.value, abs=1e-12)


def test_wrong_arguments_are_refused_in_words() -> None:
    with pytest.raises(MedjuryError, match="one name per item"):
        bootstrap([1, 2, 3], mean, clusters=["a"])
    with pytest.raises(MedjuryError, match="cannot be -1"):
        bootstrap([1, 2, 3], mean, resamples=-1)
    with pytest.raises(MedjuryError, match="Item 2 has no cluster name"):
        bootstrap([1, 2, 3], mean, clusters=["a", None, "b"])
    with pytest.raises(MedjuryError, match=r"no bootstrap interval called 'BCa'.*bca, percentile, basic"):
        bootstrap([1, 2, 3], mean, method="BCa")
    with pytest.raises(MedjuryError, match="no interval called 'exact'"):
        pearson([1, 2, 3], [1, 2, 4], interval="exact")
    with pytest.raises(MedjuryError, match="between 0 and 1"):
        pearson([1, 2, 3], [1, 2, 4], confidence=95)
    made = replicates([1, 2, 3], mean, resamples=50, jackknife=False)
    with pytest.raises(MedjuryError, match="jackknife=True"):
        made.estimate("mean", method="bca")


def test_a_wider_confidence_gives_a_wider_interval() -> None:
    x = np.random.default_rng(16).normal(size=30)
    narrow, wide = (bootstrap(x, mean, confidence=share, resamples=999)["mean"] for share in (0.8, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high
    assert wide.method.startswith("99 %")


def test_a_difference_is_given_at_the_confidence_asked_for() -> None:
    made = replicates(np.random.default_rng(4).normal(size=(40, 2)), column_means, resamples=499)
    wide, narrow = (made.difference("a", "b", confidence=level) for level in (0.95, 0.5))
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high


@pytest.mark.parametrize("form", ["icc_3_k", "icc_3_1", "icc_2_1", "icc_2_k"])
def test_a_coefficient_that_rests_on_one_item_has_no_interval_from_end_to_end(form: str) -> None:
    """One yes/no answer of 36 differs: without it agreement would be perfect, and the jackknife says nothing."""
    first = np.array([0.0] * 18 + [1.0] * 18)
    second = first.copy()
    second[0] = 1.0
    found = icc(np.column_stack([first, second]), form)
    assert found.value is not None and found.value > 0.9
    assert (found.low, found.high) == (None, None)
    assert found.method == "no interval: it would leave nearly every value open; too few items differ"
    second[5:15] = 1.0
    ordinary = icc(np.column_stack([first, second]), form)
    assert ordinary.low is not None and ordinary.low > -0.9


def test_a_share_that_rests_on_one_item_has_no_interval_from_0_to_1() -> None:
    """One hit of 31: the jackknife on the scale of odds reaches from end to end."""
    hits = np.zeros((31, 1))
    hits[0] = 1.0

    def read(rows: np.ndarray) -> object:
        return lambda weights: {"exact_match": weights @ rows[:, 0] / weights.sum(axis=-1)}

    found = bootstrap(hits, read, method="bca_t")["exact_match"]  # type: ignore[arg-type]
    assert found.value == pytest.approx(1 / 31)
    assert (found.low, found.high) == (None, None)
    assert "leave nearly every value open" in found.method


def test_a_value_that_does_not_exist_is_named_without_control_characters() -> None:
    """Names of values may be joined by a null character; a table in CSV must never hold one."""

    def nothing(rows: Any) -> Any:
        return lambda weights: {f"risk\0{who}\0kappa": np.full(len(weights), np.nan) for who in "ab"}

    made = replicates(np.arange(12.0), nothing, resamples=50)
    for found in (made.estimate("risk\0a\0kappa"), made.difference("risk\0a\0kappa", "risk\0b\0kappa")):
        assert found.value is None and found.reason.isprintable() and "risk a kappa" in found.reason
