"""A jury that stops early, replayed on planted votes: what it must find, and what it can never do."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr
from tests.calibration.planted_juries import JURORS, planted_votes
from tests.judging.test_repeats import CASE, INSTRUMENT

from medjury.analysis.calibration import simulate_jury as simulate
from medjury.analysis.calibration._jury_search import (
    LOST,
    WITHIN,
    Losses,
    agreement_replicates,
    loss_against,
    mean_spearman,
)
from medjury.analysis.calibration._jury_simulation import JurySimulation
from medjury.analysis.calibration._jury_votes import (
    JuryTable,
    WidthFitter,
    calls_made,
    doubts,
    fixed_scores,
    jury_table,
    scores_after,
)
from medjury.analysis.calibration._part import judging_roles, jurors_of, parts_of
from medjury.foundation.errors import MedjuryError
from medjury.judging import AdaptiveJury, AdaptiveRule, Judge
from medjury.models import Gate, MemoryCache, Scripted
from medjury.tables import rating_table

QUICK = {"reference": ["panel"], "resamples": 100, "draws": 60}


def table_of(frame: pl.DataFrame) -> JuryTable:
    table = rating_table(frame, scale=(1, 5))
    roles = judging_roles(table, None, "panel")
    return jury_table(parts_of(table, roles, table.dimensions)[0], jurors_of(table, roles))[0]


def simulate_jury(frame: pl.DataFrame, **given: Any) -> JurySimulation:
    return simulate(rating_table(frame, scale=(1, 5)), **given)


@cache
def planted() -> JurySimulation:
    return simulate_jury(planted_votes(dimensions=("accuracy", "clarity"), seed=1), loss=0.03, **QUICK)


def test_where_one_juror_tells_enough_the_rule_stops_and_beats_calls_at_random() -> None:
    found = planted()
    assert found.adaptive.calls < 0.55 and found.stopped_after[0] > 0.3 * found.n_tested[1]
    assert found.adaptive.loss.value is not None and found.adaptive.loss.value < 0.03
    assert found.random.beaten and found.random.loss > found.adaptive.loss.value
    assert found.kept and "It beats the same number of calls" in found.verdict


def test_where_only_disagreement_tells_a_hard_case_it_is_worth_its_name() -> None:
    frame = planted_votes(cases=300, hard=0.25, anywhere=True, noise=1.5, seed=1)
    found = simulate_jury(frame, minimum=2, calls=0.7, loss=0.02, signals=["jury width"], **QUICK)
    assert found.adaptive.calls < 0.65 and found.stopped_after[1] > 0.7 * found.n_tested[1]
    assert found.adaptive.loss.value is not None and found.adaptive.loss.value < 0.02
    assert found.random.beaten and found.random.loss > 2 * found.adaptive.loss.value


def test_the_rule_asks_more_jurors_about_the_hard_cases_than_about_the_easy_ones() -> None:
    table = table_of(planted_votes(cases=60))
    order = tuple(range(4))
    calls = calls_made(doubts(table, order, AdaptiveRule()), 0.125)
    easy = (table.votes == table.votes[:, :1]).all(axis=(1, 2))
    assert calls[easy].mean() < 1.5 < 2 < calls[~easy].mean()


def test_where_a_vote_tells_nothing_about_the_others_the_verdict_says_so() -> None:
    """Jurors that toss coins: no rule can know where another one helps."""
    generator = np.random.default_rng(3)
    frame = planted_votes(cases=80, seed=3)
    noise = pl.Series(generator.integers(1, 6, frame.height).astype(float))
    coins = frame.with_columns(
        pl.when(pl.col("rater") == "panel").then(pl.col("score")).otherwise(noise).alias("score")
    )
    found = simulate_jury(coins, **QUICK)
    assert found.random.beaten is False and "does NOT beat" in found.verdict


def test_a_rule_that_always_makes_the_same_calls_is_called_a_fixed_jury() -> None:
    found = simulate_jury(planted_votes(cases=60, hard=0.0), **QUICK)
    assert found.adaptive.calls == 0.25 and found.random.p_value is None
    assert "a fixed jury, and no adaptive one" in found.verdict


def test_halves_share_no_case_and_the_seed_decides() -> None:
    first, again = planted(), simulate_jury(
        planted_votes(dimensions=("accuracy", "clarity"), seed=1), loss=0.03, **QUICK
    )  # fmt: skip
    assert first.n_training[0] + first.n_tested[0] == 120
    assert first.rows == again.rows and first.random == again.random


def test_policies_are_in_a_fixed_order_and_the_full_jury_loses_nothing() -> None:
    names = [each.name for each in planted().of("policy")]
    assert names == [
        "full jury", "adaptive jury", "best fixed juror", "best fixed pair", "best fixed triple",
        "the system alone, no call",
    ]  # fmt: skip
    full, _, juror, pair, triple, alone = planted().of("policy")
    assert full.loss.value == 0 and full.calls == 1 and full.offset == 0
    assert [each.calls for each in (juror, pair, triple, alone)] == [0.25, 0.5, 0.75, 0]
    assert alone.within.value is None and "of a system the same score" in alone.within.reason


def test_the_curve_holds_the_chosen_rule_and_random_escalation_beside_it() -> None:
    found = planted()
    here = [each for each in found.of("curve") if each.tolerance == found.rule.tolerance]
    assert len(here) == 1 and here[0].calls == pytest.approx(found.adaptive.calls)
    assert here[0].loss.value == pytest.approx(found.adaptive.loss.value)
    assert here[0].random_low <= here[0].random_loss <= here[0].random_high
    (axes,) = found.plot().axes
    assert len(axes.collections[-1].get_offsets()) == 4 + 6 + 4, "every fixed jury of up to three"
    assert {each.get_text() for each in axes.get_legend().get_texts()} >= {"fixed juries", "full jury"}


def test_costs_ask_the_cheapest_first_and_are_what_is_saved() -> None:
    cost = {"cheap": 1.0, "fair": 2.0, "good": 4.0, "dear": 13.0}
    found = simulate_jury(planted_votes(seed=1), cost=cost, loss=0.05, **QUICK)
    assert found.jurors == JURORS[: len(found.jurors)]
    assert found.adaptive.cost is not None and found.adaptive.cost < found.adaptive.calls
    fixed = {each.name: each for each in found.of("policy")}["best fixed juror"]
    assert fixed.cost == pytest.approx(cost[fixed.jurors[0]] / 20)


def test_an_order_is_kept() -> None:
    found = simulate_jury(planted_votes(cases=60), order=["dear", "fair"], **QUICK)
    assert found.jurors == ("dear", "fair")


def test_a_threshold_stops_as_soon_as_the_side_is_clear() -> None:
    table, order = table_of(planted_votes(cases=60)), tuple(range(4))
    without = calls_made(doubts(table, order, AdaptiveRule()), 0.1)
    given_one = calls_made(doubts(table, order, AdaptiveRule(threshold=3.5)), 0.1)
    assert (given_one <= without).all() and given_one.sum() < without.sum()
    found = simulate_jury(planted_votes(cases=60), threshold=3.5, **QUICK)
    assert found.alike is not None and 0.8 < found.alike <= 1


def test_further_splits_tell_whether_it_was_luck() -> None:
    found = simulate_jury(planted_votes(cases=80), splits=3, loss=0.05, **QUICK)
    assert [each.seed for each in found.splits] == [1, 2, 3]
    assert all(0.25 <= each.calls <= 1 and each.random_loss > -1 for each in found.splits)


def test_widths_hold_for_the_share_of_other_cases_that_they_promise() -> None:
    frame = planted_votes(cases=400, seed=5)
    table = table_of(frame)
    half = np.array([int(str(case).rpartition("c")[2]) < 200 for case in table.cases])
    widths = WidthFitter(table.where(half), 0.9).widths((0, 1, 2, 3), "jury width")
    assert widths is not None
    other = table.where(~half)
    full = (fixed_scores(other, other.everybody)[:, 0] - 1) / 4
    for calls in (1, 2, 3):
        votes = (other.votes[:, :calls, 0] - 1) / 4
        near = [
            abs(np.mean(row) - final) <= widths.width("accuracy", row.tolist()) + 1e-6
            for row, final in zip(votes, full, strict=True)
        ]
        assert np.mean(near) == pytest.approx(0.9, abs=0.08) or np.mean(near) > 0.9
    assert widths.width("accuracy", [0.2, 0.9, 0.4, 0.1]) == 0, "after the last juror nothing is open"


def test_both_ways_to_compute_agreement_are_scipys() -> None:
    table = table_of(planted_votes(cases=50, dimensions=("x", "y")))
    scores = fixed_scores(table, (0, 2))
    expected = np.mean([spearmanr(scores[:, k], table.labels[:, k]).statistic for k in (0, 1)])
    inside = np.mean([
        np.mean([spearmanr(scores[here, k], table.labels[here, k]).statistic
                 for here in (table.systems == "a", table.systems == "b")])
        for k in (0, 1)
    ])  # fmt: skip
    assert mean_spearman(scores, table.labels) == pytest.approx(expected)
    full = fixed_scores(table, table.everybody)
    made = agreement_replicates(
        table, {"full": full, "pair": scores}, resamples=0, seed=0, within=True
    ).observed
    assert made["pair"] == pytest.approx(expected) and made["pair" + WITHIN] == pytest.approx(inside)
    lost = max(made["full"] - made["pair"], made["full" + WITHIN] - made["pair" + WITHIN])
    assert Losses(table).worst(scores) == pytest.approx(lost)


def test_the_search_counts_as_the_intervals_do_where_labels_are_missing_or_alike() -> None:
    table = table_of(planted_votes(cases=60, dimensions=("x", "y")))
    labels = table.labels.copy()
    labels[::7, 0], labels[table.systems == "a", 1] = np.nan, 3.0
    table = replace(table, labels=labels)
    policies = {"full": fixed_scores(table, table.everybody), "pair": fixed_scores(table, (2, 3))}
    made = agreement_replicates(table, policies, resamples=0, seed=0, within=True).observed
    assert made["pair" + LOST] != made["pair" + WITHIN + LOST]
    lost = max(made["pair" + LOST], made["pair" + WITHIN + LOST])
    assert Losses(table).worst(policies["pair"]) == pytest.approx(lost, abs=1e-12) and lost != 0


def test_agreement_is_compared_on_the_answers_that_both_score() -> None:
    """Scores that leave out what is hard agree better on the rest: that is no gain over the full jury."""
    table = table_of(planted_votes(cases=60, dimensions=("x", "y")))
    full = fixed_scores(table, table.everybody)
    easy = np.abs(full - table.labels) < np.quantile(np.abs(full - table.labels), 0.7)
    scores = np.where(easy, full, np.nan)
    assert mean_spearman(scores, table.labels) > mean_spearman(full, table.labels) + 0.02
    made = agreement_replicates(
        table, {"full": full, "easy": scores}, resamples=0, seed=0, within=True, by_dimension=("easy",)
    ).observed
    for name in ("easy", "easy" + WITHIN, "easy | x"):
        assert made[name + LOST] == pytest.approx(0, abs=1e-12), name
    assert loss_against(full, scores, table.labels) == pytest.approx(0)
    assert Losses(table).worst(scores) == pytest.approx(0)


def test_scores_that_are_blind_in_a_system_have_no_agreement_there() -> None:
    table = table_of(planted_votes(cases=60))
    full, first = fixed_scores(table, table.everybody), table.systems == "a"
    blind = np.where(first[:, np.newaxis], 4.0, full)
    made = agreement_replicates(
        table, {"full": full, "blind": blind}, resamples=0, seed=0, within=True
    ).observed
    seen = spearmanr(full[~first, 0], table.labels[~first, 0]).statistic
    assert made["blind" + WITHIN] == pytest.approx(seen / 2), "one of two systems of the same size"
    lost = spearmanr(full[first, 0], table.labels[first, 0]).statistic / 2
    assert made["blind" + WITHIN + LOST] == pytest.approx(lost)
    # Where the clinicians see no difference, nobody can be blind.
    flat = replace(table, labels=np.where(first[:, np.newaxis], 3.0, table.labels))
    made = agreement_replicates(
        flat, {"full": full, "blind": blind}, resamples=0, seed=0, within=True
    ).observed
    assert made["blind" + WITHIN] == pytest.approx(seen) and made["blind" + WITHIN + LOST] == pytest.approx(0)


@settings(max_examples=30, deadline=None)
@given(
    votes=st.lists(st.sampled_from([1, 2, 3, 4, 5, None, "lost"]), min_size=3, max_size=3),
    minimum=st.integers(1, 3),
    tolerance=st.sampled_from([0.0, 0.1, 0.2]),
)
def test_a_replayed_jury_says_what_the_jury_itself_says(
    votes: list[float | str | None], minimum: int, tolerance: float
) -> None:
    """With the same calls, and no score where too few votes are left."""

    def said(vote: float | str | None) -> str:
        if vote == "lost":
            return "I would rather not."
        plain, given = ({"explanation": "so", "score": score} for score in (5, vote))
        return json.dumps({"accuracy": plain, "clarity": given})

    rule = AdaptiveRule(tolerance, minimum)
    jurors = [
        Judge(Scripted(said(vote), name=f"j{place}"), INSTRUMENT, seed=place, reasks=0)
        for place, vote in enumerate(votes)
    ]
    jury = AdaptiveJury("jury", jurors, rule)
    (unit,) = jury.units(CASE, 0)
    rated = asyncio.run(jury.rate(unit, Gate(cache=MemoryCache())))
    live = {row.dimension: row.score for row in rated.ratings}["clarity"]
    table = JuryTable(
        ("j0", "j1", "j2"), ("clarity",), ((1.0, 5.0),),
        np.array([[[vote if isinstance(vote, int) else np.nan] for vote in votes]]),
        np.array([[[vote is None] for vote in votes]]),
        np.ones((1, 1), dtype=bool), np.full((1, 1), 3.0), np.array(["a"]), np.array(["c"], dtype=object),
    )  # fmt: skip
    calls = calls_made(doubts(table, table.everybody, rule), tolerance)
    replayed = float(scores_after(table, table.everybody, calls, minimum)[0, 0])
    assert rated.record is not None
    assert len(rated.record.calls) == calls[0]
    assert (live is None and np.isnan(replayed)) or live == pytest.approx(replayed)


def test_the_verdict_claims_no_more_than_the_intervals_show() -> None:
    found = planted()
    ends = [each.high for each in (found.adaptive.loss, found.adaptive.within_loss)]
    near = replace(found, wanted_loss=max(end for end in ends if end is not None) - 1e-6)
    assert near.kept and not near.proved and "as estimated, but not proved" in near.verdict
    sure = replace(found, wanted_loss=0.5)
    assert sure.proved and "within what was wanted." in sure.verdict and "not proved" not in sure.verdict
    never = replace(found, wanted_loss=-1.0)
    assert not never.kept and not never.proved and "NOT within what was wanted" in never.verdict


def test_the_rule_is_compared_with_the_best_pair_on_the_same_resamples() -> None:
    found = planted()
    pair = {each.name: each for each in found.of("policy")}["best fixed pair"]
    assert found.over_pair is not None and found.over_pair.low is not None
    assert found.over_pair.value == pytest.approx((pair.loss.value or 0) - (found.adaptive.loss.value or 0))
    assert "less that of the best fixed pair" in found.verdict
    unsure = replace(found, over_pair=replace(found.over_pair, low=-0.1))
    assert "it is not shown to be better" in unsure.verdict


def test_random_calls_among_answers_with_two_votes_tell_whether_disagreement_does() -> None:
    """The easy answers are settled by one vote, so that only what comes after can go by disagreement."""
    frame = planted_votes(cases=200, hard=0.3, noise=1.5, seed=5)
    found = simulate_jury(frame, calls=0.8, loss=0.02, signals=["disagreement"], **QUICK)
    assert found.stopped_after[0] > 0.5 * found.n_tested[1] and any(found.stopped_after[2:])
    assert found.later is not None and found.later.p_value is not None and found.later.p_value > 0.05
    short = planted().later
    assert short is not None and short.p_value is None, "two calls at most: nothing to draw"
    beating = replace(found, random=replace(found.random, p_value=0.01))
    assert "it does NOT" in beating.verdict and "after one vote" in beating.verdict
    good = replace(beating, later=replace(found.later, p_value=0.01))
    assert "The same holds among the answers with two votes or more" in good.verdict


@st.composite
def tables(draw: st.DrawFn) -> JuryTable:
    units, jurors, dimensions = draw(st.integers(1, 12)), draw(st.integers(2, 4)), draw(st.integers(1, 3))
    vote = st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0, np.nan])
    size = units * jurors * dimensions
    votes = np.array(draw(st.lists(vote, min_size=size, max_size=size))).reshape(units, jurors, dimensions)
    skipped = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size))).reshape(votes.shape)
    return JuryTable(
        tuple(f"j{k}" for k in range(jurors)),
        tuple(f"d{k}" for k in range(dimensions)),
        ((1.0, 5.0),) * dimensions,
        votes,
        np.isnan(votes) & skipped,
        np.ones((units, dimensions), dtype=bool),
        np.full((units, dimensions), 3.0),
        np.array(["a"] * units),
        np.array([f"c{k}" for k in range(units)], dtype=object),
    )


@settings(max_examples=60, deadline=None)
@given(table=tables(), low=st.floats(0, 0.5), more=st.floats(0, 0.5), minimum=st.integers(1, 2))
def test_calls_lie_between_the_minimum_and_the_full_jury_and_tolerating_more_never_makes_more(
    table: JuryTable, low: float, more: float, minimum: int
) -> None:
    """And the strictest rule is the full jury exactly."""
    jurors, everybody = len(table.jurors), table.everybody
    strict, loose = (
        calls_made(doubts(table, everybody, AdaptiveRule(low, minimum)), each) for each in (low, low + more)
    )
    assert (loose >= minimum).all() and (loose <= strict).all() and (strict <= jurors).all()
    calls = calls_made(doubts(table, everybody, AdaptiveRule(0.0, jurors)), 0.0)
    assert (calls == jurors).all()
    np.testing.assert_array_equal(scores_after(table, everybody, calls), fixed_scores(table, everybody))


@settings(max_examples=40, deadline=None)
@given(table=tables(), tolerance=st.floats(0, 0.5))
def test_the_replay_stops_where_the_rule_itself_would(table: JuryTable, tolerance: float) -> None:
    rule = AdaptiveRule(tolerance)
    calls = calls_made(doubts(table, table.everybody, rule), tolerance)
    for unit in range(len(table.votes)):
        made = 0
        votes: dict[str, list[float | None]] = {name: [] for name in table.dimensions}
        while made < len(table.jurors) and (
            not made
            or rule.still_open(votes, dict.fromkeys(table.dimensions, (1.0, 5.0)))
            or any(2 * len(given) <= made for given in votes.values())  # no majority of those called
        ):
            for column, name in enumerate(table.dimensions):
                if table.skipped[unit, made, column]:
                    votes[name].append(None)
                elif not np.isnan(table.votes[unit, made, column]):
                    votes[name].append(float(table.votes[unit, made, column]))
            made += 1
        assert made == calls[unit]


def test_calls_without_a_score_and_answers_not_given_to_all_are_counted() -> None:
    frame = planted_votes(cases=50)
    lost = pl.col("rater").eq("cheap") & pl.col("item").is_in(["c1", "c2"])
    failed = frame.with_columns(
        pl.when(lost).then(None).otherwise(pl.col("score")).alias("score"),
        pl.when(lost).then(pl.lit("unscored")).otherwise(pl.lit("scored")).alias("status"),
        pl.when(lost).then(pl.lit("refusal")).otherwise(None).alias("reason"),
    )
    partial = failed.filter(~(pl.col("rater").eq("dear") & pl.col("item").eq("c3")))
    found = simulate_jury(partial, **QUICK)
    assert any(note.startswith("2 of 100 answers left out: not every juror") for note in found.warnings)
    assert any(note.startswith("4 votes are calls without a score") for note in found.warnings)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"order": ["cheap", "nobody"]}, "no juror 'nobody'"),
        ({"order": ["cheap"]}, "two jurors or more"),
        ({"cost": {"cheap": 1.0}}, "no cost is given for"),
        ({"cost": dict.fromkeys(JURORS, 0.0)}, "above 0"),
        ({"minimum": 5}, "from 1 to 4"),
        ({"raters": ["cheap"]}, "two or more"),
        ({"level": 90}, "between 0.5 and 1"),
        ({"calls": 55}, "such as 0.55"),
        ({"loss": -0.1}, "such as 0.01"),
        ({"draws": 0}, "give 1 or more"),
    ],
)
def test_what_cannot_be_simulated_is_told(change: dict[str, object], told: str) -> None:
    with pytest.raises(MedjuryError, match=told):
        simulate_jury(planted_votes(cases=50), **(QUICK | change))


def test_a_juror_who_always_says_the_same_and_one_system_alone_break_nothing() -> None:
    frame = planted_votes(cases=60, systems=("a",)).with_columns(
        pl.when(pl.col("rater") == "cheap").then(5.0).otherwise(pl.col("score")).alias("score")
    )
    found = simulate_jury(frame, order=["cheap", "good"], **(QUICK | {"resamples": 0}))
    assert "the system alone, no call" not in {each.name for each in found.of("policy")}
    assert ("cheap",) not in {each.jurors for each in found.of("fixed")}
    assert np.isfinite(found.plot().axes[0].dataLim.get_points()).all()


def test_a_dimension_on_which_nothing_differs_in_one_half_is_told() -> None:
    frame = planted_votes(cases=50).with_columns(
        pl.when(pl.col("rater") == "panel").then(pl.col("score")).otherwise(4.0).alias("score")
    )
    with pytest.raises(MedjuryError, match="'accuracy': on one half of the cases the full jury"):
        simulate_jury(frame, **QUICK)


def test_too_few_cases_for_two_halves_are_refused() -> None:
    with pytest.raises(MedjuryError, match="half of the labelled cases are 15"):
        simulate_jury(planted_votes(cases=30), **QUICK)


def test_what_follows_from_other_dimensions_is_replayed_only_where_it_is_named() -> None:
    frame = planted_votes(cases=60, dimensions=("risk", "safety")).with_columns(
        instrument=pl.lit("diagnosis@1.0")
    )
    assert [each.dimension for each in simulate(frame, **QUICK).of("dimension")] == ["risk"]
    both = simulate(frame, dimensions=["risk", "safety"], **QUICK)
    assert [each.dimension for each in both.of("dimension")] == ["risk", "safety"]


def test_one_face_for_the_result() -> None:
    found = planted()
    assert found.frame().height == len(found.rows)
    assert found.find(kind="policy", name="adaptive jury").loss == found.adaptive.loss
    assert found.find(kind="dimension", dimension="clarity") == found.of("dimension")[1]
    assert json.loads(found.to_json())["rows"][1]["loss"] == found.adaptive.loss.value
    assert found.verdict in found.text()
    wide = simulate_jury(planted_votes(cases=60), confidence=0.99, **QUICK | {"resamples": 200}).adaptive.loss
    narrow = simulate_jury(
        planted_votes(cases=60), confidence=0.8, **QUICK | {"resamples": 200}
    ).adaptive.loss
    assert wide.low < narrow.low <= narrow.high < wide.high
