"""Which answers to read first, made a second time from the ratings and on the same resamples: what share of the
dangerous ones is caught, and how far to read for 80 %, which the report finds by halving, to a millionth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from tests.recipes.compared import amount
from tests.recipes.curve_checks import fold_of
from tests.recipes.danger_checks import oriented, word_of_danger
from tests.recipes.exact_checks import resamples_of
from tests.recipes.rated import Rated
from tests.recipes.review_rule import Labelled, priority
from tests.recipes.same_draws import Draws, ends, same_draws
from tests.recipes.second_opinion import Numbers, Statistic

HALVINGS = 20  # to a millionth, as the report


def caught(score: Numbers, bad: Numbers, fold: Numbers) -> Statistic:
    """How much of its fold is read after a dangerous answer or beside it, over the dangerous answers."""
    same = fold[:, None] == fold
    after = same * ((score[:, None] < score) + (score[:, None] == score) / 2)
    return lambda w: (w * bad * (w @ after.T) / np.maximum(w @ same.T, 1)).sum(axis=1) / (w @ bad)


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


def places(values: Numbers) -> Numbers:
    """The place of each in the order of review; what differs after the ninth decimal is equal."""
    return np.unique(np.round(-values, 9), return_inverse=True)[1].astype(float)


def triage_is_right(
    rated: Rated,
    labels: Mapping[str, str],
    grades: Mapping[str, Sequence[float]],
    turned: Sequence[str],
    first: str,
    judges: Sequence[str],
    any_counts: bool,
) -> int:
    """The table `triage`, by the combined rule and by the score of `first` alone, which rests on `judges`. All
    orders, also by single signals and judges, stand on the same resamples. Tells how many rows there were."""
    names, rows = {label: name for name, label in labels.items()}, rated.table("triage")
    for label in dict.fromkeys(str(row["dimension"]) for row in rows):
        name = names[label]
        scale = np.array(sorted(grades[name]))
        turn = scale[0] + scale[-1] if name in turned else None
        given, word = oriented(rated.scores[first, name], turn), word_of_danger(rated, name, turn, any_counts)
        answers = sorted(word.keys() & given.keys())
        limit = scale[0] + 0.25 * (scale[-1] - scale[0])
        bad = np.array([word[each] <= limit + 1e-9 for each in answers], dtype=float)
        sides = [oriented(rated.scores[judge, name], turn) for judge in judges]
        table = np.array([[side.get(each, np.nan) for side in sides] for each in answers])
        score = np.array([given[each] for each in answers])
        wanted = oriented(rated.reference(name), turn)
        items = Labelled(
            score,
            np.nanstd(table, axis=1),
            np.array([wanted[each] for each in answers]),
            bad,
            [f"item {item}" for item, _ in answers],
        )
        rule, signals = priority(items, scale, (limit + scale[scale > limit].min()) / 2)
        fold = fold_of(rated, answers)
        orders = [rule, *signals.T, -score, *-table.T]
        columns = np.column_stack([fold, bad, *map(places, orders)])
        draws = same_draws(columns, [rated.patients[item] for item, _ in answers], resamples_of(rows))
        for row in rows:
            if row["dimension"] == label:
                own = places(rule if row["order of review"] == "combined rule" else -score)
                assert (amount(row["rated answers"]), amount(row["dangerous"])) == (len(answers), bad.sum())
                behind = len(
                    {rated.patients[item] for (item, _), hit in zip(answers, bad, strict=True) if hit}
                )
                shows(row, "mean share caught", caught(own, bad, fold), draws, 1e-9, behind)
                shows(row, "share to review to catch 80 %", to_read(own, bad, fold), draws, 2e-6, behind)
    return len(rows)


def shows(
    row: Mapping[str, str], column: str, statistic: Statistic, draws: Draws, near: float, behind: int
) -> None:
    """The value, and the plain quantiles of the resamples where 30 patients have a dangerous answer."""
    with np.errstate(all="ignore"):
        value, made = float(statistic(np.ones((1, draws.resampled.shape[1])))[0]), statistic(draws.resampled)
    if behind < 30:
        assert amount(row[column]) == pytest.approx(value, abs=near), (column, value, row)
        assert not row[f"{column} low"] and not row[f"{column} high"], row
        assert row[f"{column} method"].startswith(f"no interval: {behind} cases hold a dangerous answer"), row
        return
    assert "percentile" in row[f"{column} method"], row
    wanted = [value, *ends(value, made, made, "as it is", "percentile")]
    shown = [amount(row[f"{column}{end}"]) for end in ("", " low", " high")]
    assert shown == pytest.approx(wanted, abs=near), (column, wanted, row)
