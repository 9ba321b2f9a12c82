"""Triage: which cases must a clinician see first? Signals, and one rule over them that is learnt on other cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medjury.analysis.calibration._conformal import GradeSets, Taught, fit_models
from medjury.analysis.calibration._logistic import fit_logistic, with_intercept
from medjury.analysis.calibration._maps import FOLDS, Cases, Ordinal, case_folds, on_scale
from medjury.analysis.calibration._review_curve import ReviewCurve, review_curves
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Floats
from medjury.tables import mean_of_raters

# Signals that a case needs a clinician, each larger where review is more urgent.
#
# - `expected_harm`: Σ P(grade) · harm(grade), with harm = ((highest − grade) / (highest − lowest))²;
# - `disagreement`: the standard deviation of the judges' scores;
# - `boundary`: minus the distance of the calibrated score from the decision boundary;
# - `conformal_width`: how many grades the clinician might still give.

SIGNALS = ("expected_harm", "disagreement", "boundary", "conformal_width")


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Items to be triaged: the jury's score and the judges' spread, the label and whether it is one to catch."""

    jury: Floats
    spread: Floats
    labels: Floats
    target: NDArray[np.bool_]
    cases: NDArray[np.object_]
    grades: tuple[float, ...]
    boundary: float
    level: float
    seed: int

    def part(self, chosen: NDArray[np.bool_]) -> Items:
        by_item = ("jury", "spread", "labels", "target", "cases")
        return replace(self, **{name: getattr(self, name)[chosen] for name in by_item})


Signals = tuple[dict[str, Floats], GradeSets]


def signals_of_each(several: Sequence[tuple[Items, Items]]) -> list[Signals]:
    """The four signals of each target and its conformal sets, from models fitted on its training items."""
    span = several[0][0].grades[0], several[0][0].grades[-1]
    models = Ordinal.fit_each([(training.jury, training.labels) for _, training in several], scale=span)
    taught = [
        Taught.by(
            training.jury,
            training.labels,
            cases=training.cases,
            grades=target.grades,
            level=target.level,
            method="split",
            ties="conservative",
            seed=target.seed,
        )
        for target, training in several
    ]
    return [
        _signals(target, model, each.sets(by_split, target.jury, cases=target.cases))
        for (target, _), model, each, by_split in zip(
            several, models, taught, fit_models(taught), strict=True
        )
    ]


def _signals(target: Items, model: Ordinal, sets: GradeSets) -> Signals:
    low, high = target.grades[0], target.grades[-1]
    harm = ((high - np.asarray(model.grades)) / (high - low)) ** 2
    probabilities = model.probabilities(target.jury)
    signals = {
        "expected_harm": probabilities @ harm,
        "disagreement": target.spread,
        "boundary": -np.abs(model.expected(probabilities) - target.boundary),
        "conformal_width": sets.width,
    }
    return signals, sets


def signals_without_labels(items: Items) -> dict[str, Floats]:
    """The three signals that the judges' own scores give."""
    low, high = items.grades[0], items.grades[-1]
    return {
        "expected_harm": ((high - items.jury) / (high - low)) ** 2,
        "disagreement": items.spread,
        "boundary": -np.abs(items.jury - items.boundary),
    }


def mean_rank(signals: Mapping[str, Floats], among: Mapping[str, Floats]) -> Floats:
    """The mean, over signals, of the share of items in `among` that lie below (and half of those that tie)."""
    shares = []
    for name, values in signals.items():
        known = np.sort(among[name][~np.isnan(among[name])])
        below = np.searchsorted(known, values - 1e-12) + np.searchsorted(known, values + 1e-12, side="right")
        shares.append(np.where(np.isnan(values), np.nan, below / max(2 * known.size, 1)))
    return np.asarray(np.mean(shares, axis=0))


def spread_of(table: Floats) -> Floats:
    """Standard deviation of the judges who scored each item (items x judges); NaN where none did."""
    apart = (table - mean_of_raters(table)[:, np.newaxis]) ** 2
    return np.sqrt(mean_of_raters(apart))


