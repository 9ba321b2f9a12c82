"""The combined rule of review made a second time: expected harm, disagreement, nearness to the boundary and how
many grades a clinician might still give, each from other cases alone, put together by ranks or a logistic line."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from tests.recipes.second_opinion import Numbers

FOLDS, LEVEL, ENOUGH = 5, 0.9, 10
STEEPEST = 40.0  # in standard deviations of the score; beyond it grades are told apart for every purpose


def dealt(names: Sequence[str], seed: int) -> Numbers:
    ordered = sorted(set(names), key=lambda name: hashlib.sha256(f"{seed}\0{name}".encode()).digest())
    place = {name: number % FOLDS for number, name in enumerate(ordered)}
    return np.array([place[name] for name in names])


@dataclass(frozen=True)
class Labelled:
    """Answers with a jury's score and a label, low being dangerous."""

    score: Numbers
    spread: Numbers
    label: Numbers
    bad: Numbers
    names: Sequence[str]

    def some(self, here: Numbers) -> Labelled:
        own = [name for name, kept in zip(self.names, here, strict=True) if kept]
        return Labelled(self.score[here], self.spread[here], self.label[here], self.bad[here], own)


def odds(score: Numbers, label: Numbers) -> tuple[Numbers, Callable[[Numbers], Numbers]]:
    """The grades given, and the share of each at a score: P(label up to k) is logistic in threshold k less slope
    times score, at its most likely and with no falling slope."""
    grades, code = np.unique(label, return_inverse=True)
    centre, size = score.mean(), score.std()
    x, last = (score - centre) / size, len(grades) - 1
    up_to = np.cumsum(np.bincount(code))[:-1] / len(code)
    line = np.append(np.log(up_to / (1 - up_to)), 0.0)
    above, below = np.zeros((len(x), last + 1)), np.zeros((len(x), last + 1))
    above[code < last, code[code < last]] = 1
    below[code > 0, code[code > 0] - 1] = 1
    above[:, -1], below[:, -1] = np.where(code < last, -x, 0), np.where(code > 0, -x, 0)

    def at(line: Numbers) -> tuple[float, Numbers, Numbers]:
        high = np.where(code < last, 1 / (1 + np.exp(-(above @ line))), 1.0)
        low = np.where(code > 0, 1 / (1 + np.exp(-(below @ line))), 0.0)
        share = np.maximum(high - low, 1e-300)
        steep = [side * (1 - side) for side in (high, low)]
        move = (steep[0][:, None] * above - steep[1][:, None] * below) / share[:, None]
        bend = [own * (1 - 2 * side) / share for own, side in zip(steep, (high, low), strict=True)]
        curve = move.T @ move - (above * bend[0][:, None]).T @ above + (below * bend[1][:, None]).T @ below
        return float(np.log(share).sum()), move.sum(axis=0), curve

    value, slope, curve = at(line)
    for _ in range(100 if slope[-1] > 0 else 0):
        step = np.linalg.lstsq(curve, slope, rcond=None)[0]
        while True:
            new = line + step
            if ((np.diff(new[:-1]) > 0).all() and at(new)[0] >= value - 1e-9 * abs(value)) or np.abs(
                step
            ).max() < 1e-12:
                break
            step = step / 2
        line, before = new, value
        value, slope, curve = at(line)
        if np.abs(step).max() < 1e-9 or abs(value - before) < 1e-13 * abs(value) or line[-1] > STEEPEST:
            break
    steepness = max(line[-1], 0.0) / size
    edges = line[:-1] + steepness * centre

    def read(given: Numbers) -> Numbers:
        under = 1 / (1 + np.exp(-(edges - steepness * given[:, None])))
        whole = np.column_stack([np.zeros(len(given)), under, np.ones(len(given))])
        return np.diff(whole, axis=1)

    return grades, read


def strange(found: tuple[Numbers, Callable[[Numbers], Numbers]], scale: Numbers, score: Numbers) -> Numbers:
    """One less the probability of every grade, never falling away from the likeliest."""
    share = np.zeros((len(score), len(scale)))
    share[:, np.searchsorted(scale, found[0])] = found[1](score)
    made = np.empty_like(share)
    for row, own in enumerate(share):
        top = int(own.argmax())
        made[row, : top + 1] = np.maximum.accumulate(own[: top + 1])
        made[row, top:] = np.maximum.accumulate(own[top:][::-1])[::-1]
    return 1 - made


