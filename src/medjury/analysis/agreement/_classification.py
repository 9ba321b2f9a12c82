"""Classification: a judge's labels against reference labels, every rate and its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.agreement._options import Options, estimates, kept_clusters
from medjury.analysis.agreement._scores import (
    Level,
    Scores,
    complete_rows,
    level_codes,
    read_pairs,
    read_scale,
)
from medjury.foundation.errors import MedjuryError
from medjury.statistics import (
    FEWEST_CLUSTERS,
    RESAMPLES,
    Estimate,
    Floats,
    Read,
    Statistics,
    cluster_codes,
    proportion,
)

Places = NDArray[np.int64]
# In simulated studies the intervals of F1 and recall held from here on.
FEWEST_OF_EACH_CLASS, FEWEST_OF_ONE_CLASS, FEWEST_COUNTED = 5, 15, 5
# Matthews's coefficient of two grades takes few values with fewer items, and its interval holds in up to 99 %.
FEWEST_OF_TWO_GRADES = 30
# Answers that count may be spread unevenly over cases. Where they came from fewer than so many cases of equal size,
# rates of a class held in as little as 87 % of simulated studies.
FEWEST_EQUAL_CASES = 6
BINARY = ("sensitivity", "specificity", "precision", "recall", "f1")


@dataclass(frozen=True, slots=True, eq=False)
class ClassRows:
    """Complete rows by the places of their classes in `names`, and of which rows each rate is a share.

    `positive` is the place of the positive one of two; `cases` the case of each row, None where each is its own.
    """

    names: Sequence[Level]
    positive: int
    truth: Places
    said: Places
    counted: Mapping[str, NDArray[np.bool_]]
    cases: NDArray[Any] | None

    @property
    def n(self) -> int:
        return len(self.truth)


def class_rows(
    names: Sequence[Level],
    positions: Floats,
    rows: Floats,
    cases: NDArray[Any] | None = None,
    *,
    positive: int = 1,
) -> ClassRows:
    """Rows are complete (truth, predicted), each class at its position."""
    truth, said = (level_codes(positions, column) for column in rows.T)
    counted = dict.fromkeys(("exact_match", "accuracy", "micro_f1"), np.ones(len(rows), dtype=bool))
    for place, name in enumerate(names):
        counted[class_name(name)] = (truth == place) | (said == place)
    if len(names) == 2:
        counted["f1"] = counted[class_name(names[positive])]
        counted["recall"] = counted["sensitivity"] = truth == positive
        counted["precision"], counted["specificity"] = said == positive, truth != positive
    return ClassRows(names, positive, truth, said, counted, cases)


def counted_rates(
    estimates: Mapping[str, Estimate], rows: ClassRows, *, confidence: float
) -> dict[str, Estimate]:
    """Intervals of shares of counts: where each row is a case, by their counts; else those that no resample could
    move, a case with several rows counting as one."""
    at_an_end = [name for name, each in estimates.items() if each.value in (0.0, 1.0) and each.low is None]
    enough = rows.cases is None and rows.n >= FEWEST_CLUSTERS
    inside = [name for name, each in estimates.items() if enough and each.value is not None]
    made = {name: of_counts(name, rows, confidence=confidence) for name in (*at_an_end, *inside)}
    return {
        name: replace(found, value=estimates[name].value) for name, found in made.items() if found is not None
    }


def of_counts(name: str, rows: ClassRows, *, confidence: float = 0.95) -> Estimate | None:
    """The interval of a rate that is a share of counts, for F1 that of tp/(tp+fp+fn), of which it is a function: a
    share of those that anybody called positive. None for a rate that is none.

    Where each row is a case, Wilson's score interval (1927), which with few cases too is near to what it promises
    (Brown, Cai & DasGupta 2001, Stat Sci 16:101-133); at 0 and 1 Clopper and Pearson's. With cases of several rows
    there is an interval at 0 and 1 alone, of which every resample gives the same, and every case is one trial,
    however many rows it has: rows of one case may all be right together.
    """
    counted = rows.counted.get(name)
    if counted is None or not counted.any():
        return None
    hit = rows.truth[counted] == rows.said[counted]
    n = len(hit) if rows.cases is None else len(np.unique(rows.cases[counted]))
    if hit.any() == hit.all():
        found = proportion(n if hit.all() else 0, n, confidence=confidence)
    elif rows.cases is None:
        found = proportion(int(hit.sum()), n, interval="wilson", confidence=confidence)
    else:
        return None
    if found.low is None or found.high is None:
        return None
    low, high = found.low, found.high
    value = found.value
    if name.startswith("f1"):
        value, low, high = (2 * each / (1 + each) for each in (float(hit.mean()), low, high))
    method = found.method + ("" if rows.cases is None else f", {n} cases as one each")
    return Estimate(value, low, high, rows.n, method)


def without_rare_classes(estimates: Mapping[str, Estimate], rows: ClassRows) -> dict[str, Estimate]:
    """Rates of classes, without an interval where a class is too rare for one, or comes from too few cases."""
    found = {}
    for name, each in estimates.items():
        if each.low is None:
            continue
        why = _too_rare(name, rows)
        # A rate of exactly 0 or 1 counts every case once, however many answers it has.
        if not why and each.value not in (0.0, 1.0):
            why = _of_few_cases(name, rows)
        if why:
            found[name] = each.without_interval(why)
    return found


def _too_rare(name: str, rows: ClassRows) -> str:
    """Why a rate of classes has no interval: a class was seen so rarely that nobody knows its rate. A class's own
    F1 is a share of the answers to which anybody gave it; where cases have several its interval is the jackknife's,
    and needs more."""
    if name == "mcc" and len(rows.names) == 2 and rows.n < FEWEST_OF_TWO_GRADES:
        return f"{rows.n} items of two grades are too few, at least {FEWEST_OF_TWO_GRADES} are needed"
    if name == "f1" and len(rows.names) == 2:
        name = class_name(rows.names[rows.positive])
    counts = {
        level: int((rows.truth == place).sum())
        for place, level in enumerate(rows.names)
        if class_name(level) == name
    }
    who, needed = "the reference gave", FEWEST_OF_ONE_CLASS
    if name in ("macro_f1", "balanced_accuracy"):
        seen = np.union1d(rows.truth, rows.said)
        counts = {rows.names[place]: int((rows.truth == place).sum()) for place in seen}
        needed = FEWEST_OF_EACH_CLASS
    elif rows.cases is None:
        counts = {level: int(rows.counted[class_name(level)].sum()) for level in counts}
        who, needed = "both together gave", FEWEST_COUNTED
    rare = [level for level, count in counts.items() if count < needed]
    if not rare:
        return ""
    return f"{who} {_plain(rare[0])} only {counts[rare[0]]} times, at least {needed} are needed"


def _of_few_cases(name: str, rows: ClassRows) -> str:
    """Why the rate of a class has no interval: its answers come from few cases, or most of them from few. With m
    answers to a case they are spread as over (Σm)² / Σm² cases of equal size (Kish 1965, Survey Sampling, 11.7)."""
    counted = rows.counted.get(name)
    if rows.cases is None or counted is None or not (name in BINARY or name.startswith("f1_class")):
        return ""
    each = np.unique(rows.cases[counted], return_counts=True)[1].astype(np.float64)
    equal = float(each.sum() ** 2 / (each**2).sum())
    if equal >= FEWEST_EQUAL_CASES:
        return ""
    return (
        f"the {int(each.sum())} answers that count are spread as over {equal:.1f} cases of equal size, at least "
        f"{FEWEST_EQUAL_CASES} are needed"
    )


def class_name(level: Level) -> str:
    """The name under which a class's F1 stands."""
    return f"f1_class_{_plain(level)}"


