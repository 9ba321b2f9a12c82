"""Stability: how a judge differs from itself, by hand and by simulation."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from medjury.analysis.audits import stability
from medjury.foundation.errors import MedjuryError
from medjury.statistics import proportion
from medjury.tables import rating_table


def repeats(*answers: list[float | None], rater: str = "judge") -> pl.DataFrame:
    rows = [
        (f"case {case}", rater, "risk", repeat, score)
        for case, scores in enumerate(answers)
        for repeat, score in enumerate(scores)
    ]
    schema = {
        "item": pl.String,
        "rater": pl.String,
        "dimension": pl.String,
        "repeat": pl.Int64,
        "score": pl.Float64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def test_every_number_by_hand() -> None:
    found = stability(repeats([4, 4, 5], [2, 2, 2], [1, 3, 5]), resamples=200)
    value = {each.statistic: each.estimate.value for each in found.rows}
    deviations = [statistics.stdev(scores) for scores in ([4, 4, 5], [2, 2, 2], [1, 3, 5])]
    assert value["sd"] == pytest.approx(statistics.fmean(deviations))
    assert value["within_sd"] == pytest.approx(math.sqrt(statistics.fmean(d**2 for d in deviations)))
    assert value["cv"] == pytest.approx((deviations[0] / (13 / 3) + 0 + 2 / 3) / 3)
    assert value["flip_rate"] == pytest.approx((2 / 3 + 0 + 1) / 3)
    assert value["changed_share"] == pytest.approx(2 / 3)
    assert value["repeats_needed"] == math.ceil((2 * 1.959964 * (value["within_sd"] or 0) / 0.5) ** 2)
    assert found.n == 9


def test_a_judge_that_never_changes_needs_one_repeat() -> None:
    found = stability(repeats([4, 4], [2, 2], [5, 5]), resamples=200)
    assert {each.estimate.value for each in found.rows if "repeats" not in each.statistic} == {0.0}
    assert found.find(statistic="repeats_needed").estimate.value == 1.0


def test_thirty_repeats_with_one_deviation_give_the_published_kind_of_number() -> None:
    """29 alike and one a point off: SD 0.18, as tables of judges' stability print it."""
    found = stability(repeats([4.0] * 29 + [5.0], [3.0] * 30), resamples=200)
    assert found.find(statistic="sd").estimate.value == pytest.approx(0.1826 / 2, abs=1e-4)


def test_repeats_needed_really_narrow_the_interval() -> None:
    generator = np.random.default_rng(0)
    scores = generator.normal(3, 0.6, (80, 6))
    found = stability(repeats(*scores.tolist()), width=0.4, resamples=500)
    needed, within = (found.find(statistic=name).estimate for name in ("repeats_needed", "within_sd"))
    assert needed.value is not None and within.low <= 0.6 <= within.high
    means = generator.normal(3, 0.6, (4000, int(needed.value))).mean(axis=1)
    assert np.quantile(means, 0.975) - np.quantile(means, 0.025) == pytest.approx(0.4, abs=0.04)


def test_a_scale_that_starts_at_zero_has_no_cv_where_the_mean_is_zero() -> None:
    found = stability(repeats([0, 0], [0, 0]), resamples=200).find(statistic="cv").estimate
    assert found.value is None and "zero" in found.reason


def test_single_and_failed_repeats_are_counted() -> None:
    found = stability(repeats([4, 4], [2, None], [1, 3]), resamples=200)
    assert (
        found.n_unscored == 1
        and found.find(statistic="sd").n_unscored == 1
        and found.find(statistic="sd").estimate.n == 2
    )
    assert any("1 answers were scored only once" in text for text in found.warnings)


def test_without_repeats_it_says_what_to_do() -> None:
    with pytest.raises(MedjuryError, match="2 repeats or more"):
        stability(repeats([4], [3]))
    with pytest.raises(MedjuryError, match="above zero"):
        stability(repeats([4, 4]), width=0)


@pytest.mark.parametrize(
    ("answers", "threshold", "flips", "changed"),
    [
        ([[4, 5, 4], [2, 4, 2]], 3.5, 1 / 3, 0.5),
        ([[3, 4], [3, 3]], 3, 0.0, 0.0),  # a score on the threshold lies on its upper side
        ([[2, 3], [3, 3]], 3, 0.5, 0.5),
        (
            [[4, 4, 4, 5], [4, 4, 4, 4]],
            None,
            0.25,
            0.5,
        ),  # three of the six pairs differ, though most repeats agree
        ([[4, 5], [4, 4]], None, 0.5, 0.5),
    ],
)
def test_a_flip_is_any_two_repeats_that_differ_or_that_a_threshold_divides(
    answers: list[list[float | None]], threshold: float | None, flips: float, changed: float
) -> None:
    found = stability(repeats(*answers), threshold=threshold, resamples=50)
    flip = found.find(statistic="flip_rate")
    assert flip.estimate.value == pytest.approx(flips)
    assert found.find(statistic="changed_share").estimate.value == changed
    assert flip.group == ("" if threshold is None else f"score ≥ {threshold:g}")