RULE = "rule"
DANGEROUS, SEVERE = "dangerous answer", "severe error"
# With fewer cases to learn from, four weights would be noise: ranks are averaged instead.
_CASES = 10
_RIDGE = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class ReviewOrder:
    """`priority` orders the items for review, highest first; NaN (the jury gave no score) comes before all.

    Signals and priority of a labelled case come from other cases alone. `weights` are those of the rule
    fitted on all labels, per standard deviation of the signal; None where ranks were averaged. `curves`
    compares the rule with every signal, with the jury's and with each judge's score, on labelled items;
    None without labels. `target` is what the curves catch: every dangerous answer or, where a gap was given, every
    severe error (`n_severe` is None otherwise). `items` is what was ordered.
    """

    priority: Floats
    signals: Mapping[str, Floats]
    how: str
    weights: Mapping[str, float] | None
    curves: Mapping[str, ReviewCurve] | None
    sets: GradeSets | None
    target: str
    n_labelled: int
    n_dangerous: int
    n_severe: int | None
    n_unscored: int
    items: Items


def first_to_read(priority: Floats) -> NDArray[np.int64]:
    """Places of the items, the first to review first."""
    return np.argsort(-np.where(np.isnan(priority), np.inf, priority), kind="stable")


def review_order(
    jury: ArrayLike,
    judges: Mapping[str, ArrayLike],
    *,
    cases: Cases,
    grades: Sequence[float],
    threshold: float,
    labels: ArrayLike | None = None,
    danger: ArrayLike | None = None,
    gap: float | None = None,
    boundary: float | None = None,
    level: float = 0.9,
    catch: float = 0.8,
    folds: int = FOLDS,
    seed: int = 0,
    resamples: int = 1000,
    confidence: float = 0.95,
) -> ReviewOrder:
    """Rank items for review: the jury's score of each, and those of the judges behind it, low being dangerous.

    With `labels` (NaN: not labelled) a dangerous answer is an item that the reference scored `threshold` or
    less; with `gap`, only those count that the jury in addition scored `gap` or more higher, severe errors. Where
    several references count one by one, `danger` is the score by which an item is dangerous, in place of its label.
    `boundary` is the score at which a decision changes (by default half way above the threshold). Without labels
    nothing is learnt: the judges' own scores give three of the signals, and their ranks are averaged.
    """
    scale = tuple(float(grade) for grade in grades)
    span = (scale[0], scale[-1])
    if not judges:
        raise MedjuryError("triage needs at least one judge.")
    scores = on_scale(jury, span, "the jury's")
    table = np.column_stack([on_scale(given, span, f"{name}'s") for name, given in judges.items()])
    wanted = np.full(len(scores), np.nan) if labels is None else on_scale(labels, span, "the reference's")
    names = np.array([str(case) for case in cases], dtype=object)
    if not len(names) == len(wanted) == len(scores) == len(table):
        raise MedjuryError(
            f"{len(scores)} items, {len(wanted)} labels, {len(names)} cases: give one of each per item."
        )
    word = wanted if danger is None else on_scale(danger, span, "the reference's")
    dangerous = word <= threshold + 1e-9
    severe = None if gap is None else dangerous & (scores - word >= gap - 1e-9)
    target, what = (dangerous, DANGEROUS) if severe is None else (severe, SEVERE)
    middle = _half_way_above(scale, threshold) if boundary is None else boundary
    # A stored jury may have a score where none of its judges has: nobody differs there.
    spread = np.where(np.isnan(scores), np.nan, np.nan_to_num(spread_of(table)))
    items = Items(scores, spread, wanted, target, names, scale, middle, level, seed)
    n_unscored = int(np.isnan(scores).sum())
    if labels is None:
        signals = signals_without_labels(items)
        how = "mean of the signals' ranks; no labels, so nothing was learnt"
        return ReviewOrder(
            mean_rank(signals, signals), signals, how, None, None, None, what, 0, 0, None, n_unscored, items
        )
    priority, signals, how, weights, sets, fold = _learn(items, folds, what)
    labelled = ~np.isnan(wanted)
    orders = {RULE: priority, **signals, "jury": -scores}
    orders |= {f"judge {name}": -column for name, column in zip(judges, table.T, strict=True)}
    curves = review_curves(
        {name: values[labelled] for name, values in orders.items()},
        target[labelled],
        cases=names[labelled],
        # A labelled item without a jury's score taught nothing and has no fold; any will do.
        strata=np.maximum(fold, 0)[labelled],
        rule=RULE,
        catch=catch,
        resamples=resamples,
        seed=seed,
        confidence=confidence,
        what=what,
    )
    return ReviewOrder(
        priority,
        signals,
        how,
        weights,
        curves,
        sets,
        what,
        int(labelled.sum()),
        int(dangerous.sum()),
        None if severe is None else int(severe.sum()),
        n_unscored,
        items,
    )


# Log-odds of a target from signals, and their weights; None where there is too little to learn weights from.
Rule = tuple[Callable[[Mapping[str, Floats]], Floats], Mapping[str, float]] | None


