"""Text metrics of a study beside its clinicians' labels of impact: which of them rise with harm?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from medjury.foundation.errors import MedjuryError
from medjury.statistics import Result
from medjury.texts.metrics._meta_evaluation import MetricEvaluation, meta_evaluate

if TYPE_CHECKING:
    from medjury.tables import Names

LABELS = (0.0, 1.0, 2.0)


@dataclass(frozen=True, slots=True)
class MetricBesideLabels:
    """One metric against the labels of one dimension; `n_undecided` answers had no whole label and do not count."""

    dimension: str
    evaluation: MetricEvaluation
    n_undecided: int

    @property
    def metric(self) -> str:
        return self.evaluation.metric.name

    def as_dict(self) -> dict[str, Any]:
        enrichment, tau = self.evaluation.enrichment, self.evaluation.kendall_tau_b
        return {
            "dimension": self.dimension,
            "metric": self.metric,
            "enrichment": enrichment.value,
            "enrichment_low": enrichment.low,
            "enrichment_high": enrichment.high,
            "kendall_tau_b": tau.value,
            "kendall_tau_b_low": tau.low,
            "kendall_tau_b_high": tau.high,
            "n": enrichment.n,
            "n_undefined": self.evaluation.n_undefined,
            "n_undecided": self.n_undecided,
        }


@dataclass(frozen=True, eq=False)
class MetricsBesideLabels(Result[MetricBesideLabels]):
    """Every metric of a table against the labels, with intervals that resample whole patients (calls)."""

    rows: tuple[MetricBesideLabels, ...]
    warnings: tuple[str, ...] = ()


def metrics_beside_labels(
    table: object,
    *,
    raters: Names | None = None,
    reference: Names | None = None,
    dimensions: Names | None = None,
    resamples: int | None = None,
    seed: int | None = None,
) -> MetricsBesideLabels:
    """`meta_evaluate` for the metrics of a rating table, on its dimensions with the grades 0, 1 and 2. The label is
    the reference's mean where it is one of these; an answer on which clinicians differ has none."""
    from medjury.tables import rating_table

    ready = rating_table(table)
    roles = ready.roles(raters, reference, kinds=("metric",))
    metrics = [name for name in roles.raters if ready.raters.get(name) == "metric"]
    graded = [
        each
        for each in ready.chosen(dimensions, derived=False)
        if each.grades and each.grades.values == LABELS
    ]
    if not metrics or not graded:
        raise MedjuryError("there are no text metrics beside labels of 0, 1 and 2.")
    rows: list[MetricBesideLabels] = []
    for each in graded:
        grid = ready.grid(each.name)
        means = ready.reference_scores(grid, roles.reference)
        whole = np.isin(means, LABELS)
        undecided = int((~whole & ~np.isnan(means)).sum())
        if not whole.any():
            continue
        labels: Sequence[int] = means[whole].astype(int).tolist()
        found = meta_evaluate(
            {name: grid.scores[name][whole] for name in metrics}, labels,
            clusters=grid.clusters[whole].tolist(), resamples=ready.resamples(resamples), seed=ready.seed(seed),
        )  # fmt: skip
        rows += [MetricBesideLabels(each.name, one, undecided) for one in found]
    return MetricsBesideLabels(tuple(rows))
