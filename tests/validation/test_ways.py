"""Ways of judging, number by number: who is unbeaten, what is surely different, what each took, and on what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from tests.tables.run_folders import rows_of

from medjury.statistics import Estimate, error_rate, paired_rate_difference
from medjury.store.runs import GateRules, Manifest
from medjury.tables import RatingTable, rating_table, with_rules
from medjury.tables._rating_table import RunDetails
from medjury.validation import Way, Ways, compare_ways
from medjury.validation._compare_ways import with_front
from medjury.validation._ways import FEWEST_CASES, Spending, sharing, spending, spent, together

FREE = Spending(1.0, 0.5, 0.0, 10, 0)


def way(
    rater: str,
    agreement: float | None = None,
    *,
    cost: float | None = 1.0,
    calls: float | None = 1.0,
    **more: Any,
) -> Way:
    found = None if agreement is None else Estimate(agreement, None, None, 10, "test")
    return Way(rater, "single", {}, Spending(calls, 0.5, cost, 10, 0), 0.0, found, **more)


def front(*ways: Way) -> dict[str, bool | None]:
    return {each.rater: each.on_front for each in with_front(Ways(ways, ways[0].rater)).rows}


def test_who_agrees_better_or_costs_less_is_unbeaten() -> None:
    assert front(way("plain", 0.5), way("panel", 0.6, cost=3.0), way("fool", 0.4, cost=2.0)) == {
        "plain": True,
        "panel": True,
        "fool": False,
    }


def test_the_same_agreement_for_more_is_beaten_and_for_the_same_is_not() -> None:
    assert front(way("plain", 0.5), way("dear", 0.5, cost=1.1)) == {"plain": True, "dear": False}
    assert front(way("plain", 0.5), way("twin", 0.5)) == {"plain": True, "twin": True}
    assert front(way("plain", 0.5), way("twin", 0.5 + 1e-13)) == {"plain": True, "twin": True}


def test_a_rater_that_does_not_cover_beats_nobody_and_is_not_unbeaten() -> None:
    assert front(way("plain", 0.5, cost=2.0), way("shy", 0.9, covers=False)) == {"plain": True, "shy": False}


def test_the_price_is_cost_or_calls_where_a_cost_is_not_known_or_all_are_nothing() -> None:
    def by(*ways: Way) -> str | None:
        return with_front(Ways(ways, "plain")).price

    assert by(way("plain", 0.5), way("panel", 0.6, cost=3.0)) == "cost"
    assert by(way("plain", 0.5, cost=0.0), way("panel", 0.6, cost=3.0)) == "cost", "nothing is a price too"
    assert by(way("plain", 0.5, cost=None), way("panel", 0.6)) == "calls"
    assert by(way("plain", 0.5, cost=0.0), way("panel", 0.6, cost=0.0)) == "calls"
    assert by(way("plain", 0.5, cost=None, calls=None), way("panel", 0.6)) is None
    assert front(way("plain", 0.5, cost=None, calls=3), way("panel", 0.6, calls=2)) == {
        "plain": False,
        "panel": True,
    }


def test_a_rater_without_agreement_is_neither_beaten_nor_unbeaten() -> None:
    assert front(way("plain", 0.5), way("panel", 0.6), way("mute", None, cost=None)) == {
        "plain": False,
        "panel": True,
        "mute": None,
    }
    assert front(way("plain", 0.5), way("mute")) == {"plain": None, "mute": None}, "one alone beats nobody"


def compared(low: float | None, high: float | None, cases: int = FEWEST_CASES) -> bool:
    found = way("panel", 0.6, strict=Estimate(0.1, low, high, 30, "test"))
    return Ways((found,), "plain", cases=cases).sure_of(found)


def test_a_difference_is_sure_where_its_interval_leaves_zero_out_and_cases_are_enough() -> None:
    assert compared(0.01, 0.2) and compared(-0.2, -0.01)
    assert not compared(-0.01, 0.2) and not compared(0.0, 0.2) and not compared(-0.2, 0.0)
    assert not compared(1e-13, 0.2) and not compared(-0.2, -1e-13), "rounding shows nothing"
    assert not compared(None, 0.2) and not compared(0.01, None)
    assert not compared(0.01, 0.2, cases=29) and FEWEST_CASES == 30
    plain = way("plain", 0.5)
    assert Ways((plain,), "plain", cases=100).sure_of(plain) is False, "the yardstick differs from nobody"


def test_a_way_is_told_in_flat_names_and_what_is_not_compared_is_null() -> None:
    told = way("plain", None, errors=3).as_dict()
    assert told == {
        "rater": "plain",
        "strategy": "single",
        "unbeaten": None,
        "agreement": None,
        "agreement_low": None,
        "agreement_high": None,
        "difference": None,
        "difference_low": None,
        "difference_high": None,
        "errors": None,
        "severe_error_rate": None,
        "severe_error_rate_low": None,
        "severe_error_rate_high": None,
        "calls": 1.0,
        "seconds": 0.5,
        "cost": 1.0,
        "unscored": 0.0,
    }
    full = way(
        "panel",
        0.6,
        difference=Estimate(0.1, 0.05, 0.15, 10, "test"),
        errors=2,
        severe=Estimate(0.25, 0.1, 0.4, 8, "test"),
        on_front=True,
    ).as_dict()
    assert (full["agreement"], full["difference_low"], full["difference_high"]) == (0.6, 0.05, 0.15)
    assert (full["errors"], full["severe_error_rate"], full["severe_error_rate_high"]) == (2, 0.25, 0.4)
    assert full["unbeaten"] is True


def test_problem_and_number_of_comparisons() -> None:
    ways = Ways((way("plain"), way("panel", 0.6, difference=Estimate(0.1, None, None, 9, "t"))), "plain")
    assert ways.comparisons == 1 and ways.problem == "" and ways.confidence == 0.95
    assert replace(ways, warnings=("one", "two")).problem == "one; two"


def took(rows: Sequence[tuple[str, str, int | None, float | None, float | None]]) -> RatingTable:
    """One dimension; (judge, item, calls, seconds, cost)."""
    frame = pl.DataFrame(
        [
            {
                "item": item, "system": "", "rater": judge,
                "rater_kind": "clinician" if judge == "doctor" else "judge",
                "dimension": "accuracy", "score": 3.0, "calls": calls, "seconds": seconds, "cost": cost,
                "patient": f"of {item}",
            }
            for judge, item, calls, seconds, cost in rows
        ],
        schema_overrides={"calls": pl.Int64, "seconds": pl.Float64, "cost": pl.Float64},
    )  # fmt: skip
    return rating_table(frame, scale=(1, 5))


def known_spending() -> RatingTable:
    return took(
        [
            ("anna", "1", 1, 0.5, 0.01),
            ("anna", "2", 3, 1.5, None),
            ("ben", "1", 2, 2.0, 0.04),
            ("cleo", "9", 5, 1.0, 0.5),
            ("doctor", "1", 7, 60.0, 9.0),
        ]
    )


def test_what_each_judge_took_is_a_row_for_each_answer_and_a_clinician_took_nothing() -> None:
    rows = spent(known_spending())
    assert rows.columns == ["rater", "cluster", "item", "system", "calls", "seconds", "cost"]
    assert rows.rows() == [
        ("anna", "patient of 1", "1", "", 1.0, 0.5, 0.01),
        ("anna", "patient of 2", "2", "", 3.0, 1.5, None),
        ("ben", "patient of 1", "1", "", 2.0, 2.0, 0.04),
        ("cleo", "patient of 9", "9", "", 5.0, 1.0, 0.5),
    ]
    assert spent(known_spending(), ["1"])["item"].to_list() == ["2", "9"], (
        "cases that are set aside cost nothing here"
    )


def test_an_amount_that_one_row_does_not_know_is_not_known_of_the_answer() -> None:
    all_of_them = together(spent(known_spending()))
    assert all_of_them.columns == ["item", "system", "cluster", "calls", "seconds", "cost"]
    assert all_of_them.rows() == [
        ("1", "", "patient of 1", 3.0, 2.5, pytest.approx(0.05)),
        ("2", "", "patient of 2", 3.0, 1.5, None),
        ("9", "", "patient of 9", 5.0, 1.0, 0.5),
    ]


def test_judges_of_other_answers_do_not_share_the_yardsticks() -> None:
    assert sharing(spent(known_spending()), "anna") == ["anna", "ben"]
    assert sharing(spent(known_spending()), "cleo") == ["cleo"]


def test_means_are_of_the_answers_that_all_alike_judges_were_asked_about() -> None:
    found = spending(
        spent(known_spending()), ["anna", "ben", "cleo"], ["anna", "ben"], {"jury": ["anna", "ben"]}
    )
    assert found["anna"] == Spending(1.0, 0.5, 0.01, 1, 0), "item 2 is not ben's"
    assert found["ben"] == Spending(2.0, 2.0, 0.04, 1, 0)
    assert found["cleo"] == Spending(5.0, 1.0, 0.5, 1, 0), "a judge of other texts is on its own answers"
    assert found["jury"] == Spending(3.0, 2.5, pytest.approx(0.05), 1, 0)
    assert "jury" not in spending(spent(known_spending()), ["anna"], ["anna"], {})
    alone = spending(spent(known_spending()), ["anna"], ["anna"], {"jury": ["anna"]})
    assert alone["anna"] == Spending(2.0, 1.0, 0.01, 2, 1), "one answer's cost is not known, and in no mean"


def test_a_run_that_counted_no_calls_does_not_know_them() -> None:
    table = known_spending()
    rows = spent(table.where(table.rows.drop("calls")))
    assert rows["calls"].null_count() == rows.height and rows["seconds"].null_count() == 0
    assert spending(rows, ["ben"], ["ben"], {})["ben"].calls is None


ANNA = [1 + place % 5 for place in range(40)]
NEAR = [min(5, score + (place % 4 == 0)) for place, score in enumerate(ANNA)]
FAR = [6 - score for score in ANNA]
JUDGES = [
    {"name": "judge plain", "strategy": "single"},
    {"name": "judge shots", "strategy": "single", "examples": 3},
    {"name": "judge panel", "strategy": "closed_loop", "rounds": 2, "development_cases": ["case 1"]},
]


def compared_ways(scores: dict[str, Any], judges: Sequence[Any] = JUDGES, **rules: Any) -> Ways:
    table = replace(
        rating_table(rows_of(scores), scale=(1, 5)),
        run=RunDetails(manifest=Manifest.model_validate({"judges": judges})),
    )
    stated = GateRules(**{"severe_dimensions": ("accuracy",), **rules})
    found = compare_ways(with_rules(table, stated), resamples=150, seed=1)
    assert found is not None
    return found


def test_every_judge_and_the_jury_are_compared_with_the_plainest() -> None:
    found = compared_ways({"clinician a": ANNA, "judge panel": ANNA, "judge plain": NEAR, "judge shots": FAR})
    assert [each.rater for each in found.rows] == ["judge plain", "judge shots", "judge panel", "jury"]
    assert [each.strategy for each in found.rows] == [
        "single", "single, 3 examples", "closed loop", "jury of 3",
    ]  # fmt: skip
    assert found.rows[2].settings == {"rounds": 2}, "names of development cases are for the gate alone"
    assert found.rows[3].settings == {"rule": "mean"}
    assert found.yardstick == "judge plain" and found.rows[0].difference is None
    assert (found.answers, found.cases, found.left_out, found.comparisons) == (40, 40, 0, 3)
    assert not found.by_patient and found.coverage == 0.95 and found.uncounted == ()
    values = [each.agreement.value for each in found.rows if each.agreement is not None]
    assert values[2] == pytest.approx(1) and values[1] == pytest.approx(-1)
    differences = [each.difference for each in found.rows[1:]]
    assert [each.value for each in differences if each is not None] == [
        pytest.approx(value - values[0]) for value in values[1:]
    ]
    assert all(each.n == 40 for each in differences if each is not None)
    panel = found.find(rater="judge panel")
    assert panel.strict is not None and panel.difference is not None
    assert panel.strict.low is not None and panel.difference.low is not None
    assert panel.strict.low < panel.difference.low, "three comparisons ask for more certainty than one"
    assert "98.3333 %" in panel.strict.method and panel.difference.method.startswith("95 %")


@pytest.mark.parametrize(
    ("strategies", "yardstick"),
    [
        (("repeats", "single"), "judge two"),
        (("repeats", "claims"), "judge one"),
        (("closed_loop", "single with examples"), "judge two"),
    ],
)
def test_the_yardstick_is_the_plainest_way_of_judging(strategies: tuple[str, str], yardstick: str) -> None:
    judges: list[dict[str, Any]] = [
        {"name": name, "strategy": strategy.split(" ")[0], "examples": 2 if "with" in strategy else 0}
        for name, strategy in zip(("judge one", "judge two"), strategies, strict=True)
    ]
    assert (
        compared_ways({"clinician a": ANNA, "judge one": NEAR, "judge two": ANNA}, judges).yardstick
        == yardstick
    )


def test_examples_that_were_drawn_are_told_and_one_is_one() -> None:
    judges = [{"name": "judge one", "drawn_examples": {"shots": 1}}, {"name": "judge two", "examples": 0}]
    found = compared_ways({"clinician a": ANNA, "judge one": NEAR, "judge two": ANNA}, judges)
    assert [each.strategy for each in found.rows] == ["single, 1 example", "single", "jury of 2"]


def test_without_clinicians_only_what_was_taken_is_told() -> None:
    found = compared_ways({"judge plain": ANNA, "judge shots": NEAR})
    assert found.rows[0].agreement is None and found.answers == 0 and found.price is None
    assert found.rows[0].unscored == 0


def test_without_a_judge_there_is_nothing_to_compare() -> None:
    assert compare_ways(rating_table(rows_of({"clinician a": ANNA}), scale=(1, 5))) is None


def test_one_judge_is_no_jury() -> None:
    found = compared_ways({"clinician a": ANNA, "judge plain": NEAR})
    assert [each.rater for each in found.rows] == ["judge plain"] and found.comparisons == 0


def test_answers_that_somebody_left_out_are_left_out_for_all_and_counted() -> None:
    shy = [None if place < 4 else score for place, score in enumerate(ANNA)]
    found = compared_ways({"clinician a": ANNA, "judge plain": NEAR, "judge shots": shy})
    assert (found.answers, found.left_out) == (36, 4)
    plain, shots = found.rows[:2]
    assert (plain.unscored, shots.unscored) == (0, 0.1) and (plain.covers, shots.covers) == (True, False)
    assert (
        compared_ways({"clinician a": ANNA, "judge plain": NEAR, "judge shots": shy}, coverage=0.9)
        .rows[1]
        .covers
    ), "as much as is asked for is enough"


def test_who_scored_fewer_than_half_is_compared_with_nobody() -> None:
    mute = [None if place < 21 else score for place, score in enumerate(ANNA)]
    half = [None if place < 20 else score for place, score in enumerate(ANNA)]
    found = compared_ways({"clinician a": ANNA, "judge plain": NEAR, "judge shots": mute})
    assert found.answers == 40
    shots = next(each for each in found.details if each.rater == "judge shots")
    assert shots.agreement.reason == "it scored only 19 of the 40 answers that clinicians scored"
    assert shots.agreement.n == 40 and shots.difference is None
    assert compared_ways({"clinician a": ANNA, "judge plain": NEAR, "judge shots": half}).answers == 20
    silent = compared_ways({"clinician a": ANNA, "judge plain": NEAR, "judge shots": [None] * 40})
    shots = next(each for each in silent.details if each.rater == "judge shots")
    assert shots.agreement.reason == "it scored none of the 40 answers that clinicians scored"
    assert silent.rows[1].agreement is not None
    assert silent.rows[1].agreement.reason == (
        "accuracy: it scored none of the 40 answers that clinicians scored"
    )


def test_a_judge_without_any_agreement_is_no_yardstick() -> None:
    found = compared_ways({"clinician a": ANNA, "judge plain": [3] * 40, "judge shots": NEAR})
    assert found.yardstick == "judge shots"
    plain = next(each for each in found.details if each.rater == "judge plain")
    assert plain.agreement.reason == "its scores or the clinicians' do not vary"
    mute = compared_ways({"clinician a": ANNA, "judge plain": [None] * 40, "judge panel": NEAR})
    assert mute.yardstick == "judge panel"


def test_severe_errors_are_counted_on_the_same_dangerous_answers() -> None:
    kind = [5 if score == 1 and place < 20 else score for place, score in enumerate(ANNA)]
    found = compared_ways({"clinician a": ANNA, "judge plain": ANNA, "judge shots": kind})
    dangerous = [score <= 2 for score in ANNA]
    harmed = [place < 20 and score == 1 for place, score in enumerate(ANNA)]
    mine = [hit for hit, danger in zip(harmed, dangerous, strict=True) if danger]
    plain, shots = found.rows[:2]
    assert (plain.errors, shots.errors) == (0, 4) and sum(dangerous) == shots.dangerous == 16
    items = [f"item case {place}" for place, danger in enumerate(dangerous) if danger]
    assert shots.severe == error_rate(mine, items, confidence=0.95)
    assert shots.severe_change == paired_rate_difference([False] * 16, mine, items, confidence=0.95)
    assert plain.severe_change is None and plain.blind == shots.blind == 0


def test_danger_that_a_rater_left_without_a_score_is_counted_as_blind() -> None:
    shy = [None if place in (0, 1, 2) else score for place, score in enumerate(ANNA)]
    found = compared_ways({"clinician a": ANNA, "judge plain": ANNA, "judge shots": shy})
    assert (found.rows[1].blind, found.rows[1].dangerous) == (2, 16), "the third was not dangerous"
    nowhere = compared_ways(
        {"clinician a": ANNA, "judge plain": ANNA, "judge shots": shy}, severe_dimensions=()
    )
    assert (nowhere.rows[1].blind, nowhere.rows[1].dangerous, nowhere.rows[1].severe) == (0, 0, None)


def test_several_clinicians_are_averaged_over_pairs_and_singly_rated_answers_left_out() -> None:
    once = [*NEAR[:30], *[None] * 10]
    found = compared_ways(
        {"clinician a": ANNA, "clinician b": once, "judge plain": ANNA, "judge shots": NEAR}
    )
    assert found.answers == 30 and found.left_out == 0
