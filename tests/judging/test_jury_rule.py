"""Votes become one rating by rule, never by order; a tie or a lost quorum is unscored."""

from __future__ import annotations

import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medjury.instruments import NotApplicable, Outcome, Reason, Score, Unscored
from medjury.judging import combine_columns
from medjury.judging._jury_rule import RULES, Rule, combine

FAILED = Unscored(Reason.PARSE, "not JSON")
OUTCOMES = st.one_of(
    st.integers(1, 5).map(lambda value: Score(float(value))), st.just(NotApplicable()), st.just(FAILED)
)


def reason(outcome: Outcome) -> Reason | None:
    return outcome.reason if isinstance(outcome, Unscored) else None


def test_mean_and_median_use_the_scores_alone() -> None:
    votes = [Score(1), Score(4), Score(5), FAILED]
    assert combine(votes, seats=4, rule="mean") == Score(10 / 3, "scores 1, 4, 5; 1 unscored (of 4)")
    median = combine(votes, seats=4, rule="median")
    assert isinstance(median, Score) and median.value == 4


def test_a_failure_is_never_a_score() -> None:
    assert reason(combine([FAILED, FAILED, Score(5)], seats=3, rule="mean")) is Reason.NO_QUORUM


def test_a_judge_that_gave_no_row_still_has_a_seat() -> None:
    assert reason(combine([Score(5)], seats=3, rule="mean")) is Reason.NO_QUORUM


@pytest.mark.parametrize(
    ("grades", "expected"),
    [
        ([4, 4, 2], 4.0),
        ([4, 4, 2, 2], Reason.TIE),
        ([1, 2, 3], Reason.TIE),
        ([5, 5], 5.0),
        ([4, 5], Reason.TIE),
    ],
)
def test_a_majority_is_strict(grades: list[int], expected: float | Reason) -> None:
    outcome = combine([Score(grade) for grade in grades], seats=len(grades), rule="majority")
    assert (outcome.value if isinstance(outcome, Score) else reason(outcome)) == expected


def test_a_majority_counts_all_seats_not_only_those_who_answered() -> None:
    assert (
        reason(combine([Score(4), Score(4), FAILED, FAILED], seats=4, rule="majority", quorum=2))
        is Reason.TIE
    )


def test_not_applicable_needs_more_than_half_of_the_seats() -> None:
    assert isinstance(
        combine([NotApplicable(), NotApplicable(), Score(3)], seats=3, rule="mean"), NotApplicable
    )
    assert reason(combine([NotApplicable(), Score(3)], seats=2, rule="mean")) is Reason.NO_QUORUM


def test_the_quorum_can_be_raised_and_lowered() -> None:
    votes = [Score(2), Score(4), FAILED]
    assert reason(combine(votes, seats=3, rule="mean", quorum=3)) is Reason.NO_QUORUM
    assert isinstance(combine([Score(2), FAILED, FAILED], seats=3, rule="mean", quorum=1), Score)


@given(st.lists(OUTCOMES, min_size=1, max_size=7), st.sampled_from(RULES), st.randoms())
def test_the_order_of_the_votes_does_not_matter(votes: list[Outcome], rule: Rule, random: object) -> None:
    shuffled = list(votes)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert combine(votes, seats=len(votes), rule=rule) == combine(shuffled, seats=len(votes), rule=rule)


@given(st.lists(OUTCOMES, min_size=1, max_size=7), st.sampled_from(RULES))
def test_a_score_lies_between_the_lowest_and_the_highest_vote(votes: list[Outcome], rule: Rule) -> None:
    outcome = combine(votes, seats=len(votes), rule=rule)
    if isinstance(outcome, Score):
        scores = [vote.value for vote in votes if isinstance(vote, Score)]
        assert min(scores) <= outcome.value <= max(scores)
        if rule == "mean":
            assert outcome.value == statistics.fmean(sorted(scores))


@given(
    st.integers(1, 6).flatmap(
        lambda seats: st.lists(st.lists(OUTCOMES, min_size=seats, max_size=seats), min_size=1)
    ),
    st.sampled_from(RULES),
    st.none() | st.integers(1, 4),
)
def test_many_answers_at_once_are_combined_by_the_same_rule(
    ballots: list[list[Outcome]], rule: Rule, quorum: int | None
) -> None:
    scores = np.array(
        [[each.value if isinstance(each, Score) else np.nan for each in row] for row in ballots]
    )
    excused = np.array([[isinstance(each, NotApplicable) for each in row] for row in ballots])
    found = combine_columns(scores, excused, rule=rule, quorum=quorum)
    for place, row in enumerate(ballots):
        expected = combine(row, seats=len(row), rule=rule, quorum=quorum)
        assert np.array_equal(
            found.scores[place], expected.value if isinstance(expected, Score) else np.nan, equal_nan=True
        )
        assert bool(found.not_applicable[place]) == isinstance(expected, NotApplicable)
        assert bool(found.no_quorum[place]) == (reason(expected) is Reason.NO_QUORUM)
        assert bool(found.tie[place]) == (reason(expected) is Reason.TIE)
