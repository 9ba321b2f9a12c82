"""Classification: a judge's labels against reference labels, every rate read from one confusion table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np

from medjury.analysis.agreement._pairs.class_rates import (
    BINARY,
    class_name,
    class_rows,
    counted_rates,
    without_rare_classes,
)
from medjury.foundation.errors import MedjuryError
from medjury.statistics import (
    RESAMPLES,
    Estimate,
    Floats,
    Level,
    Options,
    Read,
    Scores,
    Statistics,
    cluster_codes,
    complete_rows,
    estimates,
    kept_clusters,
    level_codes,
    read_pairs,
    read_scale,
)

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
    pairs = read_pairs(truth, predicted, known)
    statistics = classification_statistics(known.levels, known.positions, positive)
    found = estimates(
        pairs.rows, statistics, kept=pairs.kept, reason=no_rate_reason, note=pairs.note, **options
    )
    if options.get("interval", "bca_t") != "bca_t" or not options.get("resamples", RESAMPLES):
        return found
    cases = None
    if (clusters := options.get("clusters")) is not None:
        codes = cluster_codes(kept_clusters(clusters, pairs.kept), len(pairs.rows))
        cases = codes if len(np.unique(codes)) < len(codes) else None
    place = 1 if positive is None else list(known.levels).index(positive)
    rows = class_rows(known.levels, known.positions, pairs.rows, cases, positive=place)
    counted = counted_rates(found, rows, confidence=options.get("confidence", 0.95))
    found |= {name: replace(each, method=each.method + pairs.note) for name, each in counted.items()}
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
