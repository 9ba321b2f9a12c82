"""What records come to when they are counted, against a handful of records that can be counted by hand."""

from __future__ import annotations

from typing import Any

import pytest

from medjury.judging import AdaptiveBody, DeliberationBody, RecordedOrder
from medjury.report._sections.adaptive import AdaptiveTally
from medjury.report._sections.deliberations import DeliberationTally
from medjury.report._sections.preference import OrderTally
from medjury.statistics import proportion


def orders(*places: int | None) -> list[RecordedOrder]:
    """A pair in both orders: who is named first, and which place won."""
    names = [("ours", "theirs"), ("theirs", "ours")]
    return [
        RecordedOrder(
            first=first, second=second, place=place, prefers={1: first, 2: second, 0: ""}.get(place or 0)
        )
        for (first, second), place in zip(names, places, strict=False)
    ]


def test_a_judge_who_takes_the_first_place_in_both_orders_changes_its_mind_and_leans() -> None:
    tally = OrderTally()
    tally.note("case 1", "patient a", orders(1, 1))
    tally.note("case 2", "patient a", orders(1, 2))
    tally.note("case 3", "patient b", orders(2, 2))
    tally.note("case 4", "patient c", orders(0, 1))
    assert tally.items == ["case 1", "case 2", "case 3", "case 4"]
    assert tally.changed == [True, False, True, True]
    assert dict(tally.lean) == {"patient a": 2, "patient b": -2, "patient c": 1}
    assert (tally.first, tally.decided) == (4, 7), "a tie (place 0) decides for no place"
    assert (tally.both_first, tally.both_second, tally.failed) == (1, 1, 0)


@pytest.mark.parametrize("places", [(1,), (1, None), (None, None), ()])
def test_a_pair_without_a_verdict_in_both_orders_counts_as_failed_and_as_nothing_else(
    places: tuple[int | None, ...],
) -> None:
    tally = OrderTally()
    tally.note("case 1", "patient a", orders(*places))
    tally.note("case 2", "patient b", orders(*places))
    assert tally.failed == 2 and tally.items == tally.changed == []
    assert (tally.first, tally.decided, tally.both_first, tally.both_second) == (0, 0, 0, 0)


def test_the_lean_is_a_share_of_patients_with_wilsons_interval() -> None:
    tally = OrderTally()
    for patient, places in (("a", (1, 1)), ("b", (1, 1)), ("c", (2, 2)), ("d", (1, 2))):
        tally.note(f"case of {patient}", patient, orders(*places))
    wilson = proportion(2, 3, interval="wilson")
    assert tally.bias() == wilson, "who leans to neither place is no evidence"
    assert tally.bias(0.8) == proportion(2, 3, interval="wilson", confidence=0.8)


def test_two_patients_who_lean_alike_prove_nothing() -> None:
    tally = OrderTally()
    for patient in "ab":
        tally.note(f"case of {patient}", patient, orders(1, 1))
    assert tally.bias() == proportion(2, 2), "exact, where all lean to one place"
    assert tally.bias().low < 0.5


def test_without_a_lean_there_is_no_share_and_a_reason() -> None:
    tally = OrderTally()
    tally.note("case 1", "a", orders(1, 2))
    found = tally.bias()
    assert (found.value, found.n, found.reason) == (None, 0, "no case leans to a place")
    assert found.method == "Wilson score"


def adaptive(stopped: str, *calls: tuple[str, dict[str, Any]], maximum: int = 3) -> AdaptiveBody:
    return AdaptiveBody.model_validate(
        {
            "jurors": ["anna", "ben", "cleo"],
            "rule": {"maximum": maximum},
            "stopped": stopped,
            "calls": [{"juror": juror, "outcomes": outcomes} for juror, outcomes in calls],
        }
    )


SCORE = {"status": "scored", "score": 4}
NOT_HERE = {"status": "not_applicable"}
LOST = {"status": "unscored", "reason": "parse"}
UNSAID = {"status": "unscored", "reason": None}


def test_an_adaptive_jury_is_counted_asking_by_asking_and_juror_by_juror() -> None:
    tally = AdaptiveTally()
    assert (tally.finished, tally.saved) == (0, None), "nothing asked, nothing saved"
    tally.note(adaptive("settled", ("anna", {"accuracy": SCORE, "clarity": NOT_HERE})))
    tally.note(
        adaptive(
            "all calls made",
            ("anna", {"accuracy": SCORE, "clarity": LOST}),
            ("ben", {"accuracy": LOST, "clarity": UNSAID}),
            ("cleo", {"accuracy": SCORE, "clarity": SCORE}),
        )
    )
    tally.note(adaptive("settled", ("anna", {"accuracy": SCORE}), maximum=4))
    assert dict(tally.stopped) == {"settled": 2, "all calls made": 1}
    assert dict(tally.asked) == {1: 2, 3: 1} and tally.finished == 3
    assert (tally.made, tally.most) == (5, 10) and tally.saved == pytest.approx(0.5)
    assert {name: tuple(counts.values()) for name, (counts, _) in tally.jurors.items()} == {
        # asked, scores, not applicable, votes lost, answers without a vote
        "anna": (3, 3, 1, 1, 0),
        "ben": (1, 0, 0, 2, 1),
        "cleo": (1, 2, 0, 0, 0),
    }
    assert tally.jurors["ben"][1] == {"parse": 1, "": 1} and tally.jurors["anna"][1] == {"parse": 1}


