"""Whether a model beats the best trivial answer, and what leaving unanswerable items out does to ranks."""

from __future__ import annotations

import pytest
from tests.suites.marking.made_up import benchmark

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.suites import Item, Loaded, Mark
from medjury.suites._baselines import baseline_scores, beats_baseline, effect_of_unanswerable
from medjury.suites._marking._metrics import mark

KIND = benchmark("exact_match")
ITEMS = tuple(
    Item(str(place), {}, ("AB"[place % 2],), {"A": "Rest", "B": "Surgery"}, patient=f"p{place // 4}")
    for place in range(80)
)
BASELINES = baseline_scores(KIND, Loaded(ITEMS))


def marks(right: int) -> dict[str, Mark]:
    return {item.id: Mark(float(place < right)) for place, item in enumerate(ITEMS)}


def test_a_model_far_above_the_baseline_beats_it() -> None:
    found = beats_baseline(marks(76), BASELINES, ITEMS)
    assert found is not None
    assert found.verdict == "beats it"
    assert found.difference.value == pytest.approx(0.45)
    assert (found.difference.low or 0) > 0.2
    assert "beats it" in found.text()


@pytest.mark.parametrize(
    ("right", "verdict"), [(40, "does not beat it"), (20, "does not beat it"), (43, "cannot be told")]
)
def test_a_model_near_the_baseline_does_not(right: int, verdict: str) -> None:
    found = beats_baseline(marks(right), BASELINES, ITEMS)
    assert found is not None
    assert found.verdict == verdict


def test_an_unread_answer_counts_as_not_right() -> None:
    unread = {item.id: Mark(None, Reason.PARSE) for item in ITEMS}
    found = beats_baseline(unread, BASELINES, ITEMS)
    assert found is not None
    assert found.difference.value == pytest.approx(-0.5)


def test_items_without_an_answer_are_missing_on_both_sides() -> None:
    found = beats_baseline({"0": Mark(1.0), "1": Mark(1.0)}, BASELINES, ITEMS)
    assert found is not None
    assert found.items == 2
    nothing = beats_baseline({}, BASELINES, ITEMS)
    assert nothing is not None
    assert nothing.verdict == "cannot be told"
    assert beats_baseline({}, (), ITEMS) is None


def test_code_sets_are_compared_by_the_micro_average() -> None:
    kind = benchmark("code_f1")
    items = tuple(Item(str(place), {}, facts={"codes": ["I10", f"E1{place % 4}.9"]}) for place in range(40))
    baselines = baseline_scores(kind, Loaded(items))
    perfect = {item.id: mark(kind, item, ", ".join(item.facts["codes"]), "code_f1") for item in items}
    found = beats_baseline(perfect, baselines, items)
    assert found is not None
    assert found.difference.value == pytest.approx(1 - found.baseline_score)
    assert found.verdict == "beats it"


def test_clusters_of_patients_widen_the_interval() -> None:
    alone = tuple(Item(item.id, {}, item.gold, item.choices) for item in ITEMS)
    together, apart = beats_baseline(marks(60), BASELINES, ITEMS), beats_baseline(marks(60), BASELINES, alone)
    assert together is not None
    assert apart is not None
    widths = [
        float(each.difference.high or 0) - float(each.difference.low or 0) for each in (together, apart)
    ]
    assert widths[0] > widths[1]


SCORES = {
    "first": {"a": 1.0, "b": 1.0, "c": 0.0, "d": 0.2},
    "second": {"a": 0.0, "b": 0.0, "c": 1.0, "d": 1.0},
}


def test_leaving_unanswerable_items_out_may_turn_the_ranks() -> None:
    found = effect_of_unanswerable(SCORES, {"a": 0, "b": 1, "c": 1, "d": None})
    assert [(each.candidate, each.rank, each.rank_in_reach) for each in found.candidates] == [
        ("first", 1, 2),
        ("second", 2, 1),
    ]
    assert found.candidates[0].score_out_of_reach == 1
    assert (found.items, found.left_out, found.not_judged) == (4, 1, 1)
    assert found.moved == ("first", "second")
    assert "1 of 4 items cannot be answered" in found.text()


def test_nothing_left_to_compare_is_said() -> None:
    with pytest.raises(MedjuryError, match="no item is left"):
        effect_of_unanswerable(SCORES, dict.fromkeys("abcd", 0))
    with pytest.raises(MedjuryError, match="no candidate"):
        effect_of_unanswerable({}, {})


def test_equal_means_share_the_better_rank_and_only_shared_items_count() -> None:
    found = effect_of_unanswerable({"one": {"a": 1.0, "b": 0.0}, "two": {"a": 1.0}}, {})
    assert ([each.rank for each in found.candidates], found.items, found.moved) == ([1, 1], 1, ())