def test_ten_cases_are_enough_for_an_interval_and_nine_are_few() -> None:
    rough = "fewer than 10 cases have repeats for some raters: their intervals are rough"
    assert rough in stability(repeats(*[[4, 5]] * 9), resamples=50).warnings
    assert rough not in stability(repeats(*[[4, 5]] * 10), resamples=50).warnings


def test_a_mean_that_is_exactly_wide_enough_needs_no_further_repeat() -> None:
    """2·z·SD/√r = width, exactly: r repeats are enough, whatever the last digit of the root says."""
    for needed in range(2, 30):
        width = 2 * 1.959963984540054 * math.sqrt(2) / math.sqrt(needed)
        found = stability(repeats([3, 5], [1, 3]), width=width, resamples=0)
        assert found.find(statistic="repeats_needed").estimate.value == needed


def test_the_worst_tenth_is_that_of_the_ninetieth_percentile() -> None:
    """Ten answers, one of which moves by two grades: the 90th percentile lies a tenth of the way up to it."""
    found = stability(repeats(*[[3, 3]] * 9, [2, 4]), width=0.5, resamples=0)
    spread = 0.1 * math.sqrt(2)
    worst = found.find(statistic="repeats_needed_worst_tenth").estimate.value
    assert worst == math.ceil((2 * 1.959964 * spread / 0.5) ** 2) == 2


def test_only_judges_are_asked_for_repeats() -> None:
    """A jury, formed here or stored, is made of judges, and a metric has one answer."""
    both = pl.concat([repeats([4, 5], [2, 2], rater=name) for name in ("ada", "bob")])
    judges = both.with_columns(pl.lit("judge").alias("rater_kind"))
    others = [
        repeats([4], [2], rater=name).with_columns(pl.lit(kind).alias("rater_kind"))
        for name, kind in (("rouge", "metric"), ("panel", "jury"))
    ]
    for table in (judges, pl.concat([judges, *others])):
        found = stability(table, resamples=50)
        assert {row.rater for row in found.rows} == {"ada", "bob"}
        assert not any("without any repeat" in text for text in found.warnings)


def test_the_reference_is_not_audited() -> None:
    both = pl.concat([repeats([4, 5], [2, 2]), repeats([4, 4], [2, 3], rater="dr one")])
    assert {row.rater for row in stability(both, reference="dr one", resamples=50).rows} == {"judge"}


def people() -> pl.DataFrame:
    """A judge asked twice, and two clinicians; the first of them rated the first two answers again."""
    rows = [("judge", "judge", case, repeat, float(score)) for case, pair in enumerate([(4, 5), (2, 2), (1, 3)])
            for repeat, score in enumerate(pair)]  # fmt: skip
    rows += [("one", "clinician", 0, 0, 4.0), ("one", "clinician", 0, 1, 2.0), ("one", "clinician", 1, 0, 2.0),
             ("one", "clinician", 1, 1, 3.0), ("one", "clinician", 2, 0, 1.0)]  # fmt: skip
    rows += [("two", "clinician", case, 0, score) for case, score in enumerate([5.0, 4.0, 1.0])]
    return pl.DataFrame(rows, schema=["rater", "rater_kind", "case", "repeat", "score"], orient="row").select(
        pl.format("case {}", "case").alias("item"),
        "rater",
        "rater_kind",
        pl.lit("risk").alias("dimension"),
        "repeat",
        "score",
    )


def test_people_stand_beside_the_judges_by_hand() -> None:
    found = stability(people(), resamples=100)
    value = {(each.rater, each.statistic): each.estimate for each in found.rows}
    again = [statistics.stdev(scores) for scores in ([4, 2], [2, 3])]
    assert value["one", "sd"].value == pytest.approx(statistics.fmean(again))
    assert value["one", "sd"].n == 2
    # Between people: the first clinician's mean of 4 and 2 beside 5, of 2 and 3 beside 4, 1 beside 1.
    between = [statistics.stdev(scores) for scores in ([3, 5], [2.5, 4], [1, 1])]
    among = "clinicians among themselves"
    assert value[among, "sd"].value == pytest.approx(statistics.fmean(between))
    assert value[among, "cv"].value == pytest.approx((between[0] / 4 + between[1] / 3.25 + 0) / 3)
    assert ("two", "sd") not in value
    assert found.n == 6  # the judge's ratings alone


