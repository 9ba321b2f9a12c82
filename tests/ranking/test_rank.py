"""Ranking: the numbers by hand, the intervals by what was resampled, the letters by what was planted."""

from __future__ import annotations

import json
import statistics

import numpy as np
import polars as pl
import pytest
from tests.ranking.tables import benchmark_table, rating_table, scores_of

from medjury.analysis.ranking._rank_scores import rank_scores
from medjury.analysis.ranking._ranked import composite_of
from medjury.analysis.ranking._scores import SystemScores
from medjury.foundation.errors import MedjuryError

QUALITY = {"best": 0.30, "twin": 0.30, "middle": 0.20, "worst": 0.0}


def by_hand() -> pl.DataFrame:
    scores = {"A": (0.9, 0.8, 0.7), "B": (0.6, 0.8, 0.5), "C": (0.7, 0.1, 0.6)}
    rows = [(system, f"b{k}", score) for system, each in scores.items() for k, score in enumerate(each)]
    return pl.DataFrame(rows, schema=["system", "benchmark", "score"], orient="row")


def test_win_rate_and_macro_average_by_hand() -> None:
    ranking = rank_scores(scores_of(by_hand()), resamples=200)
    found = {each.system: each for each in ranking.rows}
    assert found["A"].win_rate.value == pytest.approx((1 + 0.75 + 1) / 3)
    assert found["B"].win_rate.value == pytest.approx((0 + 0.75 + 0) / 3)
    assert found["C"].win_rate.value == pytest.approx((0.5 + 0 + 0.5) / 3)
    assert found["A"].win_sd == pytest.approx(statistics.stdev([1, 0.75, 1]))
    assert found["A"].win_sd_rivals == pytest.approx(statistics.stdev([2.5 / 3, 3 / 3]))
    assert found["C"].macro_average.value == pytest.approx(1.4 / 3)
    assert found["C"].macro_sd == pytest.approx(statistics.stdev([0.7, 0.1, 0.6]))
    assert [each.rank for each in ranking.rows] == [1, 2, 3]


def test_a_tie_may_count_as_a_win_for_both() -> None:
    ranking = rank_scores(scores_of(by_hand()), ties="win", resamples=200)
    assert ranking.find(system="A").win_rate.value == 1.0
    assert ranking.find(system="B").win_rate.value == pytest.approx(1 / 3)


def test_planted_ties_share_a_letter_and_planted_differences_do_not() -> None:
    for by in ("macro_average", "win_rate"):
        ranking = rank_scores(scores_of(benchmark_table(QUALITY)), by=by, resamples=1000)  # type: ignore[arg-type]
        letters = {each.system: each.tie_group for each in ranking.rows}
        assert letters == {"best": "a", "twin": "a", "middle": "b", "worst": "c"}
        assert {each.system: (each.rank_low, each.rank_high) for each in ranking.rows} == {
            "best": (1, 2), "twin": (1, 2), "middle": (3, 3), "worst": (4, 4),
        }  # fmt: skip


def test_ratings_rank_the_same_way() -> None:
    ranking = rank_scores(
        scores_of(rating_table({name: 3 * worth for name, worth in QUALITY.items()})), resamples=1000
    )
    letters = {each.system: each.tie_group for each in ranking.rows}
    assert letters == {"best": "a", "twin": "a", "middle": "b", "worst": "c"}
    assert ranking.unit == "cases" and ranking.benchmarks == ("accuracy", "clarity")


