"""The jury of a table says what the jury of a run says: the two are written apart and must agree on every vote."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medjury.instruments import NotApplicable, Outcome, Reason, Score, Unscored
from medjury.judging._jury_rule import combine
from medjury.tables import (
    ABSENT,
    NOT_APPLICABLE,
    SCORED,
    UNSCORED,
    Grid,
    JuryRule,
    add_jury,
    rating_table,
)
from medjury.tables._jury import jury_votes

VOTES = st.sampled_from(["absent", "unscored", "not_applicable", 1.0, 2.0, 2.0, 3.0])
STATES = {"absent": ABSENT, "unscored": UNSCORED, "not_applicable": NOT_APPLICABLE}


def grid_of(ballots: list[list[str | float]]) -> Grid:
    """One unit a row, one judge a column."""
    units, judges = len(ballots), len(ballots[0])
    names = [f"judge {place}" for place in range(judges)]
    table = list(zip(*ballots, strict=True))
    return Grid(
        "quality",
        np.array([f"item {place}" for place in range(units)]),
        np.array([""] * units),
        np.array([f"item item {place}" for place in range(units)]),
        {
            name: np.array([vote if isinstance(vote, float) else np.nan for vote in votes])
            for name, votes in zip(names, table, strict=True)
        },
        {
            name: np.array([STATES.get(vote, SCORED) for vote in votes], dtype=np.uint8)
            for name, votes in zip(names, table, strict=True)
        },
        {name: np.full(units, np.nan) for name in names},
        None,
    )


def outcome(vote: str | float) -> Outcome | None:
    if isinstance(vote, float):
        return Score(vote, "")
    if vote == "absent":
        return None
    return NotApplicable("") if vote == "not_applicable" else Unscored(Reason.PARSE, "")


@given(
    st.integers(1, 6).flatmap(
        lambda seats: st.lists(st.lists(VOTES, min_size=seats, max_size=seats), min_size=1, max_size=8)
    ),
    st.sampled_from(["mean", "median", "majority"]),
    st.one_of(st.none(), st.integers(1, 6)),
)
def test_the_jury_of_a_table_is_the_jury_of_a_run(
    ballots: list[list[str | float]], rule: str, quorum: int | None
) -> None:
    grid, seats = grid_of(ballots), len(ballots[0])
    scores, states, unscored = jury_votes(grid, list(grid.scores), JuryRule(rule, quorum))
    lost: dict[str, int] = {}
    for place, ballot in enumerate(ballots):
        votes = [each for each in map(outcome, ballot) if each is not None]
        if not votes:
            assert states[place] == ABSENT
            continue
        expected = combine(
            votes, seats=seats, rule=rule, quorum=None if quorum is None else min(quorum, seats)
        )
        if isinstance(expected, Score):
            assert states[place] == SCORED
            assert scores[place] == pytest.approx(expected.value, abs=1e-12)
        else:
            assert np.isnan(scores[place])
            applies = not isinstance(expected, NotApplicable)
            assert states[place] == (UNSCORED if applies else NOT_APPLICABLE)
            if isinstance(expected, Unscored):
                lost[str(expected.reason)] = lost.get(str(expected.reason), 0) + 1
    assert unscored == lost


@pytest.mark.parametrize(
    ("ballot", "rule", "quorum", "score", "state"),
    [
        # Exactly half is no majority, of scores as of judges who find nothing to score.
        ([1.0, 1.0, "unscored", "unscored"], "mean", None, None, UNSCORED),
        ([1.0, 1.0, 2.0, "unscored"], "mean", None, 4 / 3, SCORED),
        ([1.0, 1.0, 2.0, 2.0], "majority", None, None, UNSCORED),
        ([1.0, 1.0, 1.0, 2.0], "majority", None, 1.0, SCORED),
        ([2.0, 2.0, "not_applicable", "not_applicable"], "mean", 2, 2.0, SCORED),
        ([2.0, "not_applicable", "not_applicable"], "mean", 1, None, NOT_APPLICABLE),
        # A majority is one of all seats, not of those who voted.
        ([1.0, 1.0, "unscored", "unscored"], "majority", 2, None, UNSCORED),
        # A quorum of more judges than there are means all of them.
        ([1.0, 3.0], "mean", 5, 2.0, SCORED),
        ([1.0, "unscored"], "mean", 5, None, UNSCORED),
        ([1.0, "unscored", "unscored"], "median", 1, 1.0, SCORED),
        ([1.0, 2.0, 5.0], "median", None, 2.0, SCORED),
    ],
)
def test_halves_ties_and_quorums(
    ballot: list[str | float], rule: str, quorum: int | None, score: float | None, state: int
) -> None:
    grid = grid_of([ballot])
    scores, states, _ = jury_votes(grid, list(grid.scores), JuryRule(rule, quorum))
    assert states[0] == state
    assert scores[0] == pytest.approx(np.nan if score is None else score, nan_ok=True)


def test_a_judge_who_never_rates_a_dimension_has_no_seat_there() -> None:
    grid = grid_of([[1.0, 2.0, "absent", "absent"], [3.0, 4.0, "absent", "absent"]])
    jury = add_jury(grid, list(grid.scores), JuryRule())
    assert jury.scores["jury"].tolist() == [1.5, 3.5]
    assert np.isnan(jury.repeat_spread["jury"]).all()
    nobody = add_jury(grid_of([["absent", "absent"]]), ["judge 0", "judge 1"], JuryRule(name="all of them"))
    assert nobody.states["all of them"].tolist() == [ABSENT]


def votes_frame(scores: dict[str, dict[str, float | None]]) -> pl.DataFrame:
    rows = [
        {"item": item, "rater": rater, "rater_kind": "judge", "dimension": "quality", "score": score}
        for rater, given in scores.items()
        for item, score in given.items()
    ]
    rows += [
        {"item": item, "rater": "doctor", "rater_kind": "clinician", "dimension": "quality", "score": 3.0}
        for item in ("1", "2", "3")
    ]
    return pl.DataFrame(rows, schema_overrides={"score": pl.Float64})


def test_a_judge_keeps_its_seat_in_a_part_of_the_table_that_it_did_not_rate() -> None:
    """Else two of four judges would be a majority in the part, and none in the whole."""
    frame = votes_frame(
        {
            "a": {"1": 1, "2": 1, "3": 1},
            "b": {"1": 2, "2": 2, "3": 2},
            "c": {"1": 3, "2": 3},
            "d": {"1": 4, "2": 4},
        }
    )
    table = rating_table(frame, scale=(1, 5))
    roles = table.roles()
    assert roles.jurors == ("a", "b", "c", "d")
    whole = table.grid("quality", roles)
    part = table.where(table.rows.filter(pl.col("item") == "3")).grid("quality", roles)
    assert np.isnan(whole.scores["jury"][2])
    assert np.isnan(part.scores["jury"]).all()
    assert part.states["jury"].tolist() == [UNSCORED]
    votes = table.jury_votes("quality", roles)
    assert votes is not None
    assert votes[2] == {"no_quorum": 1}


def test_the_seats_of_one_dimension_say_nothing_of_another_even_when_they_are_pooled() -> None:
    """A judge who rates accuracy alone has no seat for style: there the other two are all of the jury."""
    rows = [
        (item, judge, "judge", dimension, float(score))
        for dimension, judges in {
            "accuracy": {"a": 1, "b": 2, "c": 3, "d": 4},
            "style": {"a": 1, "b": 2},
        }.items()
        for judge, score in judges.items()
        for item in ("1", "2")
    ] + [(item, "doctor", "clinician", d, 3.0) for item in ("1", "2") for d in ("accuracy", "style")]
    names = ["item", "rater", "rater_kind", "dimension", "score"]
    table = rating_table(pl.DataFrame(rows, schema=names, orient="row"), scale=(1, 5))
    pooled = table.pooled(table.counted, table.roles())
    assert pooled.scores["jury"].tolist() == [2.5, 2.5, 1.5, 1.5]
