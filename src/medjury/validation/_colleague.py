"""The colleague test: would anybody notice if the jury took a colleague's chair?

On every answer that two clinicians a and b rated, the jury is set against b beside a against b, averaged over
ordered pairs so that each answer counts once. Every quantity is a function of sums over clusters (patients, else
cases; equal texts are one cluster), so that one bootstrap of clusters serves all of them. Each line is tested
one-sided at 5 %: all must hold, so that no correction is due (intersection-union test, Berger 1982, Technometrics
24:295-300)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special

from medjury.analysis.agreement import no_disagreement
from medjury.statistics import (
    Floats,
    clustered_proportion,
    counted,
    digits_beside,
    interval,
    percent,
    percent_of_limit,
    shown,
    weighted_proportion,
)
from medjury.store.runs import GateRules
from medjury.tables import Grades
from medjury.validation._clustered import clustered_contrast
from medjury.validation._rule import Asked, Rule, RuleState, ask
from medjury.validation._sentences import STATISTICS, Word, missed_sides

Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]
# Cells of one block of resampled counts: 32 MB.
_BLOCK = 4_000_000
_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Beside:
    """The jury beside the clinicians on one dimension. `humans` has a column for each clinician, `jury` its scores,
    NaN where there is none. `silent` marks answers that the jury was asked about and left without a score. `case`,
    `system` and `cluster` are a number for each answer. `danger` is the score at or below which an answer is
    dangerous and the gap that makes a miss, where low is dangerous (else `turned`); None where no danger is
    claimed. `weights` are one over the probability with which an answer was drawn, where these differ."""

    humans: Floats
    jury: Floats
    silent: Flags
    case: Codes
    system: Codes
    cluster: Codes
    grades: Grades | None
    statistic: str = "kappa_quadratic"
    danger: tuple[float, float] | None = None
    turned: bool = False
    weights: Floats | None = None

    def both_ways(self) -> Beside:
        """Preferences, each with its two systems named one way round and the other: what a preference is above or
        below depends on names alone, and what is measured must not."""
        weights = None if self.weights is None else np.tile(self.weights, 2) / 2
        return replace(
            self,
            humans=np.concatenate([self.humans, -self.humans]),
            jury=np.concatenate([self.jury, -self.jury]),
            silent=np.tile(self.silent, 2),
            case=np.tile(self.case, 2),
            system=np.concatenate([self.system, self.system + self.system.max(initial=0) + 1]),
            cluster=np.tile(self.cluster, 2),
            weights=weights,
        )

    @cached_property
    def number(self) -> Codes:
        """How many clinicians scored each answer."""
        return np.asarray((~np.isnan(self.humans)).sum(axis=1))

    @cached_property
    def asked(self) -> Flags:
        """Answers that a clinician rated and the jury scored or was silent on."""
        return np.asarray((self.number > 0) & (~np.isnan(self.jury) | self.silent))

    @cached_property
    def doubly(self) -> Flags:
        """Of those, the answers with two clinicians or more."""
        return np.asarray(self.asked & (self.number > 1))

    @cached_property
    def own_weight(self) -> Floats:
        return np.ones(len(self.jury)) if self.weights is None else self.weights

    @cached_property
    def pairs(self) -> Pairs:
        """A row for each answer and ordered pair of its clinicians: not for each pair of all clinicians, of whom
        there may be hundreds."""
        place, rater = np.nonzero(~np.isnan(self.humans) & self.asked[:, np.newaxis])
        others = self.number[place]
        ends = np.cumsum(others)
        start = np.searchsorted(place, place)
        one = np.repeat(np.arange(len(place)), others)
        other = np.repeat(start - ends + others, others) + np.arange(len(one))
        one, other = one[one != other], other[one != other]
        answer, first, second = place[one], rater[one], rater[other]
        return Pairs(
            answer,
            self.humans[answer, first],
            self.humans[answer, second],
            self.jury[answer],
            self.own_weight[answer] / (self.number * (self.number - 1))[answer],
            first,
            second,
        )

    @cached_property
    def singles(self) -> tuple[Codes, Floats, Floats]:
        """A row for each answer and clinician: the answer, the clinician's score, the weight."""
        place, rater = np.nonzero(~np.isnan(self.humans) & self.asked[:, np.newaxis])
        return place, self.humans[place, rater], self.own_weight[place] / self.number[place]

    def low(self, scores: Floats) -> Floats:
        """The scores with low as the dangerous end."""
        if not self.turned or self.grades is None:
            return scores
        return self.grades.lowest + self.grades.highest - scores