def _plain(level: Level) -> str:
    return f"{level:g}" if isinstance(level, float) else str(level)


# Classification: a judge's labels against reference labels, every rate read from one confusion table.


OVERALL = ("accuracy", "balanced_accuracy", "macro_f1", "micro_f1", "mcc")


def classification(
    truth: Scores,
    predicted: Scores,
    *,
    classes: Sequence[Level] | None = None,
    positive: Level | None = None,
    **options: Unpack[Options],
) -> dict[str, Estimate]:
    """Accuracy, balanced accuracy, macro and micro F1, Matthews's coefficient and F1 per class
    (`f1_class_X`); with two classes also sensitivity (= recall), specificity, precision and F1 of the
    `positive` one, by default the last. Missing labels are left out and counted in the method. See
    `classification_rates` for the formulas.

    >>> found = classification([0, 0, 1, 1, 1], [0, 1, 1, 1, 0], resamples=200)
    >>> round(found["f1"].value, 3), found["specificity"].value, found["accuracy"].value
    (0.667, 0.5, 0.6)
    """
    listed = classes if classes is not None else _seen(truth, predicted)
    if len(listed) < 2:
        raise MedjuryError(
            f"classification needs two classes or more; the labels hold {list(listed)}. Give `classes`."
        )
    known = read_scale(listed)
    if positive is not None and positive not in known.levels:
        raise MedjuryError(f"the positive class {positive!r} is not among the classes {list(known.levels)}.")
    complete, kept, note = read_pairs(truth, predicted, known)
    statistics = classification_statistics(known.levels, known.positions, positive)
    found = estimates(complete, statistics, kept=kept, reason=no_rate_reason, note=note, **options)
    if options.get("interval", "bca_t") != "bca_t" or not options.get("resamples", RESAMPLES):
        return found
    cases = None
    if (clusters := options.get("clusters")) is not None:
        codes = cluster_codes(kept_clusters(clusters, kept), len(complete))
        cases = codes if len(np.unique(codes)) < len(codes) else None
    place = 1 if positive is None else list(known.levels).index(positive)
    rows = class_rows(known.levels, known.positions, complete, cases, positive=place)
    counted = counted_rates(found, rows, confidence=options.get("confidence", 0.95))
    found |= {name: replace(each, method=each.method + note) for name, each in counted.items()}
    return found | without_rare_classes(found, rows)