def test_what_is_resampled_is_said_and_matters() -> None:
    """Ten benchmarks of a hundred items: resampling items is sure of them, resampling benchmarks is not."""
    generator = np.random.default_rng(0)
    rows = [
        (system, f"b{b}", f"b{b} item {k}", float(0.5 + worth + shift + generator.normal(0, 0.05)))
        for b in range(10)
        for system, worth in (("A", 0.0), ("B", 0.05))
        for shift in (float(np.random.default_rng([b, len(system), ord(system)]).normal(0, 0.08)),)
        for k in range(100)
    ]
    items = pl.DataFrame(rows, schema=["system", "benchmark", "item", "score"], orient="row")
    means = items.group_by("system", "benchmark").agg(pl.col("score").mean()).sort("system", "benchmark")
    fine, coarse = (rank_scores(scores_of(table), resamples=1000) for table in (items, means))
    assert fine.unit == "cases within each benchmark" and coarse.unit == "benchmarks"
    widths = []
    for ranking in (fine, coarse):
        estimate = ranking.find(system="A").macro_average
        assert estimate.low is not None and estimate.high is not None
        widths.append(estimate.high - estimate.low)
    assert 4 * widths[0] < widths[1]
    assert fine.find(system="A").macro_average.value == pytest.approx(
        coarse.find(system="A").macro_average.value
    )
    assert "within 10 benchmarks" in fine.find(system="A").macro_average.method


def test_patients_are_drawn_whole() -> None:
    ratings = rating_table({"A": 0.0, "B": 0.3}, cases=60)
    patients = ratings.with_columns(
        ("p" + pl.col("item").str.slice(1).cast(pl.Int64).floordiv(6).cast(pl.String)).alias("patient")
    )
    assert "of 60 cases" in rank_scores(scores_of(ratings), resamples=100).rows[0].macro_average.method
    assert "of 10 patients" in rank_scores(scores_of(patients), resamples=100).rows[0].macro_average.method


def test_a_rater_who_left_answers_out_does_not_shift_the_system() -> None:
    """ada is a point more lenient; without half of her scores of A, a mean of what is there would punish A."""
    ratings = rating_table({"A": 0.0, "B": 0.0}, cases=200)
    lenient = pl.when(pl.col("rater") == "ada").then(pl.col("score") + 1).otherwise(pl.col("score"))
    gap = (pl.col("rater") == "ada") & (pl.col("system") == "A") & pl.col("item").str.ends_with("1")
    full = scores_of(ratings.with_columns(lenient.alias("score")))
    part = scores_of(ratings.with_columns(pl.when(~gap).then(lenient).alias("score")))
    assert part.means == pytest.approx(full.means, abs=0.05)
    assert part.unscored == (40, 0)


def test_a_rater_who_rated_one_dimension_only_takes_part_in_that_one() -> None:
    ratings = rating_table({"A": 0.0, "B": 0.5}, cases=20)
    part = ratings.filter((pl.col("rater") == "ada") | (pl.col("dimension") == "accuracy"))
    whole, cut = scores_of(ratings), scores_of(part)
    assert cut.means[:, 0] == pytest.approx(whole.means[:, 0])
    assert cut.means[:, 1] == pytest.approx(scores_of(ratings, raters=["ada"]).means[:, 1])


def test_the_jury_ranks_where_there_is_one_and_clinicians_do_not() -> None:
    ratings = rating_table({"A": 0.0, "B": 1.0}, cases=30)
    jury = ratings.filter(pl.col("rater") == "ada").with_columns(
        pl.lit("jury").alias("rater"), pl.lit("jury").alias("rater_kind")
    )
    clinician = jury.with_columns(pl.lit("dr one").alias("rater"), pl.lit("clinician").alias("rater_kind"))
    formed, stored = (
        scores_of(pl.concat([ratings, clinician])),
        scores_of(pl.concat([ratings, jury, clinician])),
    )
    assert formed.raters == stored.raters == ("jury",)
    assert formed.means == pytest.approx(scores_of(ratings, each=["ada", "bob"]).means)
    assert stored.means == pytest.approx(scores_of(ratings, raters=["ada"]).means)
    assert scores_of(pl.concat([ratings, clinician]), raters=["dr one"]).raters == ("dr one",)
    assert scores_of(ratings.drop("rater_kind"), reference=["bob"]).raters == ("ada",)
    assert scores_of(ratings, raters=["bob"]).raters == ("bob",)