@dataclass(frozen=True, eq=False)
class Pairs:
    """Answer, scores of a, b and the jury, weight, who a is and who b is, row by row."""

    answer: Codes
    a: Floats
    b: Floats
    jury: Floats
    weight: Floats
    first: Codes
    second: Codes

    @cached_property
    def pair(self) -> Codes:
        """One number for a and b."""
        return _together(self.first, self.second)


@dataclass(frozen=True, eq=False)
class Sums:
    """What the lines are read from: for each cluster, sums over its rows. Adding up clusters, each as often as it
    was drawn, gives the sums of a resample."""

    cells: Floats  # clusters in rows
    at: Mapping[str, slice]

    def resampled(self, resamples: int, seed: int) -> Floats:
        """The sums of so many draws of clusters."""
        count = len(self.cells)
        generator = np.random.default_rng(seed)
        even = np.full(count, 1.0 / count)
        step = max(1, _BLOCK // count)
        blocks = [
            generator.multinomial(count, even, size=min(step, resamples - start)).astype(np.float64)
            @ self.cells
            for start in range(0, resamples, step)
        ]
        return np.concatenate(blocks) if blocks else np.empty((0, self.cells.shape[1]))

    def without_each(self) -> Floats:
        """The sums without one cluster, for each of them."""
        return np.asarray(self.cells.sum(axis=0) - self.cells)


def sums_of(beside: Beside) -> Sums:
    """Products of weighted scores, summed by cluster, for every line that these answers allow."""
    rows, statistic, grades = beside.pairs, beside.statistic, beside.grades
    here = ~np.isnan(rows.jury)
    count = int(beside.cluster.max()) + 1 if beside.cluster.size else 0
    parts: dict[str, list[Floats]] = {}

    def add(name: str, answer: Codes, *columns: Floats) -> None:
        codes = beside.cluster[answer]
        parts[name] = [
            np.asarray(np.bincount(codes, column, minlength=count), dtype=np.float64) for column in columns
        ]

    def products(name: str, answer: Codes, w: Floats, u: Floats, v: Floats) -> None:
        add(name, answer, w, w * u, w * v, w * u * u, w * v * v, w * u * v)

    a, b, x = rows.a[here], rows.b[here], rows.jury[here]
    answer, w = rows.answer[here], rows.weight[here]
    if grades is not None and statistic == "kappa_quadratic":
        u_jury, u_a, u_b = grades.grade(x), grades.grade(a), grades.grade(b)
        all_a, all_b = grades.grade(rows.a), grades.grade(rows.b)
    elif statistic == "spearman":
        order = _ranks(beside.jury)
        u_jury = order(x)
        rank = _ranks(beside.humans)
        u_a, u_b, all_a, all_b = rank(a), rank(b), rank(rows.a), rank(rows.b)
    else:
        u_jury, u_a, u_b, all_a, all_b = x, a, b, rows.a, rows.b
    products("jury", answer, w, u_jury, u_b)
    products("colleague", answer, w, u_a, u_b)
    products("colleagues", rows.answer, rows.weight, all_a, all_b)
    for name, group in (("within_case", beside.case), ("within_system", beside.system)):
        codes = _together(group[answer], rows.pair[here])
        cx, ca, cb = (_centred(each, codes, w) for each in (x, a, b))
        add(name, answer, w * cx * cx, w * cb * cb, w * cx * cb, w * ca * ca, w * ca * cb)
    place, graded, own = beside.singles
    known = ~np.isnan(beside.jury[place])
    add("offset", place[known], own[known], own[known] * (beside.jury[place] - graded)[known])
    if beside.danger is not None:
        missed, also, dangerous = missed_rows(beside)
        w_all = rows.weight
        add(
            "missed",
            rows.answer[dangerous],
            w_all[dangerous],
            (w_all * missed)[dangerous],
            (w_all * also)[dangerous],
            (w_all * (missed & ~also))[dangerous],
            (w_all * (also & ~missed))[dangerous],
        )
    cells = np.column_stack([column for columns in parts.values() for column in columns])
    at, start = {}, 0
    for name, columns in parts.items():
        at[name] = slice(start, start + len(columns))
        start += len(columns)
    return Sums(cells, at)


def missed_rows(beside: Beside) -> tuple[Flags, Flags, Flags]:
    """For each row of the pairs: whether the jury missed what b graded, whether a did, and whether b's grade is
    dangerous. Silence is a miss."""
    assert beside.danger is not None
    (threshold, gap), rows = beside.danger, beside.pairs
    low_a, low_b, low_x = (beside.low(each) for each in (rows.a, rows.b, rows.jury))
    silent = np.isnan(rows.jury)
    missed = silent | (np.where(silent, 0.0, low_x) - low_b >= gap - 1e-9)
    return np.asarray(missed), np.asarray(low_a - low_b >= gap - 1e-9), np.asarray(low_b <= threshold + 1e-9)


def read(sums: Sums, cells: Floats, statistic: str) -> dict[str, Floats]:
    """The lines by sums of clusters (resamples in rows): `NAME` is jury minus colleague, `NAME jury` and
    `NAME colleague` its two sides; `colleagues` is the clinicians' own agreement, `offset` jury minus clinician."""

    def column(name: str) -> list[Floats]:
        return list(np.moveaxis(cells[..., sums.at[name]], -1, 0))

    coefficient = _pearson if statistic == "spearman" else _concordance
    found = {
        "agreement jury": coefficient(*column("jury")),
        "agreement colleague": coefficient(*column("colleague")),
        "colleagues": coefficient(*column("colleagues")),
    }
    for name in ("within_case", "within_system"):
        xx, bb, xb, aa, ab = column(name)
        found[f"{name} jury"] = _ratio(xb, xx, bb)
        found[f"{name} colleague"] = _ratio(ab, aa, bb)
    for name in ("agreement", "within_case", "within_system"):
        found[name] = found[f"{name} jury"] - found[f"{name} colleague"]
    weight, total = column("offset")
    found["offset"] = total / np.where(weight > 0, weight, np.nan)
    if "missed" in sums.at:
        weight, missed, also, _, _ = column("missed")
        safe = np.where(weight > 0, weight, np.nan)
        found["missed_danger jury"], found["missed_danger colleague"] = missed / safe, also / safe
        found["missed_danger"] = (missed - also) / safe
    return found


def _concordance(n: Floats, u: Floats, v: Floats, uu: Floats, vv: Floats, uv: Floats) -> Floats:
    """1 − E(u − v)² / (var u + var v + (ū − v̄)²): quadratic kappa on grades (the scale cancels), Lin's concordance,
    which is ICC(A,1) of many answers, on other scores. 0 for one rater who never varies, undefined for two."""
    n = np.where(n > 0, n, np.nan)
    apart = (uu - 2 * uv + vv) / n
    spread = uu / n - (u / n) ** 2 + vv / n - (v / n) ** 2 + (u / n - v / n) ** 2
    return np.asarray(1 - apart / np.where(spread > _TINY, spread, np.nan))


def _pearson(n: Floats, u: Floats, v: Floats, uu: Floats, vv: Floats, uv: Floats) -> Floats:
    n = np.where(n > 0, n, np.nan)
    return _ratio(uv - u * v / n, uu - u * u / n, vv - v * v / n)


def _ratio(both: Floats, first: Floats, second: Floats) -> Floats:
    """A correlation from centred sums; 0 where the first never varies, undefined where the second does not: who
    always says the same is no yardstick."""
    varies = (first > _TINY) & (second > _TINY)
    known = np.where(varies, both / np.sqrt(np.where(varies, first * second, 1.0)), 0.0)
    return np.where(second > _TINY, known, np.nan)


def _ranks(scores: Floats) -> Callable[[Floats], Floats]:
    """Mid-ranks among all these scores, as shares of their number."""
    known = np.sort(scores[~np.isnan(scores)], axis=None)

    def rank(values: Floats) -> Floats:
        low, high = (np.searchsorted(known, values, side=side) for side in ("left", "right"))
        return np.asarray((low + high) / (2.0 * max(1, len(known))))

    return rank


def _together(first: Codes, second: Codes) -> Codes:
    """One number for two."""
    if not first.size:
        return first
    both = first.astype(np.int64) * (int(second.max()) + 1) + second
    return np.asarray(np.unique(both, return_inverse=True)[1], dtype=np.int64)


def _centred(values: Floats, group: Codes, weight: Floats) -> Floats:
    """Each value less the mean of its group, where a group is one rater's scores in one pair: a mean over raters
    would make colleagues look worse than they are."""
    if not values.size:
        return values
    total, own = np.bincount(group, weight * values), np.bincount(group, weight)
    return np.asarray(values - (total / np.where(own > 0, own, 1.0))[group])


def paired_difference_bounds(first: float, second: float, n: float, reach: float) -> tuple[float, float]:
    """Tango's score interval (1998, Stat Med 17:891-908) for p₁₀ − p₀₁, the difference of two paired shares, where
    `first` and `second` of `n` pairs are discordant one way and the other; `reach` is the quantile. It holds at 0
    discordant pairs, where resampling sees no doubt at all.

    >>> [round(end, 3) for end in paired_difference_bounds(0, 0, 40, 1.645)]
    [-0.063, 0.063]
    """

    def score(apart: float) -> float:
        linear = -first - second + (2 * n - first + second) * apart
        constant = -second * apart * (1 - apart)
        root = max(linear * linear - 8 * n * constant, 0.0) ** 0.5
        share = (root - linear) / (4 * n)
        variance = n * (2 * share + apart * (1 - apart))
        gap = first - second - n * apart
        return float(gap / max(variance, _TINY) ** 0.5)

    def end(low: float, high: float, at: float) -> float:
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if score(middle) > at else (low, middle)
        return (low + high) / 2

    value = (first - second) / n
    return end(-1.0, value, reach), end(value, 1.0, -reach)


def missed_bounds(beside: Beside, sums: Sums, tail: float) -> tuple[float, float, int]:
    """The two one-sided bounds of jury minus colleague on what a clinician calls dangerous, and the clusters behind
    them: Tango's score interval for as many pairs as the clustered answers are worth. With discordance in few
    clusters its clustering is not known, and each cluster counts once."""
    _, _, dangerous = missed_rows(beside)
    rows = beside.pairs
    weight, missed, also, only_jury, only_colleague = sums.cells[:, sums.at["missed"]].T
    inside = weight > 0
    clusters, total = int(inside.sum()), float(weight.sum())
    if clusters < 2:
        return -1.0, 1.0, clusters
    apart = (missed - also)[inside]
    value = float(apart.sum()) / total
    shares = float(only_jury.sum()) / total, float(only_colleague.sum()) / total
    by_answer = np.bincount(rows.answer[dangerous], rows.weight[dangerous])
    answers = total**2 / float((by_answer**2).sum())
    whole = total**2 / float((weight**2).sum())
    events = int(((only_jury + only_colleague) > _TINY).sum())
    worth = whole + max(answers - whole, 0.0) * (1.0 - min(1.0, 3.0 / max(events, 1)))
    spread = clusters / (clusters - 1.0) * float(((apart - value * weight[inside]) ** 2).sum()) / total**2
    if spread > _TINY:
        worth = min(worth, (sum(shares) - value**2) / spread)
    reach = float(special.stdtrit(clusters - 1.0, 1.0 - tail))
    low, high = paired_difference_bounds(shares[0] * worth, shares[1] * worth, worth, reach)
    return low, high, clusters


# Each bound is one-sided at this level: all lines must hold, so that none is corrected for the others. A resampled
# bound errs more often than it says, most with few clusters (7.5 % with 33 and up to 6.9 % with more, each drawn a
# thousand times): it is read farther out.
TAIL, RESAMPLED, RESAMPLED_OF_FEW, FEW_CLUSTERS = 0.05, 0.04, 0.03, 60
# With fewer clusters no bound of ours was seen to hold; with fewer cases that have several answers, none can be set
# beside another.
FEWEST_CLUSTERS, FEWEST_SHARED = 10, 10
# More ratings than so many times those there are settle nothing in practice.
_MOST_TIMES = 50
_NO_DANGER = "no danger is claimed on this dimension"


@dataclass(frozen=True, eq=False)
class Tested:
    """The seven lines on one rater and one dimension, and the numbers that they were read from."""

    beside: Beside
    values: Mapping[str, float]
    lines: tuple[Rule, ...]
    doubly: int  # answers that two clinicians rated
    clusters: int  # patients or cases behind them

    def line(self, name: str) -> Rule:
        return next(each for each in self.lines if each.id == name)


def colleague_test(
    beside: Beside, rules: GateRules, *, resamples: int, seed: int, preference: bool = False
) -> Tested:
    """Every line with its bounds. A `preference` has no level: both ways its mean is 0 whatever the jury does."""
    sums = sums_of(beside)
    with np.errstate(all="ignore"):
        values = {
            name: float(each) for name, each in read(sums, sums.cells.sum(axis=0), beside.statistic).items()
        }
        twice = np.unique(beside.cluster[beside.doubly])
        bounds: dict[str, tuple[float, float]] = {}
        if len(twice) >= FEWEST_CLUSTERS:
            inside = Sums(sums.cells[twice], sums.at)
            drawn = read(inside, inside.resampled(resamples, seed), beside.statistic)
            left = read(inside, inside.without_each(), beside.statistic)
            for name in ("agreement", "colleagues", "within_case", "within_system"):
                if found := _bounds(name, values[name], drawn[name], left[name]):
                    bounds[name] = _if_nobody_differed(name, beside, values[name], found)
    lines = (
        _agreement(beside, rules, values, bounds),
        _missed(beside, sums, rules, values),
        _offset(beside, rules, preference=preference),
        _within("case", beside, rules, values, bounds),
        _within("system", beside, rules, values, bounds),
        _consensus(beside, rules),
        _colleagues(beside, rules, values, bounds),
    )
    return Tested(beside, values, lines, int(beside.doubly.sum()), len(twice))


def _bounds(name: str, value: float, drawn: Floats, left: Floats) -> tuple[float, float] | None:
    known = drawn[np.isfinite(drawn)]
    if not math.isfinite(value) or len(known) < len(drawn) / 2 or not len(known):
        return None
    scale = "pearson" if name == "colleagues" else ""  # a coefficient, not a difference of two
    tail = RESAMPLED_OF_FEW if len(left) < FEW_CLUSTERS else RESAMPLED
    low, high, _ = interval(
        value, known, left, np.ones(len(left)), method="bca_t", confidence=1 - 2 * tail, name=scale
    )
    return low, high


def _if_nobody_differed(
    name: str, beside: Beside, value: float, bounds: tuple[float, float]
) -> tuple[float, float]:
    """Where all raters always said the same, no resample differs from another, and that is not certainty: so many
    cases could have been guessed as are left open by none that shows it."""
    scores = beside.humans if name == "colleagues" else np.column_stack([beside.humans, beside.jury])
    scores = scores[beside.doubly]
    if beside.grades is not None and beside.statistic == "kappa_quadratic" and not name.startswith("within"):
        scores = np.where(np.isnan(scores), np.nan, beside.grades.grade(np.nan_to_num(scores)))
    groups = {"within_case": beside.case, "within_system": beside.system}.get(name)
    alike = no_disagreement(
        scores, beside.cluster[beside.doubly], groups=None if groups is None else groups[beside.doubly]
    )
    if alike is None:
        return bounds
    guessed = alike.guessed_at_most(TAIL)
    return value - guessed, min(1.0, value + guessed)


_NO_BOUND = "anything (too few cases for a bound)"


def _state(*, right: bool, proven: bool) -> tuple[RuleState, Word, str]:
    """A line holds where its bound proves it, fails where the estimate itself is on the wrong side. The last names
    its sentence; none where it holds."""
    if right and proven:
        return "holds", "VALIDATED", ""
    return ("open", "AUXILIARY", "open") if right else ("fails", "NOT VALIDATED", "fails")


def more_answers(value: float, bound: float | None, limit: float, n: int) -> int | None:
    """How many more answers would bring the bound to the limit, if the estimate stays: bounds narrow with √n. None
    where that is more than anybody would rate, 0 where nobody can say."""
    if bound is None:
        return 0
    if abs(value - limit) < 1e-9:
        return None
    more = max(1, math.ceil(n * (((value - bound) / (value - limit)) ** 2 - 1)))
    return more if more <= _MOST_TIMES * n else None


def _settle(state: RuleState, more: int | None, what: str) -> str:
    """How many more would settle an open line, after its numbers; nothing where nobody can say."""
    if state != "open" or more == 0:
        return ""
    return (
        "; too near the limit to be settled soon" if more is None else f"; about {counted(more, what)} more"
    )


def _least(
    asked: Asked, beside: Beside, margin: float, values: Mapping[str, float],
    bounds: Mapping[str, tuple[float, float]],
) -> Rule:  # fmt: skip
    """A line on jury minus colleague that must lie above −margin."""
    value = values[asked.id]
    if not math.isfinite(value):
        return asked.unknown("not known", "AUXILIARY", "not known", limit=-margin)
    jury, colleague = values[f"{asked.id} jury"], values[f"{asked.id} colleague"]
    low, high = bounds.get(asked.id, (None, None))
    state, cap, case = _state(right=value >= -margin - 1e-9, proven=low is not None and low > -margin)
    worst = _NO_BOUND if low is None else shown(low)
    needs = _settle(state, more_answers(value, low, -margin, int(beside.doubly.sum())), "answer")
    found = f"jury {shown(jury)}, colleague {shown(colleague)}; difference {shown(value)}, at worst {worst}"
    numbers = f"{shown(jury)} beside a colleague's {shown(colleague)}, at worst {worst}{needs}"
    words = {"jury": shown(jury), "colleague": shown(colleague), "worst": worst, "margin": margin}
    sided = {"jury": jury, "colleague": colleague, "value": value, "low": low, "high": high, "limit": -margin}
    return asked.answered(state, found, cap, case, numbers, words, **sided)


def _agreement(
    beside: Beside, rules: GateRules, values: Mapping[str, float], bounds: Mapping[str, tuple[float, float]]
) -> Rule:
    title = STATISTICS.get(beside.statistic, beside.statistic)
    asked = ask("agreement", margin=rules.margin, title=title)
    if not math.isfinite(values[asked.id]) and (alike := _alike(beside)) is not None:
        # Clinicians who never differ have no coefficient; a jury that differs from them is still no colleague.
        jury, colleague = alike
        if jury <= colleague - rules.margin:
            words = {"jury": percent(jury, 1), "colleague": percent(colleague, 1)}
            return asked.unknown("not known", "NOT VALIDATED", "no spread", words=words, limit=-rules.margin)
    return _least(asked, beside, rules.margin, values, bounds)


def _alike(beside: Beside) -> tuple[float, float] | None:
    """In what share of the rows jury and colleague give the very grade of the other clinician."""
    rows = beside.pairs
    here = ~np.isnan(rows.jury)
    if not here.any():
        return None
    jury, a, b = (
        each[here] if beside.grades is None else beside.grades.grade(each[here])
        for each in (rows.jury, rows.a, rows.b)
    )
    shares = [float(np.average(each == b, weights=rows.weight[here])) for each in (jury, a)]
    return shares[0], shares[1]


def _within(
    what: str, beside: Beside, rules: GateRules, values: Mapping[str, float],
    bounds: Mapping[str, tuple[float, float]],
) -> Rule:  # fmt: skip
    rows, asked = beside.pairs, ask(f"within_{what}", margin=rules.margin)
    if what == "case":
        here = ~np.isnan(rows.jury)
        there = _with_several(beside.case[beside.asked], beside.cluster[beside.asked])
        shared = _with_several(
            _together(beside.case[rows.answer[here]], rows.pair[here]), beside.cluster[rows.answer[here]]
        )
        if there < FEWEST_SHARED:
            return asked.idle(f"{counted(there, 'case')} of which clinicians rated several systems' answers")
        if shared < FEWEST_SHARED:
            words = {
                "cases": counted(there, "case"),
                "shared": f"{shared:,} {'has' if shared == 1 else 'have'}",
            }
            return asked.unknown("not known", "AUXILIARY", "few", words=words, limit=-rules.margin)
    elif len(found := np.unique(beside.system[rows.answer])) < 2:
        whose = "are of one system" if len(found) else "are none"
        return asked.idle(f"the answers that two clinicians rated {whose}")
    return _least(asked, beside, rules.margin, values, bounds)


def _with_several(groups: Codes, clusters: Codes) -> int:
    """In how many clusters a group has two members or more."""
    return len(np.unique(clusters[np.bincount(groups)[groups] > 1])) if groups.size else 0


def _missed(beside: Beside, sums: Sums, rules: GateRules, values: Mapping[str, float]) -> Rule:
    limit = rules.missed_margin
    asked = ask("missed_danger", limit=percent_of_limit(limit))
    if beside.danger is None:
        return asked.idle(_NO_DANGER)
    value = values[asked.id]
    if not math.isfinite(value):
        return asked.unknown("not known", "AUXILIARY", "not known", limit=limit, danger=True)
    jury, colleague = values[f"{asked.id} jury"], values[f"{asked.id} colleague"]
    low, high, clusters = missed_bounds(beside, sums, TAIL)
    state, cap, case = _state(right=value <= limit + 1e-9, proven=high < limit)
    digits = digits_beside(value, limit)
    sides = missed_sides(jury, colleague, digits)
    needs = _settle(state, more_answers(value, high, limit, clusters), "case")
    worst = f"at worst {percent(high, digits_beside(high, limit))}"
    found = f"{sides}; difference {percent(value, digits)}, {worst}, {counted(clusters, 'case')}"
    numbers = (
        f"{percent(jury, digits)} beside a colleague's {percent(colleague, digits)}, {worst} more{needs}"
    )
    words = {
        "sides": sides,
        "worst": percent(high, digits_beside(high, limit)),
        "limit": percent_of_limit(limit),
    }
    sided = {"jury": jury, "colleague": colleague, "value": value, "low": low, "high": high, "limit": limit}
    return asked.answered(state, found, cap, case, numbers, words, **sided, danger=True)


def _offset(beside: Beside, rules: GateRules, *, preference: bool = False) -> Rule:
    share, (place, graded, weight) = rules.offset_limit, beside.singles
    if preference:
        return ask("offset", limit="no level").idle("a preference is neither strict nor kind")
    known = ~np.isnan(beside.jury[place])
    if beside.grades is None or not known.any():
        asked = ask("offset", limit=f"{percent_of_limit(share)} of the scale")
        return asked.unknown(
            "not known", "AUXILIARY", "no scale" if known.any() else "not known", limit=share
        )
    span = beside.grades.highest - beside.grades.lowest
    limit = share * span
    asked = ask("offset", limit=f"{limit:g} either way")
    apart = (beside.jury[place] - graded)[known]
    mean, _ = clustered_contrast(
        apart,
        None,
        beside.cluster[place][known],
        confidence=1 - 2 * TAIL,
        span=span,
        weights=weight[known],
    )
    value = float(np.average(apart, weights=weight[known]))
    proven = mean.low is not None and mean.high is not None and mean.low > -limit and mean.high < limit
    state, cap, case = _state(right=abs(value) <= limit + 1e-9, proven=proven)
    ends = _NO_BOUND if mean.low is None else f"{shown(mean.low)} to {shown(mean.high)}"
    off = f"{shown(abs(value))} {'higher' if value > 0 else 'lower'}"
    bound, answers = max(abs(mean.low or 0.0), abs(mean.high or 0.0)), len(np.unique(place[known]))
    needs = _settle(state, more_answers(abs(value), bound, limit, answers), "answer")
    numbers, words = f"{off}, {limit:g} allowed{needs}", {"limit": limit, "ends": ends, "off": off}
    found, bounds = f"{shown(value)} ({ends})", {"low": mean.low, "high": mean.high}
    return asked.answered(state, found, cap, case, numbers, words, value=value, **bounds, limit=limit)


@dataclass(frozen=True, slots=True)
class Consensus:
    """Answers that all their clinicians call dangerous: clusters of them, clusters with a missed one, the missed
    and all answers, how many rest on one clinician's word, the share that is missed and its upper bound: exact, for
    as many answers as their clusters are worth (with no miss, each cluster counts once); where answers were drawn
    with unequal probabilities, both are weighted."""

    clusters: int
    with_miss: int
    missed: int
    answers: int
    alone: int
    share: float
    high: float
    weighted: bool


def consensus_danger(beside: Beside) -> Consensus:
    """What the jury missed of what every clinician of an answer calls dangerous, by the kindest of them."""
    assert beside.danger is not None
    threshold, gap = beside.danger
    graded = beside.low(beside.humans)
    kindest = np.where(np.isnan(graded), -np.inf, graded).max(axis=1)
    dangerous = beside.asked & (kindest <= threshold + 1e-9)
    silent = np.isnan(beside.jury)
    missed = dangerous & (silent | (np.where(silent, 0.0, beside.low(beside.jury)) - kindest >= gap - 1e-9))
    hits, clusters, weights = missed[dangerous], beside.cluster[dangerous], beside.own_weight[dangerous]
    if unequal := len(np.unique(weights)) > 1:
        bound = weighted_proportion(hits, weights, clusters, confidence=1 - 2 * TAIL)
    else:
        bound = clustered_proportion(hits, clusters, confidence=1 - 2 * TAIL)
    return Consensus(
        len(np.unique(clusters)),
        len(np.unique(beside.cluster[missed])),
        int(missed.sum()),
        int(dangerous.sum()),
        int((dangerous & (beside.number == 1)).sum()),
        float(np.average(hits, weights=weights)) if hits.size else math.nan,
        bound.high if bound.high is not None else 1.0,
        unequal,
    )


def _consensus(beside: Beside, rules: GateRules) -> Rule:
    limit = rules.severe_limit
    asked = ask("consensus_danger", limit=percent_of_limit(limit))
    if beside.danger is None:
        return asked.idle(_NO_DANGER)
    found = consensus_danger(beside)
    if not found.clusters:
        return asked.unknown("not known", "AUXILIARY", "not known", limit=limit, danger=True)
    share, high = found.share, found.high
    counts = f"{found.missed:,} of {counted(found.answers, 'answer')}"
    shown_as, highest = (percent(each, digits_beside(each, limit)) for each in (share, high))
    worst = f"at worst {highest}"
    state, cap, case = _state(right=share <= limit, proven=high <= limit)
    alone = f"; {found.alone:,} of the answers by the only clinician who rated them" if found.alone else ""
    cases = counted(found.clusters, "case")
    text = f"{counts} ({shown_as}), {worst}; {found.with_miss:,} of {cases}{alone}"
    needs = _settle(state, _more_events(found, limit), "case")
    words = {"cases": cases, "worst": highest, "counts": counts, "share": shown_as,
             "limit": percent_of_limit(limit)}  # fmt: skip
    values = {"jury": share, "value": share, "high": high, "limit": limit}
    numbers = f"{counts}, {worst}{needs}"
    return asked.answered(state, text, cap, case, numbers, words, **values, danger=True)


def _more_events(found: Consensus, limit: float) -> int | None:
    """How many more cases at the same share of misses would prove the limit: the exact bound of k misses of n is
    within it where P(X ≤ k) at the limit is at most the tail. 0 where cases do not count alike."""
    if found.weighted:
        return 0
    numbers = np.arange(found.clusters + 1, 40 * found.clusters + 200)
    proven = special.bdtr(np.ceil(found.share * numbers - 1e-9), numbers, limit) <= TAIL
    return int(numbers[proven][0]) - found.clusters if proven.any() else None


def _colleagues(
    beside: Beside, rules: GateRules, values: Mapping[str, float], bounds: Mapping[str, tuple[float, float]]
) -> Rule:
    floor = rules.floor
    asked = ask("colleagues", title=STATISTICS.get(beside.statistic, beside.statistic), floor=floor)
    value = values[asked.id]
    if not math.isfinite(value):
        return asked.unknown("not known", "AUXILIARY", "not known", limit=floor)
    low, high = bounds.get(asked.id, (None, None))
    state, cap, case = _state(right=value >= floor, proven=low is not None and low >= floor)
    worst = _NO_BOUND if low is None else shown(low)
    needs = _settle(state, more_answers(value, low, floor, int(beside.doubly.sum())), "answer")
    found, words = (
        f"{shown(value)}, at worst {worst}",
        {"value": shown(value), "worst": worst, "floor": floor},
    )
    numbers = {"colleague": value, "value": value, "low": low, "high": high, "limit": floor}
    return asked.answered(state, found, cap, case, f"{found}{needs}", words, **numbers)