def test_what_was_broken_off_saved_nothing_and_what_was_not_asked_asked_nobody() -> None:
    tally = AdaptiveTally()
    tally.note(adaptive("failed for now", ("ben", {"accuracy": SCORE})))
    tally.note(adaptive("not asked"))
    assert dict(tally.stopped) == {"failed for now": 1, "not asked": 1}
    assert (tally.finished, tally.made, tally.most, tally.saved) == (0, 0, 0, None)
    assert list(tally.jurors) == ["anna", "ben", "cleo"], "a juror who was never asked is shown with nothing"
    assert [counts["asked"] for counts, _ in tally.jurors.values()] == [0, 1, 0]


def talk(ended: str = "agreed", **changes: Any) -> DeliberationBody:
    body: dict[str, Any] = {
        "dimensions": ["accuracy", "clarity"],
        "personas": [
            {"name": "nurse", "text": "A nurse.", "model": "small"},
            {"name": "surgeon", "text": "A surgeon.", "model": "large"},
        ],
        "ended": ended,
        "agreed_at_once": False,
        "turns": 2,
        "final": {"nurse": {"accuracy": 4, "clarity": None}, "surgeon": {"accuracy": 2, "clarity": 3}},
        "decided": {"accuracy": 3, "clarity": 3},
        "outside": ["accuracy"],
        "steps": [
            {"act": "opening", "persona": "nurse", "changed": ["accuracy"]},
            {"act": "question"},
            {"act": "turn", "persona": "nurse", "changed": ["accuracy", "clarity"]},
            {"act": "turn", "persona": "surgeon", "changed": []},
            {"act": "turn", "persona": "nurse", "changed": ["accuracy"]},
            {"act": "decision"},
        ],
    }
    return DeliberationBody.model_validate({**body, **changes})


def test_deliberations_are_counted_and_so_is_what_each_persona_did() -> None:
    tally = DeliberationTally()
    tally.note(talk())
    tally.note(talk("orchestrator", agreed_at_once=True, turns=3, outside=[]))
    assert (tally.deliberations, tally.at_once, tally.turns) == (2, 1, 5)
    assert (tally.decided, tally.undecided, tally.outside) == (4, 0, 1)
    assert tally.ended == {"agreed": 1, "orchestrator": 1, "max_turns": 0, "max_stalls": 0, "failed": 0}
    nurse, surgeon = tally.personas["nurse"], tally.personas["surgeon"]
    assert (nurse.text, list(nurse.models), list(surgeon.models)) == ("A nurse.", ["small"], ["large"])
    assert (nurse.turns, nurse.changed, surgeon.turns, surgeon.changed) == (4, 6, 2, 0)
    # The nurse holds one grade beside a decision of 3 (her second is "not applicable"), the surgeon two.
    assert (nurse.held, nurse.followed, nurse.gap) == (2, 0, 2.0)
    assert (surgeon.held, surgeon.followed, surgeon.gap) == (4, 2, -2.0)


def test_a_grade_beside_no_decision_is_neither_held_nor_followed() -> None:
    tally = DeliberationTally()
    tally.note(talk(decided={"accuracy": None}, outside=[]))
    assert (tally.decided, tally.undecided) == (1, 1), "clarity was left without a decision"
    assert [each.held for each in tally.personas.values()] == [0, 0]


def test_a_talk_that_failed_left_nothing_undecided_and_lost_agents_are_counted() -> None:
    lost = [{"persona": "nurse", "reason": "parse", "message": "cut"}] * 2
    tally = DeliberationTally()
    tally.note(talk("failed", decided={}, failed=lost, outside=[]))
    assert (tally.undecided, tally.ended["failed"]) == (0, 1)
    assert (tally.personas["nurse"].lost, tally.personas["surgeon"].lost) == (2, 0)


def test_a_persona_that_two_models_played_names_both_in_their_order() -> None:
    tally = DeliberationTally()
    tally.note(talk())
    swapped = [{"name": "nurse", "text": "Another text.", "model": "large"}, {"name": "surgeon"}]
    tally.note(talk(personas=swapped))
    assert list(tally.personas["nurse"].models) == ["small", "large"]
    assert tally.personas["nurse"].text == "A nurse.", "as it was first said"