def test_a_benchmark_column_holds_the_mean_of_its_dimensions() -> None:
    ratings = rating_table({"A": 0.0, "B": 0.5}, cases=20)
    both = pl.concat(
        ratings.with_columns(pl.lit(name).alias("benchmark"), (pl.lit(name) + pl.col("item")).alias("item"))
        for name in ("notes", "letters")
    )
    scores = scores_of(both)
    assert scores.benchmarks == ("letters", "notes") and len(scores.blocks) == 2
    expected = ratings.filter(pl.col("system") == "A")["score"].mean()
    assert scores.means[0] == pytest.approx([expected, expected])


def test_composites_follow_the_instruments_rule() -> None:
    ratings = rating_table({"A": 0.0, "B": 0.5}, cases=20)
    composite = composite_of("quality=accuracy:3,clarity:1")
    scores = scores_of(ratings, composites=[composite], each=["ada", "bob"])
    means = ratings.filter(pl.col("system") == "A").group_by("dimension").agg(pl.col("score").mean())
    part = dict(means.iter_rows())
    assert scores.benchmarks == ("quality",)
    assert scores.means[0, 0] == pytest.approx(0.75 * part["accuracy"] + 0.25 * part["clarity"])
    gap = (pl.col("item") == "c0") & (pl.col("dimension") == "clarity")
    lost = scores_of(
        ratings.with_columns(pl.when(~gap).then(pl.col("score")).alias("score")),
        composites=[composite],
        each=["ada", "bob"],
    )
    assert lost.unscored == (2, 2) and lost.counts == (38, 38)
    skipped = ratings.with_columns(
        pl.when(~gap).then(pl.col("score")).alias("score"),
        pl.when(gap).then(pl.lit("not_applicable")).otherwise(pl.lit("scored")).alias("status"),
    )
    assert scores_of(skipped, composites=[composite], each=["ada", "bob"]).counts == (40, 40)


@pytest.mark.parametrize("text", ["quality", "=a:1", "q=", "q=a", "q=a:x", "q=a:-1", "q=:1", "q=a:0"])
def test_a_composite_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(MedjuryError, match="NAME=DIMENSION:WEIGHT"):
        composite_of(text)


def test_a_risk_is_turned_around_on_its_scale() -> None:
    ratings = rating_table({"A": 0.0, "B": 1.0}, cases=30)
    plain = scores_of(ratings, dimensions=["clarity"])
    turned = scores_of(ratings, dimensions=["clarity"], lower_is_better=["clarity"], scale=(1, 5))
    assert turned.means == pytest.approx(6 - plain.means)
    with pytest.raises(MedjuryError, match="give the scale"):
        scores_of(ratings, lower_is_better=["clarity"])


def test_a_system_without_overlap_is_refused() -> None:
    table = pl.concat([by_hand(), pl.DataFrame({"system": ["D"], "benchmark": ["other"], "score": [0.5]})])
    with pytest.raises(MedjuryError, match="'D' shares no benchmark with any other system"):
        scores_of(table)
    ratings = rating_table({"A": 0.0, "B": 0.0}, cases=5)
    stranger = ratings.filter(pl.col("system") == "A").with_columns(
        pl.lit("D").alias("system"), ("x" + pl.col("item")).alias("item")
    )
    with pytest.raises(MedjuryError, match="'D' answered no item that another system answered"):
        scores_of(pl.concat([ratings, stranger]))


def easy_and_hard(systems: dict[str, tuple[float, int]]) -> pl.DataFrame:
    """Twenty easy items and, of each system, some of twenty hard ones; `worse` is taken from every score."""
    rows = [
        (system, "b", f"{kind}{k}", grade - worse)
        for system, (worse, hard) in systems.items()
        for kind, grade, count in (("easy", 4.0, 20), ("hard", 2.0, hard))
        for k in range(count)
    ]
    return pl.DataFrame(rows, schema=["system", "benchmark", "item", "score"], orient="row")


