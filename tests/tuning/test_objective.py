"""The objective: exact values, failures at the bottom, feedback that says what, why and how bad."""

from __future__ import annotations

import itertools

import pytest
from tests.tuning.labelled import IMPACT, case, said

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument, NotApplicable, Score, load_instrument
from medjury.tuning._labelled_cases import Labelled
from medjury.tuning._objective import OBJECTIVES, Objective, feedback, make_objective


def labelled(truth: float | None, number: int = 0, system: str = "", why: str = "") -> Labelled:
    return case(number, truth, why=(f"{truth}: {why}",) if why else (), system=system)


def objective(
    name: str | None, training: list[Labelled] | None = None, instrument: Instrument = IMPACT
) -> Objective:
    return make_objective(
        name, instrument, instrument.dimensions, training or [labelled(n % 3) for n in range(9)]
    )


def test_the_cost_matrix_that_ships_is_read_rows_truth_columns_said() -> None:
    made = objective(None)
    assert made.name == "cost_matrix"
    for truth, given in itertools.product(range(3), range(3)):
        expected = ((1.2, 0.3, -1.0), (0.3, 1.5, 0.5), (-1.2, 0.4, 1.5))[truth][given]
        assert made.reward(labelled(truth), said(given)[0]) == expected
    assert made.regret(labelled(2), said(2)[0]) == 0.0
    assert made.regret(labelled(2), said(0)[0]) == pytest.approx(-2.7)


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("truth", [0, 1, 2, 1.5])
def test_a_failure_is_worth_no_more_than_any_answer(name: str, truth: float) -> None:
    made = objective(name)
    one = labelled(truth)
    failed = made.reward(one, said(None)[0])
    others = [made.reward(one, said(given)[0]) for given in range(3)]
    assert failed <= min(others) and failed < max(others)
    assert made.regret(one, said(None)[0]) < 0
    assert max(made.regret(one, each) for each in said(0, 1, 2)) == 0.0, "the best answer there is is perfect"


def test_not_applicable_is_right_where_the_clinicians_say_so_and_a_failure_elsewhere() -> None:
    made = objective("quadratic_kappa")
    assert made.regret(labelled(None), {"impact": NotApplicable()}) == 0.0
    assert made.regret(labelled(None), said(1)[0]) < 0
    assert made.reward(labelled(2), {"impact": NotApplicable()}) == made.reward(labelled(2), said(None)[0])


def test_failures_pull_a_whole_down_and_never_drop_out() -> None:
    cases = [labelled(n % 3, n) for n in range(6)]
    perfect = said(*(n % 3 for n in range(6)))
    for name in OBJECTIVES:
        made = objective(name)
        some = made.whole(cases, [*perfect[:3], *said(None, None, None)])
        whole = made.whole(cases, perfect)
        none = made.whole(cases, said(*[None] * 6))
        assert whole is not None and some is not None and none is not None
        assert none < some < whole, name
    assert objective("quadratic_kappa").whole(cases, said(*[None] * 6)) == -1.0


def test_correlation_is_within_systems() -> None:
    """Two systems of different level: between them the judge is right, within each it is wrong."""
    cases = [
        labelled(truth, n, system)
        for n, (truth, system) in enumerate([(0, "a"), (1, "a"), (1, "b"), (2, "b")])
    ]
    assert objective("within_system_correlation").whole(cases, said(1, 0, 2, 1)) == pytest.approx(-1.0)


def test_a_system_whose_labels_are_alike_moves_no_correlation() -> None:
    """It has no correlation of its own: neither 0 nor 1 is taken for it."""
    told = [(0, "a", 1), (1, "a", 0), (2, "b", 0), (2, "b", 1), (2, "b", 2)]
    cases = [labelled(truth, n, system) for n, (truth, system, _) in enumerate(told)]
    found = objective("within_system_correlation").whole(cases, said(*[given for *_, given in told]))
    assert found == pytest.approx(-1.0)


def test_a_matrix_that_is_turned_round_or_too_small_is_refused() -> None:
    with pytest.raises(MedjuryError, match="rewards a wrong grade more"):
        make_objective("cost_matrix", IMPACT, IMPACT.dimensions, [], [[0, 1, 0], [0, 1, 0], [0, 0, 1]])
    with pytest.raises(MedjuryError, match="3 rows"):
        make_objective("cost_matrix", IMPACT, IMPACT.dimensions, [], [[1, 0], [0, 1]])
    with pytest.raises(MedjuryError, match="has none"):
        objective("cost_matrix", instrument=load_instrument("note_quality"))


def test_feedback_says_what_was_said_what_is_right_why_and_how_bad() -> None:
    made = objective(None)
    outcome = {"impact": Score(0, "only fillers were lost.")}
    text = feedback(labelled(2, why="the denial of chest pain is gone"), outcome, made)
    assert "the judge said 0 (None: the clinical meaning is the same" in text
    assert "because: only fillers were lost" in text
    assert "The clinicians say 2 (Significant" in text and "the denial of chest pain is gone" in text
    assert "as bad as a miss can be: it loses 2.70 of 2.70" in text
    assert "small miss" in feedback(labelled(1), said(2)[0], made)
    failed = feedback(labelled(1), said(None)[0], made)
    assert "no usable answer (refusal: the model declined)" in failed
    assert feedback(labelled(1), said(1)[0], made).startswith("impact: right, 1 (Minimal")