def lessons(
    several: Sequence[tuple[Items, Items]], folds: int
) -> list[tuple[Signals, Mapping[str, Floats], Rule]]:
    """For each target and its training items, the target's signals, those of the training items as other cases make
    them, and the rule over these.

    Within the training items the signals are cross-fitted once more before the rule is learnt from them, so that
    the rule sees them as they will be: made without the item's own label."""
    parts = [
        case_folds(training.cases, folds=folds, seed=training.seed + 1, minimum=2) for _, training in several
    ]
    wanted = []
    for (target, training), fold in zip(several, parts, strict=True):
        wanted.append((target, training))
        wanted += [(training.part(fold == each), training.part(fold != each)) for each in range(folds)]
    made = iter(signals_of_each(wanted))
    found: list[tuple[Signals, Mapping[str, Floats], Rule]] = []
    for (_, training), fold in zip(several, parts, strict=True):
        of_target = next(made)
        inner = {name: np.full(len(training.jury), np.nan) for name in SIGNALS}
        for each in range(folds):
            for name, values in next(made)[0].items():
                inner[name][fold == each] = values
        found.append((of_target, inner, _rule(inner, training)))
    return found


def _learn(
    items: Items, folds: int, what: str
) -> tuple[Floats, dict[str, Floats], str, Mapping[str, float] | None, GradeSets, NDArray[np.int64]]:
    """Priority and signals, fold by fold: nothing about a fold's cases was learnt from their own labels. How, with
    which weights, the conformal sets, and the folds."""
    taught = ~np.isnan(items.labels) & ~np.isnan(items.jury)
    number = case_folds(items.cases[taught], folds=folds, seed=items.seed)
    fold_of = dict(zip(items.cases[taught].tolist(), number.tolist(), strict=True))
    fold = np.array([fold_of.get(case, -1) for case in items.cases.tolist()], dtype=np.int64)
    signals = {name: np.full(len(items.jury), np.nan) for name in SIGNALS}
    by_rule, by_rank = np.full(len(items.jury), np.nan), np.full(len(items.jury), np.nan)
    member = np.zeros((len(items.jury), len(items.grades)), dtype=bool)
    low, high = np.full(len(items.jury), np.nan), np.full(len(items.jury), np.nan)
    targets = [(fold == each) & ~np.isnan(items.jury) for each in range(-1, folds)]
    training = [items.part(taught & (fold != each)) for each in range(-1, folds)]
    pairs = [(items.part(here), others) for here, others in zip(targets, training, strict=True)]
    learnt = lessons(pairs, folds)
    for here, ((found, made), inner, rule) in zip(targets, learnt, strict=True):
        member[here], low[here], high[here] = made.member, made.low, made.high
        by_rank[here] = mean_rank(found, inner)
        by_rule[here] = by_rank[here] if rule is None else rule[0](found)
        for name in SIGNALS:
            signals[name][here] = found[name]
    sets = GradeSets(items.grades, member, low, high)
    final = learnt[0][2]
    if final is None or any(rule is None for _, _, rule in learnt):
        # Log-odds and ranks cannot be compared, so all folds use ranks where one has to.
        how = f"mean of the signals' ranks: fewer than {_CASES} cases with a {what} to learn weights from"
        return by_rank, signals, how, None, sets, fold
    how = f"logistic rule over the signals, cross-fitted in {folds} folds by case"
    return by_rule, signals, how, final[1], sets, fold


def _rule(signals: Mapping[str, Floats], training: Items) -> Rule:
    """Ridge logistic regression of the target on standardised signals; None where there is too little."""
    with_target = len(set(training.cases[training.target].tolist()))
    without = len(set(training.cases[~training.target].tolist()))
    if min(with_target, without) < _CASES:
        return None
    table = np.column_stack([signals[name] for name in SIGNALS])
    centre, spread = table.mean(axis=0), table.std(axis=0)
    spread = np.where(spread > 1e-12, spread, 1.0)
    weights, _ = fit_logistic((table - centre) / spread, training.target, training.cases, ridge=_RIDGE)

    def log_odds(given: Mapping[str, Floats]) -> Floats:
        standardised = (np.column_stack([given[name] for name in SIGNALS]) - centre) / spread
        return np.asarray(with_intercept(standardised) @ weights)

    return log_odds, dict(zip(SIGNALS, weights[1:].tolist(), strict=True))


def _half_way_above(grades: tuple[float, ...], threshold: float) -> float:
    above = [grade for grade in grades if grade > threshold]
    return (threshold + above[0]) / 2 if above else threshold