def might_give(target: Labelled, taught: Labelled, scale: Numbers) -> Numbers:
    """How many grades are left open at nine in ten: half of the cases teach the odds, the other half how strange a
    grade may be, every case counting the same."""
    named = sorted(
        set(taught.names), key=lambda name: hashlib.sha256(f"split\x000\x00{name}".encode()).digest()
    )
    first = set(named[: round(len(named) / 2)])
    half = np.array([name in first for name in taught.names])
    grade = np.clip(np.floor(taught.label + 0.5 + 1e-9), scale[0], scale[-1])
    model = odds(taught.score[half], grade[half])
    other = taught.some(~half)
    seen = strange(model, scale, other.score)[
        np.arange(len(other.score)), np.searchsorted(scale, grade[~half])
    ]
    many = len(set(other.names))
    weight = np.array([1 / ((many + 1) * other.names.count(name)) for name in other.names])
    asked = strange(model, scale, target.score)
    p = (weight * (seen >= asked[:, :, None] - 1e-12)).sum(axis=2) + 1 / (many + 1)
    open_ = p > 1 - LEVEL
    empty = ~open_.any(axis=1)
    open_[empty, asked[empty].argmin(axis=1)] = True
    inside = np.maximum.accumulate(open_, axis=1) & np.maximum.accumulate(open_[:, ::-1], axis=1)[:, ::-1]
    return inside.sum(axis=1).astype(float)


def signals(target: Labelled, taught: Labelled, scale: Numbers, boundary: float) -> Numbers:
    grades, shares = odds(taught.score, taught.label)
    share = shares(target.score)
    harm = ((scale[-1] - grades) / (scale[-1] - scale[0])) ** 2
    expected = np.clip(share @ grades, scale[0], scale[-1])
    return np.column_stack(
        [share @ harm, target.spread, -np.abs(expected - boundary), might_give(target, taught, scale)]
    )


def log_odds(table: Numbers, bad: Numbers) -> Callable[[Numbers], Numbers]:
    """A logistic line on standardised signals, its slopes held back by half their squares."""
    centre, size = table.mean(axis=0), table.std(axis=0)
    size = np.where(size > 1e-12, size, 1.0)
    design = np.column_stack([np.ones(len(table)), (table - centre) / size])
    hold, line = np.diag([0.0, *[1.0] * table.shape[1]]), np.zeros(design.shape[1])
    for _ in range(100):
        share = 1 / (1 + np.exp(-design @ line))
        curve = (design * (share * (1 - share))[:, None]).T @ design + hold
        step = np.linalg.lstsq(curve, design.T @ (bad - share) - hold @ line, rcond=None)[0]
        line = line + step
        if np.abs(step).max() < 1e-10:
            break
    return lambda given: line[0] + (given - centre) / size @ line[1:]


def mean_rank(given: Numbers, among: Numbers) -> Numbers:
    parts = [
        ((known < own[:, None] - 1e-12).mean(axis=1) + (known <= own[:, None] + 1e-12).mean(axis=1)) / 2
        for own, known in zip(given.T, among.T, strict=True)
    ]
    return np.mean(parts, axis=0)


def priority(items: Labelled, scale: Numbers, boundary: float) -> tuple[Numbers, Numbers]:
    """Highest first, and the signals behind it: by the logistic line where every part that teaches has ten cases
    with danger and ten without, else by the mean of the signals' ranks."""
    fold = dealt(items.names, 0)
    ranked, lined, whole = np.zeros(len(fold)), np.zeros(len(fold)), True
    found = np.zeros((len(fold), 4))
    for number in (-1, *range(FOLDS)):
        here, taught = fold == number, items.some(fold != number)
        with_danger = {name for name, bad in zip(taught.names, taught.bad, strict=True) if bad}
        without = {name for name, bad in zip(taught.names, taught.bad, strict=True) if not bad}
        enough = min(len(with_danger), len(without)) >= ENOUGH
        whole &= enough
        if number < 0:
            continue
        inner_fold = dealt(taught.names, 1)
        inner = np.zeros((len(inner_fold), 4))
        for each in range(FOLDS):
            own = inner_fold == each
            inner[own] = signals(taught.some(own), taught.some(~own), scale, boundary)
        found[here] = made = signals(items.some(here), taught, scale, boundary)
        ranked[here] = mean_rank(made, inner)
        if enough:
            lined[here] = log_odds(inner, taught.bad)(made)
    return (lined if whole else ranked), found
