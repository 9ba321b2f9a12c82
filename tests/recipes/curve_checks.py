"""Calibration curves made a second time: isotonic maps of all labelled answers and without each fold, and of what
follows from calibrated scores the mean by equal shares of the answers."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping

import numpy as np
import pytest
from tests.recipes.compared import amount
from tests.recipes.rated import Answer, Rated
from tests.recipes.second_opinion import Numbers

FOLDS = 5
# Of each composite, what it weighs; a weight of −1 turns a grade of 1 to 5.
Parts = Mapping[str, Mapping[str, float]]


def rising(score: Numbers, label: Numbers, at: Numbers) -> Numbers:
    """The rising line nearest to the labels: the largest over beginnings of the smallest mean over endings. Beyond
    what was scored it is level, between two scores it is straight."""
    levels = np.unique(score)
    sums = np.array([label[score == level].sum() for level in levels])
    counts = np.array([(score == level).sum() for level in levels])
    upto, number = np.concatenate([[0.0], np.cumsum(sums)]), np.concatenate([[0], np.cumsum(counts)])
    first, last = np.meshgrid(np.arange(len(levels)), np.arange(len(levels)), indexing="ij")
    means = np.where(
        first <= last,
        (upto[last + 1] - upto[first]) / np.maximum(number[last + 1] - number[first], 1),
        np.inf,
    )
    heights = [means[: place + 1, place:].min(axis=1).max() for place in range(len(levels))]
    return np.interp(at, levels, heights)


def fold_of(rated: Rated, answers: list[Answer]) -> Numbers:
    """Labelled cases, each of another patient, by their hashes, dealt out to five; the rest has no fold."""
    assert len(set(rated.patients.values())) == len(rated.patients)
    cases = {item for who, name in rated.scores if who in rated.people for item, _ in rated.reference(name)}
    ordered = sorted(cases, key=lambda item: hashlib.sha256(f"0\0item {item}".encode()).digest())
    place = {item: number % FOLDS for number, item in enumerate(ordered)}
    return np.array([place.get(item, -1) for item, _ in answers])


class Calibrated:
    """Scores of raters by dimension, out of fold, on all answers."""

    def __init__(self, rated: Rated, composites: Parts, judges: list[str]) -> None:
        self.rated, self.composites, self.judges = rated, composites, judges
        self.answers = sorted({each for own in rated.scores.values() for each in own})
        self.fold = fold_of(rated, self.answers)
        self._made: dict[tuple[str, str], Numbers] = {}

    def column(self, own: Mapping[Answer, float]) -> Numbers:
        return np.array([own.get(each, np.nan) for each in self.answers])

    def labelled(self, rater: str, name: str) -> tuple[Numbers, Numbers, Numbers]:
        """The score and the clinicians' of every answer, and which answers have both."""
        score = self.column(self.rated.scores.get((rater, name), {}))
        label = self.column(self.rated.reference(name))
        return score, label, ~np.isnan(score) & ~np.isnan(label)

    def as_scored(self, rater: str, name: str) -> Numbers:
        if rater == "jury_of_calibrated":
            return self.as_scored("jury", name)
        return self.column(self.rated.scores.get((rater, name), {}))

    def out_of_fold(self, rater: str, name: str) -> Numbers:
        if (rater, name) not in self._made:
            self._made[rater, name] = self._out_of_fold(rater, name)
        return self._made[rater, name]

    def _out_of_fold(self, rater: str, name: str) -> Numbers:
        if rater == "jury_of_calibrated":
            return np.mean([self.out_of_fold(judge, name) for judge in self.judges], axis=0)
        if name in self.composites:
            parts = self.composites[name]
            values = {each: self.out_of_fold(rater, each) for each in parts}
            if set(parts.values()) == {-1.0}:
                return 6 - values[next(iter(parts))]
            present = np.array([~np.isnan(values[each]) for each in parts])
            weights = np.array([*parts.values()])[:, None] * present
            made = sum(
                np.nan_to_num(values[each]) * weight for each, weight in zip(parts, weights, strict=True)
            )
            return made / weights.sum(axis=0)
        score, label, known = self.labelled(rater, name)
        made = np.full(len(score), np.nan)
        for number in (-1, *range(FOLDS)):
            learn, here = known & (self.fold != number), ~np.isnan(score) & (self.fold == number)
            made[here] = rising(score[learn], label[learn], score[here])
        return made


def shares(score: Numbers, most: int) -> Numbers:
    """Into which of at most so many shares each score falls: its own where there are few, else equal ones."""
    levels, place = np.unique(np.round(score, 9), return_inverse=True)
    if len(levels) <= most:
        return place
    edges = np.quantile(np.round(score, 9), np.arange(1, most) / most)
    return np.unique((score[:, None] >= edges - 1e-9).sum(axis=1), return_inverse=True)[1]


def curves_are_right(rated: Rated, labels: Mapping[str, str], composites: Parts, judges: list[str]) -> int:
    """The table `calibration-curves`; tells how many points there were."""
    names = {label: name for name, label in labels.items()}
    if not rated.table("calibration-curves"):
        return 0
    made = Calibrated(rated, composites, judges)
    curves: dict[tuple[str, str, str], list[dict[str, str]]] = defaultdict(list)
    for row in rated.table("calibration-curves"):
        curves[names[row["dimension"]], str(row["rater"]), str(row["map"])].append(row)
    for (name, rater, which), rows in curves.items():
        number = int(which[-1]) - 1 if which[-1].isdigit() else -1
        if not rows[0]["answers"]:
            score, label, known = made.labelled(rater, name)
            learn = known & (made.fold != number)
            wanted = rising(score[learn], label[learn], np.array([float(row["score"]) for row in rows]))
            for row, height in zip(rows, wanted, strict=True):
                assert amount(row["calibrated"]) == pytest.approx(height, abs=1e-9), (name, rater, which)
            continue
        before, after = made.as_scored(rater, name), made.out_of_fold(rater, name)
        label = made.column(rated.reference(name))
        here = ~np.isnan(before) & ~np.isnan(after)
        here &= (number < 0) | (~np.isnan(label) & (made.fold == number))
        place = shares(before[here], 8 if number < 0 else 4)
        assert len(rows) == place.max() + 1, (name, rater, which)
        for share, row in enumerate(rows):
            own = place == share
            assert amount(row["answers"]) == own.sum(), (name, rater, which, row)
            assert float(row["score"]) == pytest.approx(before[here][own].mean(), abs=1e-9), row
            assert amount(row["calibrated"]) == pytest.approx(after[here][own].mean(), abs=1e-9), row
    return sum(map(len, curves.values()))
