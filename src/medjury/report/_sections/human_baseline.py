"""The fair yardstick: a rater's agreement with single clinicians beside theirs with one another."""

from __future__ import annotations

from dataclasses import replace

from medjury.report._html import Cell, Html, paragraph
from medjury.report._material import Material
from medjury.statistics import Estimate, p_value, percent
from medjury.validation import STATISTICS


def _difference(found: Estimate) -> Estimate:
    """Where it is not defined, in words: the two columns beside it say which is missing, and why."""
    return found if found.value is not None else replace(found, reason="one of the two is not defined")


def human_baseline(material: Material) -> Html:
    evidence = material.evidence
    rows: list[tuple[Cell, ...]] = []
    pooled = 0
    for dimension in evidence.table.dimensions:
        for rater in evidence.raters:
            for name, each in evidence.beside(dimension.name, rater).items():
                pooled = max(pooled, each.pairs if each.pooled else 0)
                verdict = {True: "not inferior", False: "not shown", None: "no verdict"}[each.non_inferior]
                rows.append(
                    (
                        dimension.label,
                        rater,
                        STATISTICS.get(name, name),
                        each.judge_human.n,
                        each.judge_human,
                        each.human_human,
                        _difference(each.difference),
                        p_value(each.p_value),
                        verdict,
                    )
                )
    if not rows:
        text = "One clinician only: how well clinicians agree, the fair yardstick, is not known here."
        return paragraph(text, class_="note") if len(evidence.clinicians) == 1 else Html("")
    # The gate's statistic first; the page shows that one, the CSV all of them.
    wanted = STATISTICS.get(evidence.rules.statistic, "")
    rows.sort(key=lambda row: row[2] != wanted)
    first = sum(1 for row in rows if row[2] == wanted) or len(rows)
    bound = percent(evidence.confidence)
    baseline = material.exhibits.table(
        "human-baseline",
        (
            "dimension",
            "rater",
            "coefficient",
            "n",
            "rater with clinician",
            "clinician with clinician",
            "difference",
            "p",
            f"margin {evidence.rules.margin:g}",
        ),
        rows,
        caption="Mean agreement of a rater with single clinicians, pair by pair, beside that of clinicians with "
        "one another, on the answers that the rater and two or more clinicians scored. The lower end of the "
        f"difference's interval is the one-sided {bound} bound, read with "
        "caution so that it errs no more often than that."
        + (
            f" Most pairs of clinicians share few cases, so both are pooled over pairs ({pooled:,} pairs of "
            "clinicians share a case) and not averaged."
            if pooled
            else ""
        ),
        shown=min(first, 40),
    )
    return Html(baseline + _among_themselves(material))


def _among_themselves(material: Material) -> Html:
    """All clinicians together: a mixed model of cases and clinicians where not everybody rated every case."""
    found = material.evidence.agreement
    rows: list[tuple[Cell, ...]] = [
        (
            material.evidence.label(row.dimension),
            STATISTICS.get(row.statistic, row.statistic),
            row.counts.n,
            row.estimate,
            row.estimate.method,
        )
        for row in (found.rows if found is not None else ())
        if row.rater == "among references" and row.statistic == "icc_2_1"
    ]
    if not rows:
        return Html("")
    return material.exhibits.table(
        "clinicians-together",
        ("dimension", "coefficient", "rated by two", "all clinicians", "how"),
        rows,
        caption="All clinicians together: how far one clinician's score could stand for another's.",
        shown=40,
        folded=True,
    )
