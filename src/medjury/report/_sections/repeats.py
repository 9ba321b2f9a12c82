"""Each run of a judge by itself, and how far the runs differ."""

from __future__ import annotations

from medjury.analysis.agreement import agreement_by_repeat
from medjury.foundation.errors import MedjuryError
from medjury.report._html import Cell
from medjury.report._material import Material, Section

_NAMES = {"accuracy": "accuracy", "macro_f1": "macro F1", "cohen_kappa": "Cohen's kappa"}


def section(material: Material) -> Section | None:
    evidence = material.evidence
    if not evidence.clinicians:
        return None
    try:
        found = agreement_by_repeat(evidence.table, reference=evidence.clinicians)
    except MedjuryError:  # nobody was asked twice, or there is nobody to compare with
        return None
    rows: list[tuple[Cell, ...]] = [
        (
            evidence.label(row.dimension),
            row.rater,
            _NAMES.get(row.statistic) or row.statistic.replace("f1_class_", "F1 of "),
            row.mean,
            row.sd,
            len(row.values),
            row.n,
            ", ".join("–" if value is None else f"{value:.3f}" for value in row.values.values()),
        )
        for row in found.rows
    ]
    table = material.exhibits.table(
        "repeats",
        ("dimension", "judge", "statistic", "mean", "SD across runs", "runs", "answers", "each run"),
        rows,
        caption="Every run of a judge, before runs are merged, against the nearest grade of "
        f"{evidence.reference_words}, on the answers that both scored",
        shown=60,
    )
    return Section("repeats", "Runs of each judge, one by one", table)