def test_an_adjudicator_is_no_further_opinion() -> None:
    settled = people().filter(pl.col("rater") == "two").with_columns(pl.lit("gold").alias("rater"))
    table = rating_table(pl.concat([people(), settled]))
    table = replace(table, people=replace(table.people, adjudicator="gold"))
    among = [
        {
            each.statistic: each.estimate.value
            for each in stability(rows, resamples=0).rows
            if "among" in each.rater
        }
        for rows in (people(), table)
    ]
    assert among[0] == among[1] and among[0]


def test_who_is_named_stands_alone() -> None:
    found = stability(people(), raters="judge", resamples=0)
    assert {each.rater for each in found.rows} == {"judge"}


def test_people_who_rated_again_do_not_make_up_for_judges_who_did_not() -> None:
    with pytest.raises(MedjuryError, match="no rater rated any answer twice"):
        stability(people().filter((pl.col("rater") != "judge") | (pl.col("repeat") == 0)), resamples=0)


def test_no_interval_ends_where_no_value_can_be() -> None:
    """Five answers of 22 change once: a standard deviation is not negative, a share lies between 0 and 1."""
    found = stability(repeats(*[[4.0] * 9 + [5.0]] * 5, *[[3.0] * 10] * 17), resamples=400)
    ends = {each.statistic: each.estimate for each in found.rows if each.estimate.low is not None}
    assert {"sd", "within_sd", "cv", "flip_rate", "changed_share"} == set(ends)
    assert all(each.low >= 0 for each in ends.values())
    assert ends["changed_share"].high <= 1 and ends["flip_rate"].high <= 1


def test_a_spread_that_few_cases_show_has_a_value_and_no_interval() -> None:
    found = stability(repeats(*[[4.0] * 9 + [5.0]] * 4, *[[3.0] * 10] * 17), resamples=400)
    for name in ("sd", "within_sd", "cv", "flip_rate"):
        row = found.find(statistic=name).estimate
        assert row.value > 0 and (row.low, row.high) == (None, None)
        assert row.method == "no interval: repeats differ in 4 cases, at least 5 are needed"


def test_the_share_of_answers_that_changed_is_a_share_of_counted_answers() -> None:
    found = stability(repeats(*[[4.0, 5.0]] * 4, *[[3.0, 3.0]] * 17), resamples=400)
    changed = found.find(statistic="changed_share").estimate
    assert changed == proportion(4, 21, interval="wilson")
    # Two answers to each patient go together, and are resampled together.
    several = repeats(*[[4.0, 5.0]] * 12, *[[3.0, 3.0]] * 18)
    several = several.with_columns(patient=pl.col("item").str.extract(r"(\d+)").cast(pl.Int64) // 2)
    assert (
        "resamples of 15" in stability(several, resamples=400).find(statistic="changed_share").estimate.method
    )


def test_how_often_to_ask_is_a_whole_number_without_an_interval() -> None:
    """The ends of (2·z·within_sd/width)² rounded up held in more than 98.5 % of simulated studies."""
    found = stability(repeats(*[[4.0, 5.0]] * 10, *[[3.0, 3.0]] * 20), resamples=400)
    needed = found.find(statistic="repeats_needed").estimate
    assert (needed.low, needed.high) == (None, None) and needed.method.startswith("no interval: ")
    assert found.find(statistic="within_sd").estimate.low is not None


def test_the_order_of_repeats_moves_no_end() -> None:
    """Equal spreads are equal: in the last digit they are not, and other cases would be drawn."""
    generator = np.random.default_rng(5)
    answers = [generator.choice([1.0, 2.0, 3.0, 4.0], size=10).tolist() for _ in range(30)]
    answers += [[score + 1.0 for score in scores] for scores in answers]
    ends = [
        {(row.statistic, row.estimate.low, row.estimate.high) for row in stability(given, resamples=300).rows}
        for given in (repeats(*answers), repeats(*([*generator.permutation(scores)] for scores in answers)))
    ]
    for (name, *one), (other, *two) in zip(*(sorted(each, key=str) for each in ends), strict=True):
        assert name == other and one == pytest.approx(two, abs=1e-9)