def test_a_system_that_skipped_the_hard_items_gains_nothing_by_it() -> None:
    """A is worse on every item that both answered; its mean over its own items is better."""
    ranking = rank_scores(scores_of(easy_and_hard({"A": (0.1, 1), "B": (0.0, 20)})), resamples=300)
    assert [each.system for each in ranking.rows] == ["B", "A"]
    assert ranking.pairs.rows[0].difference.value == pytest.approx(0.1)
    assert [each.n for each in ranking.rows] == [21, 21]
    assert "19 of 61 scores" in ranking.warnings[0] and ranking.warnings[0].endswith("left out: B 19")


def test_an_answer_scored_twice_weighs_no_more_than_its_rivals() -> None:
    table = easy_and_hard({"A": (0.1, 20), "B": (0.0, 20)})
    again = table.filter((pl.col("system") == "A") & pl.col("item").str.starts_with("easy"))
    assert scores_of(pl.concat([table, again, again])).means == pytest.approx(scores_of(table).means)


def test_without_an_item_that_all_answered_there_is_no_ranking() -> None:
    rows = [("A", "1"), ("B", "1"), ("B", "2"), ("C", "2"), ("A", "3"), ("C", "3")]
    table = pl.DataFrame(rows, schema=["system", "item"], orient="row")
    table = table.with_columns(pl.lit("b").alias("benchmark"), pl.lit(1.0).alias("score"))
    with pytest.raises(MedjuryError, match="no item of 'b' has a score of every system"):
        scores_of(table)


@pytest.mark.parametrize("gap", ["absent", "not_applicable"])
def test_a_system_without_its_weak_dimension_gains_nothing_by_it(gap: str) -> None:
    """Everyone has 5 on one dimension and 1 on the other; A lacks the other on fifteen of twenty items."""
    rows = [
        (f"c{k}", system, "ada", dimension, score, "notes", "scored")
        for k in range(20)
        for system in "AB"
        for dimension, score in (("d1", 5.0), ("d2", 1.0))
    ]
    columns = ["item", "system", "rater", "dimension", "score", "benchmark", "status"]
    table = pl.DataFrame(rows, schema=columns, orient="row")
    lacks = (
        (pl.col("system") == "A")
        & (pl.col("dimension") == "d2")
        & (pl.col("item").str.slice(1).cast(int) >= 5)
    )
    if gap == "absent":
        table = table.filter(~lacks)
    else:
        table = table.with_columns(
            pl.when(~lacks).then(pl.col("score")).alias("score"),
            pl.when(lacks).then(pl.lit(gap)).otherwise(pl.col("status")).alias("status"),
        )
    scores = scores_of(table)
    assert scores.means.tolist() == [[3.0], [3.0]] and scores.counts == (5, 5)
    assert "15 of 40 answers lack a dimension" in scores.warnings[0] and scores.warnings[0].endswith("A 15")
    assert scores.warnings[1].endswith("left out: B 15")
    never = table.filter((pl.col("system") == "B") | (pl.col("dimension") == "d1"))
    with pytest.raises(MedjuryError, match="every answer of 'A' lacks a dimension"):
        scores_of(never)


def test_a_dimension_that_an_item_has_for_nobody_is_not_missed() -> None:
    ratings = rating_table({"A": 0.0, "B": 0.5}, cases=20).with_columns(pl.lit("notes").alias("benchmark"))
    some = ratings.filter((pl.col("item") != "c3") | (pl.col("dimension") != "clarity"))
    scores = scores_of(some, each=["ada", "bob"])
    assert scores.counts == (40, 40) and scores.warnings == ()


def test_an_empty_cell_is_refused_or_left_out_by_name() -> None:
    gap = by_hand().filter((pl.col("system") != "B") | (pl.col("benchmark") != "b1"))
    with pytest.raises(MedjuryError, match=r"1 of 9 cells are empty, first 'B' on 'b1'.*--missing common"):
        scores_of(gap)
    scores = scores_of(gap, missing="common")
    assert scores.benchmarks == ("b0", "b2") and "left out: b1" in scores.warnings[0]
    unrated = rating_table({"A": 0.0, "B": 0.0}, cases=5).filter(
        (pl.col("system") == "A") | (pl.col("rater") == "bob")
    )
    with pytest.raises(MedjuryError, match="the rater 'ada' has no score of 'B' on 'accuracy'"):
        scores_of(unrated, each=["ada", "bob"])
    with pytest.raises(MedjuryError, match="only 'A', for no answer of B has a score"):
        scores_of(unrated)  # one of two judges is no jury


