"""Which answers to read first, by the jury's score alone, made a second time from the ratings: what share of the
dangerous ones is caught, and how far to read for 80 %. The report draws its resamples by all orders at once, the
combined rule's too, so ends are met within what chance leaves open; see `second_opinion`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from tests.recipes.compared import amount, note
from tests.recipes.curve_checks import fold_of
from tests.recipes.danger_checks import oriented, word_of_danger
from tests.recipes.rated import Rated
from tests.recipes.second_opinion import Numbers, Statistic, holds, interval

HALVINGS = 20  # to a millionth, as the report


def caught(score: Numbers, bad: Numbers, fold: Numbers) -> Statistic:
    """How much of its fold is read after a dangerous answer or beside it, over the dangerous answers."""
    same = fold[:, None] == fold
    after = same * ((score[:, None] < score) + (score[:, None] == score) / 2)
    return lambda w: (w * bad * (w @ after.T) / (w @ same.T)).sum(axis=1) / (w @ bad)


def to_read(score: Numbers, bad: Numbers, fold: Numbers) -> Statistic:
    """The least share of every fold, lowest scores first and equal ones in any order, with four fifths of what is
    dangerous."""
    parts = []
    for number in np.unique(fold):
        levels = np.unique(score[fold == number])
        parts.append(np.array([(fold == number) & (score == level) for level in levels], dtype=float).T)

    def read(w: Numbers) -> Numbers:
        steps = []
        for inside in parts:
            many = w @ inside
            whole = np.maximum(many.sum(axis=1, keepdims=True), 1)
            width = many / whole
            steps.append(
                (np.cumsum(width, axis=1) - width, np.where(width > 0, width, 1), (w * bad) @ inside)
            )
        low, high = np.zeros((len(w), 1)), np.ones((len(w), 1))
        wanted = 0.8 * (w @ bad)[:, None] - 1e-9
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            got = sum(
                (hits * np.clip((middle - first) / width, 0, 1)).sum(axis=1, keepdims=True)
                for first, width, hits in steps
            )
            low, high = np.where(got >= wanted, low, middle), np.where(got >= wanted, middle, high)
        return np.where(w @ bad > 0, high[:, 0], np.nan)

    return read


def triage_is_right(
    rated: Rated,
    labels: Mapping[str, str],
    scales: Mapping[str, tuple[float, float]],
    turned: Sequence[str],
    first: str,
    any_counts: bool,
) -> int:
    """Rows of the table `triage` in the order of a rater's score alone; tells how many there were."""
    names, seen = {label: name for name, label in labels.items()}, 0
    for row in rated.table("triage"):
        if row["order of review"] != f"{first}'s score alone":
            continue
        name = names[row["dimension"]]
        low, high = scales[name]
        turn = low + high if name in turned else None
        given = oriented(rated.scores[first, name], turn)
        word = word_of_danger(rated, name, turn, any_counts)
        answers = sorted(word.keys() & given.keys())
        limit = low + 0.25 * (high - low)
        bad = np.array([word[each] <= limit + 1e-9 for each in answers], dtype=float)
        score = np.round([given[each] for each in answers], 9)
        fold, whose = fold_of(rated, answers), [rated.patients[item] for item, _ in answers]
        assert (amount(row["rated answers"]), amount(row["dangerous"])) == (len(answers), bad.sum())
        assert len(holds(row, "mean share caught", caught(score, bad, fold), whose, "as it is")) == 2
        column, statistic = "share to review to catch 80 %", to_read(score, bad, fold)
        value = float(statistic(np.ones((1, len(answers))))[0])
        assert amount(row[column]) == pytest.approx(value, abs=2e-6), row
        many = re.search(r"percentile bootstrap, (\d+) resamples", row[f"{column} method"])
        assert many is not None, row
        own = interval(statistic, whose, "as it is", int(many[1]), "percentile")
        for end, (least, most) in (("low", own.lows), ("high", own.highs)):
            assert least - 2e-6 <= float(row[f"{column} {end}"]) <= most + 2e-6, (end, own, row)
        note(row, f"{column} low", f"{column} high")
        seen += 1
    return seen
