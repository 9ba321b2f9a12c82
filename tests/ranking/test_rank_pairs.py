"""Systems in order by preferences: against other implementations, and where there is nothing to estimate."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy import optimize, special
from tests.ranking.tournaments import COLUMNS, drawn

from medjury.analysis.ranking import pairs_worth, rank_pairs
from medjury.analysis.ranking._bradley_terry import Comparisons, fit_strengths
from medjury.analysis.ranking._rank_pairs import PairRanking
from medjury.analysis.ranking._tournament import Tournament, tournament, verdicts
from medjury.foundation.errors import MedjuryError
from medjury.tables import rating_table


def everybody_s(table: pl.DataFrame) -> Tournament:
    rows, systems = verdicts(rating_table(table))
    return tournament(rows, systems, rows["rater"].to_list())


def fitted(table: pl.DataFrame) -> tuple[np.ndarray, float, float]:
    found = everybody_s(table)
    made = fit_strengths(found.compared, found.counts[np.newaxis])
    return made.strengths[0], float(made.tie[0]), float(made.order[0])


def by_likelihood(table: pl.DataFrame, *, ties: bool) -> np.ndarray:
    """The same by another way: the likelihood verdict by verdict, given to a general optimiser."""
    systems = sorted(set(table["first"]) | set(table["second"]))
    place = {name: at for at, name in enumerate(systems)}

    first, second = (np.array([place[name] for name in table[side]]) for side in ("first", "second"))
    seen = np.array([{"first": 0, "second": 1, "tie": 2}[verdict] for verdict in table["preferred"]])

    def loss(values: np.ndarray) -> float:
        strengths, order, tie = np.append(values[: len(systems) - 1], 0.0), values[-1], values[-2]
        one, other = strengths[first], strengths[second]
        tied = (one + other) / 2 + tie if ties else np.full(len(one), -np.inf)
        log_odds = np.stack([one + order / 2, other - order / 2, tied])
        return float((special.logsumexp(log_odds, axis=0) - log_odds[seen, np.arange(len(seen))]).sum())

    found = optimize.minimize(loss, np.zeros(len(systems) + 1), method="BFGS", options={"gtol": 1e-9}).x
    strengths = np.append(found[: len(systems) - 1], 0.0)
    return np.concatenate([strengths - strengths.mean(), found[-2:]])


@pytest.mark.parametrize("tie", [None, -0.5])
def test_the_estimates_are_those_of_a_general_optimiser(tie: float | None) -> None:
    table = drawn([0.0, 0.4, 1.1], cases=12, order=0.7, tie=tie, seed=3)
    strengths, own_tie, order = fitted(table)
    other = by_likelihood(table, ties=tie is not None)
    assert strengths == pytest.approx(other[:3], abs=1e-6)
    assert order == pytest.approx(other[4], abs=1e-6)
    assert math.isnan(own_tie) if tie is None else own_tie == pytest.approx(other[3], abs=1e-6)


def test_citations_of_journals_as_r_has_them() -> None:
    """Stigler's citations between four journals, as the vignette of BradleyTerry2 for R has them: Communications
    -2.94907, JASA -0.47957, JRSS B 0.26895 beside Biometrika 0."""
    first, second = np.array([0, 0, 0, 1, 1, 2]), np.array([1, 2, 3, 2, 3, 3])
    won = [(730, 33), (498, 320), (221, 284), (68, 813), (17, 276), (142, 325)]
    counts = np.array([[(one, 0.0, other) for one, other in won]])
    made = fit_strengths(
        Comparisons(("B", "C", "JASA", "JRSS"), first, second, ties=False, order=False), counts
    )
    values = made.strengths[0] - made.strengths[0, 0]
    assert values == pytest.approx([0.0, -2.94907, -0.47957, 0.26895], abs=1e-5)


def test_strengths_are_those_of_choix_without_ties_and_places() -> None:
    """`choix.ilsr_pairwise(4, wins, alpha=0.0)`, version 0.4.1."""
    won = {
        (0, 1): (7, 12),
        (0, 2): (5, 14),
        (0, 3): (13, 6),
        (1, 2): (9, 11),
        (1, 3): (15, 4),
        (2, 3): (17, 3),
    }
    first, second = (np.array([pair[side] for pair in won]) for side in (0, 1))
    counts = np.array([[(one, 0.0, other) for one, other in won.values()]])
    made = fit_strengths(Comparisons(tuple("abcd"), first, second, ties=False, order=False), counts)
    assert made.strengths[0] == pytest.approx(
        [-0.195449367, 0.422471081, 0.729347144, -0.956368858], abs=1e-6
    )


def test_a_better_place_is_found_and_makes_no_system_stronger() -> None:
    found = rank_pairs(drawn([0.0, 0.0, 1.0], cases=40, order=1.2, seed=1), resamples=400)
    (rater,) = found.each_rater.rows
    assert rater.first_place.low is not None and rater.first_place.low > 0.6
    assert rater.first_place.value == pytest.approx(special.expit(1.2), abs=0.08)
    share = f"{100 * rater.first_place.value:.0f} %"
    assert f"judge prefers the answer shown first: it wins {share} of" in found.each_rater.warnings[0]
    by_name = {row.system: row for row in found.rows}
    assert by_name["c"].rank == 1 and by_name["c"].tie_group == "a"
    assert by_name["a"].tie_group == by_name["b"].tie_group == "b"


def test_a_judge_without_a_favourite_place_is_not_accused() -> None:
    found = rank_pairs(drawn([0.0, 1.0], cases=60, seed=2), resamples=400)
    assert found.each_rater.warnings == ()
    assert found.each_rater.rows[0].first_place.value == pytest.approx(0.5, abs=0.1)


def judged(*rows: tuple[str, str, str, str], times: int = 1, rater: str = "judge") -> pl.DataFrame:
    many = [(f"{item} {n}", *rest, rater) for n in range(times) for item, *rest in rows]
    return pl.DataFrame(many, schema=COLUMNS, orient="row")


def reasons(found: PairRanking) -> set[str]:
    assert all(row.strength.value is None and row.strength.low is None for row in found.rows)
    return {row.strength.reason for row in found.rows}


def test_a_judge_that_always_ties_gives_no_order() -> None:
    table = judged(("1", "a", "b", "tie"), ("1", "b", "a", "tie"), ("1", "a", "c", "tie"), times=20)
    found = rank_pairs(table, resamples=200)
    assert reasons(found) == {"every verdict is a tie, so nothing tells which system is better"}
    assert "judge called every pair a tie" in found.each_rater.warnings
    assert {row.tie_group for row in found.rows} == {"a"} and found.rows[0].rank_high == 3


def test_a_judge_that_always_prefers_the_first_place_gives_no_order() -> None:
    found = rank_pairs(judged(("1", "a", "b", "first"), ("1", "b", "a", "first"), times=20), resamples=200)
    assert "the place explains them as well" in reasons(found).pop()
    assert found.each_rater.rows[0].first_place.value == 1.0
    assert any("the first place won every decided verdict" in each for each in found.each_rater.warnings)


def test_clinicians_without_a_verdict_leave_the_order_of_the_judges() -> None:
    table = judged(("1", "a", "b", "a"), ("2", "b", "a", "b"), times=9)
    rows = table.with_columns(rater_kind=pl.lit("judge"))
    empty = rows.with_columns(rater=pl.lit("anna"), rater_kind=pl.lit("clinician"), preferred=pl.lit(""))
    found = rank_pairs(pl.concat([rows, empty]), resamples=60)
    assert [row.wins for row in found.rows] == [9, 9] and found.reference_ranks is None
    assert "no order to compare with: anna gave no verdict on any pair" in found.warnings


def test_one_readable_reply_has_no_interval_and_separates_nothing() -> None:
    found = rank_pairs(judged(("1", "a", "b", "a"), ("2", "a", "b", ""), ("3", "b", "a", "")), resamples=200)
    assert reasons(found) and found.each_rater.rows[0].n_unscored == 2
    assert [row.tie_group for row in found.rows] == ["a", "a"]
    assert all(row.expected_share.low is None for row in found.rows)


def test_a_system_that_never_loses_has_no_finite_strength() -> None:
    table = pl.concat(
        [drawn([0.0, 0.5], cases=30, seed=4), judged(("x", "c", "a", "c"), ("x", "b", "c", "c"), times=9)]
    )
    found = rank_pairs(table, resamples=300)
    best = found.rows[0]
    assert best.system == "c" and best.strength.value is None
    assert best.strength.reason == "no finite estimate: never worse than a, b"
    assert best.expected_share.value == pytest.approx(1.0, abs=1e-4)
    assert any("no finite estimate" in each for each in found.warnings)


def test_systems_that_never_met_have_no_common_order() -> None:
    table = pl.concat(
        [drawn([0.0, 0.5], cases=20, seed=5), judged(("x", "c", "d", "c"), ("y", "d", "c", "d"), times=9)]
    )
    assert reasons(rank_pairs(table, resamples=200)) == {
        "a, b and c, d were never compared, directly or through others, so there is no order of all"
    }


def test_pairs_in_one_order_only_say_so() -> None:
    table = drawn([0.0, 1.0], cases=40, seed=6).filter(pl.col("first") == "a")
    found = rank_pairs(table, resamples=300)
    assert any("shown in one order only" in each for each in found.warnings)
    assert found.each_rater.rows[0].first_place.value is None
    assert found.rows[0].system == "b" and found.rows[0].strength.value is not None


def test_a_system_that_is_missing_on_some_cases_is_ranked_by_the_others() -> None:
    table = drawn([0.0, 0.5, 1.0], cases=40, seed=7)
    lost = pl.col("item").is_in([f"case {n}" for n in range(20)]) & (
        (pl.col("first") == "c") | (pl.col("second") == "c")
    )
    found = rank_pairs(table.filter(~lost), resamples=300)
    assert [row.system for row in found.rows] == ["c", "b", "a"]
    assert {row.system: row.n for row in found.rows} == {"a": 120, "b": 120, "c": 80}


def test_a_system_of_one_case_gets_no_interval_from_resamples_that_lack_it() -> None:
    """Where a resample has no case of a system its strength is not known there, and not that of another."""
    table = drawn([0.0, 0.6], cases=30, seed=9)
    alone = judged(("x", "c", "a", "c"), ("x", "a", "c", "a"), ("x", "c", "b", "c"), ("x", "b", "c", "c"))
    found = rank_pairs(pl.concat([table, alone]), resamples=400)
    assert {row.system for row in found.rows} == {"a", "b", "c"}
    for row in found.rows:
        assert row.strength.value is not None and row.strength.low is None
        assert row.expected_share.low is None and "undefined in" in row.expected_share.method
    assert {row.tie_group for row in found.rows} == {"a"}
    assert any("c is in the fewest, 1 case" in each for each in found.warnings)
    assert found.each_rater.rows[0].first_place.low is not None, "the place is known without it"
    assert rank_pairs(table, resamples=400).rows[0].strength.low is not None


def test_triples_that_run_in_a_circle_are_counted_by_case() -> None:
    circle = (("1", "a", "b", "a"), ("1", "b", "c", "b"), ("1", "c", "a", "c"))
    line = (("2", "a", "b", "a"), ("2", "b", "c", "b"), ("2", "a", "c", "a"))
    open_ = (("3", "a", "b", "a"), ("3", "b", "c", "tie"), ("3", "c", "a", "c"))
    found = rank_pairs(judged(*circle, *line, *open_), resamples=200).each_rater.rows[0]
    assert (found.triples, found.circular) == (2, 1)


def test_a_verdict_that_was_drawn_counts_one_over_its_probability() -> None:
    table = judged(("1", "a", "b", "a"), ("2", "b", "a", "a"), ("3", "a", "b", "b"), ("4", "b", "a", "b"))
    weighted = table.with_columns(
        pl.Series("probability", [1.0, 1.0, 0.25, 0.25]), rater_kind=pl.lit("clinician")
    )
    plain, drawn_ = fitted(table), fitted(weighted)
    assert plain[0] == pytest.approx([0.0, 0.0], abs=1e-9)
    assert drawn_[0] == pytest.approx([-math.log(4) / 2, math.log(4) / 2], abs=1e-6)


def test_direct_grades_are_held_beside_the_order() -> None:
    pairs = drawn([0.0, 0.8, 1.6], cases=40, seed=9)
    grades = pl.DataFrame(
        [(f"case {n}", system, "judge", "quality", grade + n % 2) for n in range(20)
         for system, grade in (("a", 1), ("b", 4), ("c", 3))],
        schema=["item", "system", "rater", "dimension", "score"], orient="row",
    )  # fmt: skip
    found = rank_pairs(pairs, resamples=300, beside=grades)
    assert found.beside is not None and found.reordered is not None
    assert found.beside.rows[0].tau.value == pytest.approx(1 / 3)
    assert [(row.better, row.other) for row in found.reordered.rows] == [("c", "b")]


def test_intervals_hold_in_drawn_tournaments() -> None:
    """A small one of `python -m benchmarks pairs`: verdicts with ties and a better place."""
    truth = np.array([-0.6, 0.0, 0.6])
    held = []
    for seed in range(15):
        found = everybody_s(drawn(truth, cases=14, order=0.5, seed=seed))
        drawn_ = found.replicates(200, seed)
        for at, name in enumerate(found.compared.systems):
            made = drawn_.estimate(f"strength\0{name}")
            held.append(made.low is not None and made.low <= truth[at] <= (made.high or 0.0))
    assert 0.88 <= np.mean(held) <= 1.0


def test_ratings_of_single_answers_are_refused() -> None:
    frame = pl.DataFrame(
        {"item": ["1"], "system": "a", "rater": "r", "dimension": "preference", "score": [1.0]}
    )
    with pytest.raises(MedjuryError, match="single answers"):
        rank_pairs(frame)


def test_a_clinician_who_swapped_the_labels_is_seen_beside_the_others() -> None:
    """Everybody sees the same verdicts but one, who took A for B throughout: that one's order is upside down."""
    table = drawn([0.0, 1.5, 3.0], cases=30, raters=("ann", "bob", "cyd"), both=False, seed=3)
    swapped = (
        pl.when((pl.col("rater") == "cyd") & (pl.col("preferred") != "tie"))
        .then(pl.when(pl.col("preferred") == "first").then(pl.lit("second")).otherwise(pl.lit("first")))
        .otherwise("preferred")
    )
    table = table.with_columns(swapped.alias("preferred"), rater_kind=pl.lit("clinician"))
    assert rank_pairs(table.filter(pl.col("rater") != "cyd"), resamples=200).warnings == ()
    found = rank_pairs(table, raters="cyd", reference=["ann", "bob"], resamples=200)
    assert [each.split("'")[0] for each in found.warnings] == ["cyd"]
    assert found.agreement is not None and found.agreement.rows[0].tau.value == -1.0
    assert [row.system for row in found.rows] == ["a", "b", "c"]
    assert any("cyd's verdicts are the reverse" in each for each in found.warnings)


def test_what_clinicians_said_decides_nothing_about_which_pairs_they_see() -> None:
    table = drawn([0.0, 1.0, 2.0], cases=12, raters=("ann", "bob"), seed=3)
    assert set(pairs_worth(table, resamples=100)) == {"a vs b", "a vs c", "b vs c"}
    with pytest.raises(MedjuryError, match="no judge gave a verdict"):
        pairs_worth(table.with_columns(rater_kind=pl.lit("clinician")), resamples=100)
