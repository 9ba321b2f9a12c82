"""The colleague test on preferences between two answers: names of systems decide nothing, and each order counts."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from medjury.tables import rating_table
from medjury.validation import Validation, validate

SYSTEMS = ("ada", "bea", "cleo")
PAIRS = (("ada", "bea"), ("ada", "cleo"), ("bea", "cleo"))


def _judgements(*, half: bool = False) -> pl.DataFrame:
    """Three clinicians who mostly prefer the same, and a judge as good as they, asked in both orders."""
    draw = np.random.default_rng(4)
    rows = []
    for case in range(40):
        for first, second in PAIRS:
            better = (first, second, "tie")[draw.choice(3, p=(0.6, 0.25, 0.15))]
            for rater in ("h1", "h2", "h3", "judge"):
                word = better if draw.random() < 0.85 else (first, second, "tie")[draw.integers(3)]
                kind = "judge" if rater == "judge" else "clinician"
                rows.append((f"c{case}", rater, kind, first, second, word))
                if rater == "judge":
                    rows.append((f"c{case}", rater, kind, second, first, "" if half else word))
    names = ["item", "rater", "rater_kind", "first", "second", "preferred"]
    return pl.DataFrame(rows, schema=names, orient="row")


def _tried(frame: pl.DataFrame) -> Validation:
    return validate(rating_table(frame), resamples=200)


def test_what_systems_are_called_changes_no_number_and_no_word() -> None:
    frame = _judgements()
    found = []
    for names in ({}, {"ada": "cleo", "cleo": "ada"}, {"ada": "bea", "bea": "cleo", "cleo": "ada"}):
        verdict = _tried(frame.with_columns(pl.col("first", "second", "preferred").replace(names))).verdicts[
            0
        ]
        lines = {rule.id: rule.found for rule in verdict.rules if rule.line}
        assert {"agreement", "offset", "within_case", "within_system"} <= lines.keys()
        found.append((verdict.word, lines))
    assert found[0] == found[1] == found[2]
    assert verdict.rule("offset").state == "does not apply", "both ways round every mean is 0: no line at all"


@pytest.mark.parametrize(
    ("half", "state", "share"), [(False, "holds", "240 of 240"), (True, "fails", "120 of 240")]
)
def test_a_judge_that_answered_one_order_of_each_pair_answered_half(
    half: bool, state: str, share: str
) -> None:
    rules = {rule.id: rule for rule in _tried(_judgements(half=half)).verdicts[0].rules}
    assert (rules["coverage"].state, rules["coverage"].found[: len(share)]) == (state, share)
