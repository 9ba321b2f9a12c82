"""The rule of an adaptive jury: what is settled, what is open, and what a file of it must hold."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medjury.foundation.errors import MedjuryError
from medjury.judging import AdaptiveRule, SavedAdaptiveRule, Widths

SCALE = (1.0, 5.0)
SCALES = {"accuracy": (1.0, 5.0), "safety": (0.0, 1.0)}
votes_on_scale = st.lists(st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0]), min_size=1, max_size=8)
WIDTHS = Widths({"accuracy": ({(8, 0): 0.0, (4, 0): 0.5}, {(6, 2): 0.4})}, {"accuracy": (0.3, 0.2)})


def doubt(*votes: float | None, rule: AdaptiveRule | None = None) -> float:
    return (rule or AdaptiveRule()).doubt("accuracy", votes, SCALE)


def test_one_vote_at_an_end_of_the_scale_leaves_no_room_and_one_in_the_middle_leaves_most() -> None:
    assert doubt(5) == doubt(1) == 0.0
    assert doubt(3) > doubt(4) == doubt(2) > 0


def test_a_second_juror_who_agrees_settles_and_one_who_disagrees_opens() -> None:
    assert doubt(4, 4) < doubt(4) < doubt(4, 1)
    assert doubt(5, 5) == 0.0 < doubt(5, 4) < doubt(5, 2)


@given(votes=votes_on_scale)
def test_doubt_is_a_share_of_the_scale_and_the_same_read_from_the_other_end(votes: list[float]) -> None:
    found = doubt(*votes)
    assert 0.0 <= found <= 0.75
    assert found == pytest.approx(doubt(*(6 - vote for vote in votes)))


@given(votes=votes_on_scale, low=st.floats(-9, 9), span=st.floats(0.5, 99))
def test_the_scale_that_is_used_does_not_matter(votes: list[float], low: float, span: float) -> None:
    moved = [low + (vote - 1) / 4 * span for vote in votes]
    assert AdaptiveRule().doubt("d", moved, (low, low + span)) == pytest.approx(doubt(*votes), abs=1e-6)


@given(votes=votes_on_scale)
def test_more_of_the_same_votes_never_raise_the_doubt(votes: list[float]) -> None:
    assert doubt(*votes, *votes) <= doubt(*votes) + 1e-12


def test_below_the_minimum_everything_is_open() -> None:
    rule = AdaptiveRule(tolerance=1.0, minimum=2)
    assert rule.still_open({"accuracy": [5.0]}, {"accuracy": SCALE}) == ("accuracy",)
    assert rule.still_open({"accuracy": [5.0, 1.0]}, {"accuracy": SCALE}) == ()


def test_only_the_open_dimensions_are_named() -> None:
    scales = {"accuracy": SCALE, "clarity": SCALE, "harm": (0.0, 1.0)}
    votes = {"accuracy": [4.0, 4.0], "clarity": [5.0, 2.0], "harm": [1.0]}
    assert AdaptiveRule(0.11).still_open(votes, scales) == ("clarity",)


def test_not_applicable_is_settled_when_all_say_so_and_open_when_some_do() -> None:
    assert doubt(None) == doubt(None, None) == 0.0
    assert math.isinf(doubt(None, 4)) and math.isinf(doubt())


def test_at_a_threshold_only_what_may_still_cross_it_is_open() -> None:
    rule = AdaptiveRule(tolerance=0.0, threshold=3.5)
    assert doubt(4, 4, rule=rule) == 0.0, "4 ± 0.4 lies above 3.5"
    assert doubt(4, rule=rule) > 0, "4 ± 0.9 does not"
    assert doubt(4, 3, rule=rule) > 0


def test_a_table_of_widths_takes_the_place_of_disagreement() -> None:
    rule = AdaptiveRule(widths=WIDTHS)
    assert doubt(5, rule=rule) == 0.0 and doubt(3, rule=rule) == 0.5
    assert doubt(2, rule=rule) == 0.3, "a cell with too few cases"
    assert doubt(5, 3, rule=rule) == 0.4 and doubt(4, 4, rule=rule) == 0.2
    assert doubt(5, 3, 4, rule=rule) == 0.4, "more votes than the table knows: its last entry"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"tolerance": 1.5}, "a share of the scale"),
        ({"minimum": 0}, "1 or more"),
        ({"minimum": 3, "maximum": 2}, "raise `maximum`"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(wrong: dict[str, float], told: str) -> None:
    with pytest.raises(MedjuryError, match=told):
        AdaptiveRule(**wrong)  # type: ignore[arg-type]


def test_a_rule_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    saved = SavedAdaptiveRule(AdaptiveRule(0.125, 1, 3, 3.5, WIDTHS), ("small", "large", "other"), SCALES)
    saved.save(tmp_path / "rule.json", {"seed": 0})
    assert SavedAdaptiveRule.load(tmp_path / "rule.json") == saved
    saved.check(["small", "large", "other"], SCALES)
    with pytest.raises(MedjuryError, match="small, large, other in this order, not for large, small, other"):
        saved.check(["large", "small", "other"], SCALES)


def test_a_rule_holds_for_the_dimensions_and_scales_it_was_learnt_on() -> None:
    saved = SavedAdaptiveRule(AdaptiveRule(), ("small", "large"), SCALES)
    saved.check(["small", "large"], {"accuracy": (1.0, 5.0)})
    with pytest.raises(MedjuryError, match="not learnt on empathy, but on accuracy, safety"):
        saved.check(["small", "large"], {"empathy": (1.0, 5.0)})
    with pytest.raises(MedjuryError, match="safety graded 0 to 1, not 1 to 5"):
        saved.check(["small", "large"], {"accuracy": (1.0, 5.0), "safety": (1.0, 5.0)})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"kind": "something else"}, r"no adaptive rule that can be read \(kind\)"),
        ({"version": 9}, r"\(version\)"),
        ({"jurors": "small"}, r"\(jurors\)"),
        ({"tolerance": None}, r"\(tolerance\)"),
        ({"tolerance": 7}, "a share of the scale"),
        ({"widths": {"accuracy": [{"anywhere": 2, "cells": []}]}}, r"\(widths.accuracy.0.anywhere\)"),
        ({"widths": {"accuracy": [{"anywhere": True, "cells": []}]}}, r"\(widths.accuracy.0.anywhere\)"),
        ({"widths": {"accuracy": []}}, "not complete"),
        ({"scales": None}, r"\(scales\)"),
        ({"scales": {"accuracy": [1]}}, r"\(scales.accuracy"),
    ],
)
def test_a_damaged_file_is_told_by_its_name(change: dict[str, object], told: str, tmp_path: Path) -> None:
    file = tmp_path / "rule.json"
    SavedAdaptiveRule(AdaptiveRule(), ("small", "large"), SCALES).save(file, {})
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(MedjuryError, match=told) as error:
        SavedAdaptiveRule.load(file)
    assert "rule.json" in str(error.value)


def test_a_file_that_is_not_there_or_no_json_is_told(tmp_path: Path) -> None:
    with pytest.raises(MedjuryError, match="cannot be read"):
        SavedAdaptiveRule.load(tmp_path / "none.json")
    (tmp_path / "text.json").write_text("tolerance: 1")
    with pytest.raises(MedjuryError, match="not JSON"):
        SavedAdaptiveRule.load(tmp_path / "text.json")
