"""Drift: a shift is found, noise is not called drift, and sameness must be shown, not assumed."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from medjury.analysis.audits import drift, split_by
from medjury.foundation.errors import MedjuryError
from medjury.tables import rating_table


def anchors(
    *,
    shift: float = 0.0,
    scramble: float = 0.0,
    noise: float = 0.3,
    repeats: int = 3,
    seed: int = 0,
    cases: int = 60,
) -> pl.DataFrame:
    """The same sixty cases in every call; `shift` moves all scores, `scramble` each case by its own amount."""
    truth = np.random.default_rng(99).uniform(2, 4, cases)
    generator = np.random.default_rng(seed)
    moved = truth + shift + scramble * generator.normal(size=cases)
    rows = [
        (f"c{case}", "judge", "risk", repeat, float(np.rint(moved[case] + generator.normal(0, noise))))
        for case in range(cases)
        for repeat in range(repeats)
    ]
    return pl.DataFrame(rows, schema=["item", "rater", "dimension", "repeat", "score"], orient="row")


def test_a_shift_of_the_mean_is_found() -> None:
    found = drift(anchors(seed=1), anchors(seed=2, shift=0.5), resamples=1000).find(statistic="shift")
    assert found.verdict == "moved up" and found.estimate.value == pytest.approx(0.5, abs=0.15)


def test_noise_alone_is_not_called_drift_and_sameness_is_shown() -> None:
    for seed in range(4):
        found = drift(anchors(seed=10 + seed), anchors(seed=20 + seed), resamples=1000)
        assert found.find(statistic="shift").verdict == "the same within ±0.25"
        assert found.find(statistic="excess_change").verdict == "not shown"
        changed, noise = (
            found.find(statistic="changed_share").estimate.value,
            found.find(statistic="noise_share").estimate.value,
        )
        assert changed is not None and noise is not None and noise > 0.2
        assert changed == pytest.approx(noise, abs=0.08)


def test_cases_that_moved_both_ways_are_seen_though_the_mean_stands_still() -> None:
    found = drift(anchors(seed=1), anchors(seed=3, scramble=0.8), resamples=1000)
    assert found.find(statistic="shift").verdict.startswith(("the same", "neither"))
    assert found.find(statistic="excess_change").verdict == "answers changed beyond noise"
    moved = found.find(statistic="answers_beyond_noise")
    assert (moved.estimate.value or 0) >= 5 and moved.verdict.count(", ") >= 4


def test_one_case_that_moved_is_named() -> None:
    later = anchors(seed=2).with_columns(
        pl.when(pl.col("item") == "c7").then(pl.col("score") + 3).otherwise(pl.col("score")).alias("score")
    )
    moved = drift(anchors(seed=1), later, resamples=200).find(statistic="answers_beyond_noise")
    assert moved.estimate.value == 1 and moved.verdict.startswith("c7 +")


def test_too_few_cases_show_neither() -> None:
    found = drift(anchors(cases=5, seed=1), anchors(cases=5, seed=2), bound=0.05, resamples=500).find(
        statistic="shift"
    )
    assert found.verdict == "neither a shift nor its absence is shown"


def few(scores: list[float | None]) -> pl.DataFrame:
    rows = [(f"c{place}", "judge", "risk", score) for place, score in enumerate(scores)]
    return pl.DataFrame(rows, schema=["item", "rater", "dimension", "score"], orient="row")


def test_two_anchors_that_moved_alike_show_nothing() -> None:
    found = drift(few([3, 3]), few([4, 4]), resamples=1000).find(statistic="shift")
    assert found.p_value == 0.5 and not found.stands_out
    lost = drift(few([3.0] * 6), few([4, 4, 4, 4, None, None]), resamples=1000).find(statistic="shift")
    assert lost.p_value == 0.125 and not lost.stands_out


@pytest.mark.simulation
def test_few_anchors_seldom_show_a_shift_where_there_is_none() -> None:
    generator = np.random.default_rng(0)
    shown = 0
    for _ in range(60):
        later = 3 + generator.choice([-1.0, 0.0, 0.5, 1.0], size=3)
        shown += drift(few([3, 3, 3]), few(later.tolist()), resamples=300).find(statistic="shift").stands_out
    assert shown <= 6


def repeated(scores: np.ndarray[Any, Any]) -> pl.DataFrame:
    """Answers by repeats; NaN where an answer has no such repeat."""
    rows = [
        (f"c{case}", "judge", "risk", repeat, float(score))
        for case, line in enumerate(scores)
        for repeat, score in enumerate(line)
        if np.isfinite(score)
    ]
    return pl.DataFrame(rows, schema=["item", "rater", "dimension", "repeat", "score"], orient="row")


@pytest.mark.simulation
def test_single_answers_are_called_moved_as_seldom_as_promised() -> None:
    """Ten further repeats tell of the noise: a normal limit would be crossed in two audits of five."""
    generator, false = np.random.default_rng(5), 0
    for _ in range(40):
        draws = generator.normal(3, 1, (2, 100, 2))
        draws[:, 5:, 1] = np.nan
        found = drift(repeated(draws[0]), repeated(draws[1]), resamples=2).find(
            statistic="answers_beyond_noise"
        )
        false += found.stands_out
    assert false <= 6


def test_repeats_that_never_differ_are_no_measure_of_noise() -> None:
    earlier, later = np.full((20, 3), 3.0), np.full((20, 3), 3.0)
    later[4] = 4.0
    found = drift(repeated(earlier), repeated(later), resamples=50)
    assert found.find(statistic="answers_beyond_noise").estimate.value is None
    assert found.find(statistic="changed_share").estimate.value == pytest.approx(1 / 20)


def test_without_repeats_noise_is_unknown_and_says_so() -> None:
    found = drift(anchors(repeats=1, seed=1), anchors(repeats=1, seed=2), resamples=200)
    assert found.find(statistic="shift").estimate.value is not None
    for name in ("noise_share", "excess_change", "answers_beyond_noise"):
        assert "rate the anchors twice" in found.find(statistic=name).estimate.reason


def test_losing_scores_is_drift_too() -> None:
    later = anchors(seed=2)
    lost = pl.col("item").is_in([f"c{k}" for k in range(15)])
    later = later.with_columns(pl.when(~lost).then(pl.col("score")).alias("score"))
    found = drift(anchors(seed=1), later, resamples=500)
    change = found.find(statistic="unscored_share_change")
    assert change.estimate.value == pytest.approx(0.25) and change.verdict == "more without a score"
    assert found.n_unscored == 45 and found.find(statistic="shift").estimate.n == 45


def test_a_new_version_may_have_a_new_name() -> None:
    renamed = anchors(seed=2).with_columns(pl.lit("judge-2").alias("rater"))
    with pytest.raises(MedjuryError, match="say which old one it follows"):
        drift(anchors(seed=1), renamed)
    found = drift(anchors(seed=1), renamed, same_raters={"judge-2": "judge"}, resamples=200)
    assert found.find(statistic="shift").group == "judge → judge-2"


def test_a_rater_without_a_past_is_named() -> None:
    later = pl.concat([anchors(seed=2), anchors(seed=3).with_columns(pl.lit("newcomer").alias("rater"))])
    found = drift(anchors(seed=1), later, resamples=200)
    assert found.warnings == ("not in the earlier ratings, so not compared: newcomer",)
    assert {each.rater for each in found.rows} == {"judge"}


def test_versions_may_stand_in_one_table() -> None:
    both = pl.concat(
        anchors(seed=seed).with_columns(pl.lit(version).alias("version"))
        for seed, version in ((1, "v1"), (2, "v2"))
    )
    earlier, later = split_by(both, "version", "v1", "v2")
    assert drift(earlier, later, resamples=200).find(statistic="shift").estimate.n == 60
    with pytest.raises(MedjuryError, match=r"no rating has version = 'v3'; there are v1, v2"):
        split_by(both, "version", "v1", "v3")


def test_an_id_that_means_another_text_is_left_out_and_reported() -> None:
    earlier, later = (
        anchors(seed=seed).with_columns(pl.lit("text").alias("content_hash")) for seed in (1, 2)
    )
    changed = pl.when(pl.col("item") == "c4").then(pl.lit("other")).otherwise(pl.col("content_hash"))
    found = drift(earlier, later.with_columns(changed.alias("content_hash")), resamples=200)
    assert found.find(statistic="shift").estimate.n == 59
    assert found.warnings == ("1 answers have a different text now and are left out: items c4",)


def test_no_common_anchor_is_refused() -> None:
    elsewhere = anchors(seed=2).with_columns((pl.lit("x") + pl.col("item")).alias("item"))
    with pytest.raises(MedjuryError, match="the same anchors"):
        drift(anchors(seed=1), elsewhere)
    with pytest.raises(MedjuryError, match="above zero"):
        drift(anchors(seed=1), anchors(seed=2), bound=0)


@pytest.mark.parametrize(
    ("scale", "fewest"),
    # 1 - 0.05^(1/n) of the cases could move by a grade, where two were seen, or by the four of the scale.
    [(None, 11), ((1, 5), 47)],
)
def test_anchors_that_did_not_move_show_sameness_where_enough_of_them_did_not(
    scale: tuple[int, int] | None, fewest: int
) -> None:
    for cases, verdict in (
        (fewest - 1, "neither a shift nor its absence is shown"),
        (fewest, "the same within ±0.25"),
    ):
        table = rating_table(few([3.0, 4.0] * (cases // 2) + [3.0] * (cases % 2)), scale=scale)
        assert drift(table, table, resamples=200).find(statistic="shift").verdict == verdict


def test_answers_that_change_less_than_noise_are_no_drift() -> None:
    """Repeats at one time always differ; an earlier and a later score differ half of the time."""
    table = repeated(np.tile([3.0, 4.0], (30, 1)))
    found = drift(table, table, resamples=200).find(statistic="excess_change")
    assert found.estimate.value == pytest.approx(-0.5) and found.p_adjusted is not None
    assert found.verdict == "not shown" and not found.stands_out


@pytest.mark.parametrize(
    ("first", "second", "told"), [(1, 1, "2 further repeats only"), (5, 4, "9 fur"), (5, 5, "")]
)
def test_ten_further_repeats_judge_single_answers_and_nine_do_not(first: int, second: int, told: str) -> None:
    draws = np.random.default_rng(0).normal(3, 1, (2, 20, 2))
    draws[0, first:, 1] = draws[1, second:, 1] = np.nan
    one, two = (repeated(each) for each in draws)
    found = drift(one, two, resamples=50).find(statistic="answers_beyond_noise").estimate
    assert found.defined == (not told) and told in found.reason