def test_bad_tables_are_refused_with_the_row() -> None:
    with pytest.raises(MedjuryError, match="2 scores of 'A' on 'b0'"):
        scores_of(pl.concat([by_hand(), by_hand().head(1)]))
    with pytest.raises(MedjuryError, match="row 1: the score 'good' is not a number"):
        scores_of(by_hand().with_columns(pl.lit("good").alias("score")))
    with pytest.raises(MedjuryError, match="row 1: the score is not finite"):
        scores_of(by_hand().with_columns(pl.lit(float("nan")).alias("score")))
    with pytest.raises(MedjuryError, match="row 1: there is no system"):
        scores_of(by_hand().with_columns(pl.lit(" ").alias("system")))
    items = by_hand().with_columns(pl.lit("").alias("item"))
    with pytest.raises(MedjuryError, match="row 1: there is no item"):
        scores_of(items)
    with pytest.raises(MedjuryError, match="ratings have no benchmark"):
        scores_of(rating_table({"A": 0.0, "B": 0.0}, cases=3).with_columns(pl.lit(None).alias("benchmark")))
    with pytest.raises(MedjuryError, match="only 'A'"):
        scores_of(by_hand().filter(pl.col("system") == "A"))
    with pytest.raises(MedjuryError, match="needs system, benchmark, score"):
        scores_of(by_hand().drop("benchmark"))
    with pytest.raises(MedjuryError, match="no column `system`"):
        scores_of(rating_table({"A": 0.0, "B": 0.0}, cases=3).filter(pl.col("system") == "A").drop("system"))
    with pytest.raises(MedjuryError, match="no rater 'eve'"):
        scores_of(rating_table({"A": 0.0, "B": 0.0}, cases=3), raters=["eve"])


def test_scales_far_apart_and_few_units_are_said() -> None:
    apart = by_hand().with_columns(
        pl.when(pl.col("benchmark") == "b0")
        .then(pl.col("score") * 100)
        .otherwise(pl.col("score"))
        .alias("score")
    )
    warnings = rank_scores(scores_of(apart), resamples=100).warnings
    assert any("only 3 benchmarks to resample" in text for text in warnings)
    assert any("rank by win_rate" in text for text in warnings)


def test_too_few_resamples_for_many_pairs_are_said() -> None:
    scores = scores_of(rating_table(dict.fromkeys("ABCDE", 0.0), cases=20))
    assert any(
        "100 resamples are too few" in text
        for text in rank_scores(scores, by="win_rate", resamples=100).warnings
    )


def test_the_same_seed_gives_the_same_ranking_in_any_order_of_rows() -> None:
    table = benchmark_table(QUALITY)
    shuffled = table.sample(fraction=1.0, shuffle=True, seed=3)
    assert (
        rank_scores(scores_of(table), resamples=300).rows
        == rank_scores(scores_of(shuffled), resamples=300).rows
    )


def test_rows_have_the_stable_names_and_json_has_no_nan() -> None:
    ranking = rank_scores(scores_of(by_hand()), resamples=100)
    rows = json.loads(ranking.to_json())
    wanted = {"win_rate", "win_rate_low", "win_rate_high", "win_sd", "macro_average", "macro_sd", "tie_group"}
    assert all(wanted <= set(row) for row in rows)
    assert ranking.frame().height == 3
    single = rank_scores(scores_of(by_hand().filter(pl.col("benchmark") == "b0")), resamples=100)
    assert json.loads(single.to_json())[0]["win_sd"] is None
    assert single.rows[0].win_rate.low is None


