"""Meta-evaluation: does a metric see what clinicians see? Enrichment and rank correlation against labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, Printable, Result, Row, bootstrap, flat, text_table
from medjury.texts.metrics._catalogue import IMPACT_ESTIMATE, METRICS, Metric, base_name, metric_named

if TYPE_CHECKING:
    from medjury.tables import Names


Floats = NDArray[np.float64]
# So many enrichment needs for an interval.
FEWEST_PAIRS = 50


@dataclass(frozen=True, slots=True)
class MetricEvaluation(Row):
    """One metric beside the labels. `n_undefined` pairs had no value and do not count.

    `enrichment` is on scores oriented so that higher is better: the more negative, the better the metric sees
    significant errors. `kendall_tau_b` is of the metric as it is: positive for an error rate that rises with
    harm, negative for a similarity that falls. `aligned` is the share of pairs, a significant error and a harmless
    one, of which the metric calls the significant one worse; a tie is half. In a study the labels are those of one
    `dimension`, on which `n_undecided` answers had no whole label and do not count.
    """

    metric: Metric
    enrichment: Estimate
    kendall_tau_b: Estimate
    n_undefined: int
    aligned: float | None = None
    dimension: str = ""
    n_undecided: int = 0

    def as_dict(self) -> dict[str, Any]:
        values = {
            "metric": self.metric.name,
            **flat(self, "enrichment", "kendall_tau_b"),
            "aligned": self.aligned,
            "n": self.enrichment.n,
        }
        if not self.dimension:
            return {**values, "undefined": self.n_undefined}
        return {"dimension": self.dimension, **values, **flat(self, "n_undefined", "n_undecided")}


@dataclass(frozen=True, eq=False)
class MetaEvaluation(Result[MetricEvaluation]):
    """Every metric beside the labels."""

    rows: tuple[MetricEvaluation, ...]
    warnings: tuple[str, ...] = ()

    def shown_rows(self) -> list[dict[str, Printable]]:
        def cell(estimate: Estimate) -> Printable:
            return estimate if estimate.defined else "undefined"

        return [
            {
                **({"dimension": each.dimension} if each.dimension else {}),
                "metric": each.metric.name,
                "enrichment (2 − 0)": cell(each.enrichment),
                "Kendall tau-b": cell(each.kendall_tau_b),
                "aligned": each.aligned,
                "n": each.enrichment.n,
                "undefined": each.n_undefined,
                **({"undecided": each.n_undecided} if each.dimension else {}),
            }
            for each in self.rows
        ]

    def text(self) -> str:
        note = (
            "Enrichment is on scores oriented so that higher is better; tau-b is of the metric as it is; aligned "
            "is how often it calls a significant error worse than a harmless one (half: chance)."
        )
        return "\n".join([*text_table(self.shown_rows()), note])


def meta_evaluate(
    values: Mapping[str, Sequence[float | None] | Floats],
    labels: Sequence[int],
    *,
    clusters: Sequence[object] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> MetaEvaluation:
    """Evaluate every metric against the labels 0 (no impact), 1 and 2 (significant impact).

    Enrichment Δ = mean(score | label 2) − mean(score | label 0), on oriented scores (Ellis et al. 2025); BCa-t
    intervals by resampling whole `clusters` (the call), the same for every metric.
    """
    from medjury.analysis.agreement import kendall_tau_b

    truth = np.asarray(labels, dtype=np.float64)
    if not set(truth.tolist()) <= {0.0, 1.0, 2.0}:
        raise MedjuryError("The labels of impact are 0, 1 and 2; there are others.")
    found = []
    for name, column in values.items():
        known = base_name(name) in METRICS
        other = IMPACT_ESTIMATE if name == IMPACT_ESTIMATE.name else Metric(name, name, "learned", True)
        metric = metric_named(name) if known else other
        numbers = np.array([np.nan if value is None else value for value in column], dtype=np.float64)
        if len(numbers) != len(truth):
            raise MedjuryError(f"{name} has {len(numbers)} values for {len(truth)} labels.")
        kept = ~np.isnan(numbers)
        calls = (
            None if clusters is None else [each for each, keep in zip(clusters, kept, strict=True) if keep]
        )
        oriented = np.array([metric.oriented(value) for value in numbers[kept].tolist()])
        options: dict[str, Any] = {"clusters": calls, "resamples": resamples, "seed": seed}
        enrichment = enrichment_of(truth[kept], oriented, options)
        tau = kendall_tau_b(numbers[kept], truth[kept], **options)
        share = _aligned(truth[kept], oriented)
        found.append(MetricEvaluation(metric, enrichment, tau, int((~kept).sum()), share))
    return MetaEvaluation(tuple(found))


def enrichment_of(labels: Floats, scores: Floats, options: dict[str, Any]) -> Estimate:
    """The mean score at label 2 less that at label 0. Of few pairs it has no interval: one by calls held in
    88 to 90 % of simulated studies of 20 and 30 pairs."""
    found = bootstrap(np.column_stack([labels, scores]), _enrichment, **options)["enrichment"]
    if len(labels) < FEWEST_PAIRS and found.low is not None:
        return found.without_interval(f"{len(labels)} pairs are too few, at least {FEWEST_PAIRS} are needed")
    return found


def _aligned(labels: Floats, scores: Floats) -> float | None:
    harmed, safe = (np.round(scores[labels == label], 9) for label in (2, 0))
    if not len(harmed) or not len(safe):
        return None
    return float(((harmed[:, None] < safe).mean() + (harmed[:, None] <= safe).mean()) / 2)


def _enrichment(rows: Floats) -> Callable[[Floats], dict[str, Floats]]:
    harmed, safe = (rows[:, 0] == 2).astype(np.float64), (rows[:, 0] == 0).astype(np.float64)
    scores = rows[:, 1]

    def read(weights: Floats) -> dict[str, Floats]:
        return {
            "enrichment": weights @ (harmed * scores) / (weights @ harmed)
            - weights @ (safe * scores) / (weights @ safe)
        }

    return read


# Text metrics of a study beside its clinicians' labels of impact: which of them rise with harm?


LEVELS = (0.0, 1.0, 2.0)


def metrics_beside_labels(
    table: object,
    *,
    raters: Names | None = None,
    reference: Names | None = None,
    dimensions: Names | None = None,
    resamples: int | None = None,
    seed: int | None = None,
) -> MetaEvaluation:
    """`meta_evaluate` for the metrics of a rating table, on its dimensions with the grades 0, 1 and 2. The label is
    the reference's mean where it is one of these; an answer on which clinicians differ has none."""
    from medjury.tables import rating_table

    ready = rating_table(table)
    roles = ready.roles(raters, reference, kinds=("metric",))
    metrics = [name for name in roles.raters if ready.raters.get(name) == "metric"]
    graded = [
        each
        for each in ready.chosen(dimensions, derived=False)
        if each.grades and each.grades.values == LEVELS
    ]
    if not metrics or not graded:
        raise MedjuryError("there are no text metrics beside labels of 0, 1 and 2.")
    rows: list[MetricEvaluation] = []
    for each in graded:
        grid = ready.grid(each.name)
        means = ready.reference_scores(grid, roles.reference)
        whole = np.isin(means, LEVELS)
        undecided = int((~whole & ~np.isnan(means)).sum())
        if not whole.any():
            continue
        labels: Sequence[int] = means[whole].astype(int).tolist()
        found = meta_evaluate(
            {name: grid.scores[name][whole] for name in metrics}, labels,
            clusters=grid.clusters[whole].tolist(), resamples=ready.resamples(resamples), seed=ready.seed(seed),
        )  # fmt: skip
        rows += [replace(one, dimension=each.name, n_undecided=undecided) for one in found.rows]
    return MetaEvaluation(tuple(rows))
