"""Attribute by attribute: consistency of averages, median difference, and whether the level differs at all."""

from __future__ import annotations

from medjury.analysis.agreement import AgreementTable
from medjury.report._html import Cell, Html, bullets, paragraph
from medjury.report._material import Material, Section
from medjury.statistics import p_value, percent, shown

_MEDIANS = ("median_difference", "difference_q1", "difference_q3", "wilcoxon_signed_rank")
_POOLED = "all graded dimensions, pooled"


def section(material: Material) -> Section | None:
    evidence = material.evidence
    single = evidence.also(*_MEDIANS, intervals=False)
    if single is None or not material.compared:
        return None
    rows: list[tuple[Cell, ...]] = []
    notes: tuple[str, ...] = ()
    sizes = [len(each.grades.values) for each in evidence.table.counted if each.grades]
    # One graded dimension beside questions of yes and no leaves nothing of one kind to pool.
    if len(sizes) > 1 and sum(size > 2 for size in sizes) != 1:
        together = evidence.also("icc_3_k", pooled=True)
        medians = evidence.also(*_MEDIANS, pooled=True, intervals=False)
        if together is not None and medians is not None:
            rows += _rows(material, _POOLED, "all", together, medians)
            notes = tuple(note for note in together.notes if note.startswith("not pooled"))
    for dimension in material.compared:
        rows += _rows(material, dimension.label, dimension.name, evidence.agreement, single)
    if not rows:
        return None
    table = material.exhibits.table(
        "attributes",
        ("dimension", "rater", "n", "ICC(3,k)", "median difference", "IQR", "signed-rank p"),
        rows,
        caption=f"ICC(3,k) of each rater and {evidence.reference_words}, on the answers that both scored, with "
        f"{percent(evidence.confidence)} intervals; median and quartiles of rater less clinicians; Wilcoxon's "
        "signed-rank test of the differences",
        digits=(3, 3, 0, 3, 2, 2, 3),
        shown=60,
        folded=len(rows) > 24,
    )
    lead = (
        "ICC(3,k) is consistency of the two averaged: a rater who is always one grade too high still reaches 1, so "
        "read the median difference beside it. A small p says that the levels differ, not that the difference "
        "matters."
    )
    return Section("attributes", "Attribute by attribute", Html(paragraph(lead) + table + bullets(notes)))


def _rows(
    material: Material, label: str, name: str, icc: AgreementTable | None, medians: AgreementTable
) -> list[tuple[Cell, ...]]:
    evidence = material.evidence
    sides = (icc, medians)
    found = {
        (row.rater, row.statistic): row
        for side in sides
        if side is not None
        for row in side.rows
        if row.dimension == name and row.reference == evidence.main_reference and not row.system
    }
    rows: list[tuple[Cell, ...]] = []
    for rater in evidence.raters:
        middle = found.get((rater, "median_difference"))
        if middle is None or middle.estimate.value is None:
            continue
        low, high = (found[rater, end].estimate.value for end in ("difference_q1", "difference_q3"))
        consistency = found.get((rater, "icc_3_k"))
        rows.append(
            (
                label,
                rater,
                middle.estimate.n,
                None if consistency is None else consistency.estimate,
                middle.estimate.value,
                f"{shown(low, 2)} to {shown(high, 2)}",
                p_value(found[rater, "wilcoxon_signed_rank"].p_value),
            )
        )
    return rows