def test_every_pair_is_compared() -> None:
    ranking = rank_scores(scores_of(benchmark_table(QUALITY)), resamples=500)
    assert len(ranking.pairs.rows) == 6
    pair = next(each for each in ranking.pairs.rows if {each.better, each.other} == {"middle", "worst"})
    assert (
        pair.better == "middle" and pair.separated and pair.difference.value == pytest.approx(0.2, abs=0.03)
    )
    with pytest.raises(MedjuryError, match="macro_average or win_rate"):
        rank_scores(scores_of(by_hand()), by="median")  # type: ignore[arg-type]


def test_intervals_of_the_macro_average_cover() -> None:
    """Thirty benchmarks drawn from a population with a known mean."""
    covered = 0
    for seed in range(150):
        generator = np.random.default_rng(seed)
        means = 0.5 + generator.normal(0, 0.1, (2, 30))
        scores = SystemScores(
            ("A", "B"), tuple(f"b{k}" for k in range(30)), (), means, (), (30, 30), (0, 0), ()
        )
        found = rank_scores(scores, resamples=400, seed=seed).find(system="A").macro_average
        assert found.low is not None and found.high is not None
        covered += found.low <= 0.5 <= found.high
    assert 0.89 <= covered / 150 <= 0.985


def test_intervals_of_few_cases_are_those_that_hold_for_few_cases_or_none() -> None:
    """Of means by Student's quantiles, whatever a system is called; of win rates over cases, which are steps, none;
    of fewer than ten cases none, and a word why."""
    ratings = rating_table({"icc_2_k": 0.0, "z": 0.3}, cases=20)
    plain = rating_table({"a": 0.0, "z": 0.3}, cases=20)
    named, other = (rank_scores(scores_of(each), resamples=300) for each in (ratings, plain))
    odd, usual = named.find(system="icc_2_k"), other.find(system="a")
    assert "BCa-t bootstrap, 300 resamples of 20 cases" in odd.macro_average.method
    assert (odd.macro_average.low, odd.macro_average.high) == (
        usual.macro_average.low,
        usual.macro_average.high,
    )
    assert (odd.win_rate.value, odd.win_rate.low, odd.win_rate.high) == (usual.win_rate.value, None, None)
    assert "a win turns on the smallest difference" in odd.win_rate.method
    few = rank_scores(scores_of(rating_table({"A": 0.0, "B": 0.3}, cases=8)), resamples=300)
    for each in few.rows:
        for estimate in (each.macro_average, each.win_rate):
            assert (estimate.low, estimate.high) == (None, None)
            assert "8 cases are too few, at least 10 are needed" in estimate.method
    assert any("only 8 cases to resample: too few for intervals" in said for said in few.warnings)


def test_benchmarks_with_cases_of_their_own_count_all_their_cases() -> None:
    """Six cases of each of three benchmarks are eighteen."""
    rows = [
        (system, f"b{b}", f"b{b} item {k}", float(0.5 + worth + 0.1 * ((7 * k + 3 * b + len(system)) % 5)))
        for b in range(3)
        for system, worth in (("A", 0.0), ("BB", 0.05))
        for k in range(6)
    ]
    table = pl.DataFrame(rows, schema=["system", "benchmark", "item", "score"], orient="row")
    for each in rank_scores(scores_of(table), resamples=300).rows:
        assert "BCa-t bootstrap, 300 resamples of 18 cases within 3 benchmarks" in each.macro_average.method
        assert each.macro_average.low < each.macro_average.value < each.macro_average.high


def test_a_system_without_any_score_is_named_not_dropped() -> None:
    import polars

    from medjury.analysis.ranking._rank_scores import rank_scores

    rows = [
        {"item": f"i{n}", "system": system, "rater": "jury", "rater_kind": "jury", "dimension": "d",
         "score": None if system == "mute" else float(n % 5 + bonus),
         "status": "unscored" if system == "mute" else "scored"}
        for n in range(30)
        for system, bonus in (("a", 0), ("b", 1), ("mute", 0))
    ]  # fmt: skip
    ranked = rank_scores(scores_of(polars.DataFrame(rows)), resamples=200)
    assert any("mute" in warning for warning in ranked.warnings)