def classification_statistics(
    levels: Sequence[Level], positions: Floats, positive: Level | None = None
) -> Statistics:
    """The rates for the bootstrap engine; rows are (truth, predicted), incomplete ones do not count."""
    size = len(levels)
    if size == 2:
        chosen = levels.index(positive) if positive is not None else 1

    def prepare(rows: Floats) -> Read:
        complete = complete_rows(rows)
        truth, said = (level_codes(positions, np.where(complete, column, positions[0])) for column in rows.T)
        cell = np.eye(size * size)[truth * size + said] * complete[:, np.newaxis]

        def read(weights: Floats) -> dict[str, Floats]:
            rates = classification_rates((weights @ cell).reshape(-1, size, size))
            values = {name: rates[name] for name in OVERALL}
            if size == 2:
                values |= {
                    name: rates[name][:, chosen] for name in ("specificity", "precision", "recall", "f1")
                }
                values["sensitivity"] = values["recall"]
            for place, level in enumerate(levels):
                values[class_name(level)] = rates["f1"][:, place]
            return values

        return read

    return prepare


def rate_names(levels: Sequence[Level]) -> tuple[str, ...]:
    """What `classification_statistics` gives for these classes."""
    return (*OVERALL, *(BINARY if len(levels) == 2 else ()), *(class_name(level) for level in levels))


def classification_rates(table: Floats) -> dict[str, Floats]:
    """Every rate from confusion tables `(..., truth, predicted)`; a leading axis holds resamples.

    Per class (last axis): `precision` tp/(tp+fp), `recall` tp/(tp+fn), `specificity` tn/(tn+fp), `f1`
    2tp/(2tp+fp+fn). Over classes: `accuracy` (= `micro_f1` where every item has one label), `macro_f1` and
    `balanced_accuracy` (means over the classes that occur: in truth or prediction for F1, in truth for
    recall), `mcc` (Matthews 1975 for two classes; Gorodkin 2004, Comput Biol Chem 28:367-374, for more).
    NaN marks 0/0: there is no such rate in that table.

    >>> rates = classification_rates(np.array([[18.0, 2.0], [1.0, 19.0]]))
    >>> round(float(rates["macro_f1"]), 6), rates["recall"].tolist()
    (0.924953, [0.9, 0.95])
    """
    total = table.sum(axis=(-2, -1))
    hit = np.einsum("...ii->...i", table)
    truth, predicted = table.sum(axis=-1), table.sum(axis=-2)
    negative = total[..., np.newaxis] - truth
    recall, f1 = _divide(hit, truth), _divide(2.0 * hit, truth + predicted)
    right = hit.sum(axis=-1)
    spread = [total**2 - (side**2).sum(axis=-1) for side in (truth, predicted)]
    accuracy = _divide(right, total)
    return {
        "accuracy": accuracy,
        "micro_f1": accuracy,
        "macro_f1": _mean_of_defined(f1),
        "balanced_accuracy": _mean_of_defined(recall),
        # One root, so that a perfect table gives 1 and not 1 + 2e-16.
        "mcc": _divide(right * total - (truth * predicted).sum(axis=-1), np.sqrt(spread[0] * spread[1])).clip(
            -1.0, 1.0
        ),
        "precision": _divide(hit, predicted),
        "recall": recall,
        "specificity": _divide(negative - predicted + hit, negative),
        "f1": f1,
    }


def no_rate_reason(name: str) -> str:
    """Why a rate does not exist."""
    if name.startswith("f1"):
        return "no item has this class, in truth or prediction"
    reasons = {
        "mcc": "one side gave every item the same label",
        "precision": "nothing was predicted positive",
        "specificity": "no item is truly negative",
    }
    if name in ("sensitivity", "recall"):
        return "no item is truly positive"
    return reasons.get(name, "no item was labelled by both")


def _divide(top: Floats, bottom: Floats) -> Floats:
    out = np.full(np.broadcast_shapes(np.shape(top), np.shape(bottom)), np.nan)
    np.divide(top, bottom, out=out, where=np.asarray(bottom) > 0)
    return out


def _mean_of_defined(values: Floats) -> Floats:
    known = ~np.isnan(values)
    return _divide(np.where(known, values, 0.0).sum(axis=-1), known.sum(axis=-1).astype(np.float64))


def _seen(truth: Scores, predicted: Scores) -> list[Level]:
    labels = {
        each.item() if isinstance(each, np.generic) else each
        for side in (truth, predicted)
        for each in np.asarray(side, dtype=object).ravel().tolist()
        if each is not None and each == each
    }
    return sorted(labels)
