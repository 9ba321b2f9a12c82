"""Criteria of each case: what systems are worth by them, and which of them the jury may be trusted on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from medjury.analysis.ranking import CriteriaRow, criteria_scores
from medjury.foundation.errors import MedjuryError
from medjury.report._html import Cell, Html, bullets, element, joined, paragraph
from medjury.report._material import Material, Section, facts_of, short
from medjury.statistics import counted, percent
from medjury.tables import CASE, CRITERION
from medjury.validation import evidence_of, validation_of

_GROUPS = 24  # verdicts on single criteria, those of the most cases first
_LONGEST = 160  # letters of a criterion in a table
Marks = list[tuple[str, str]]  # the case and the id of its criterion


def criteria(material: Material) -> Section | None:
    table = material.evidence.table
    if not table.criteria or CRITERION not in table.rows.columns:
        return None
    total = sum(map(len, table.criteria.values()))
    lead = [
        f"Each of {counted(len(table.criteria), 'case')} has its own criteria, {total:,} in all. The score is the "
        "points of what is met, of the positive points. A criterion that was not marked is not counted as not met: "
        "it leaves an interval.",
        _authors(material),
    ]
    body = joined(
        [
            *(paragraph(each) for each in lead if each),
            _scores(material),
            _trusted(material, _recurring(material), "criterion-verdicts", "Criterion by criterion"),
            _trusted(material, _tagged(material), "criteria-tag-verdicts", "By tag"),
        ]
    )
    return Section("criteria", "Criteria", body)


def _authors(material: Material) -> str:
    """Who wrote them, where a file beside the cases says so."""
    stated = material.evidence.manifest.criteria_written
    if not stated:
        return ""
    total = sum(map(len, material.evidence.table.criteria.values()))
    kinds = {
        "accepted": "proposed by a model and accepted by a clinician as proposed",
        "edited": "proposed by a model and accepted with changes",
        "written": "written by a clinician in the panel",
    }
    parts = [f"{stated[kind]:,} {words}" for kind, words in kinds.items() if stated.get(kind)]
    came = total - sum(stated.get(kind, 0) for kind in kinds)
    parts += [f"{came:,} came with the cases"] if came > 0 else []
    by = (
        f" The model is {', '.join(material.evidence.manifest.criteria_models)}."
        if material.evidence.manifest.criteria_models
        else ""
    )
    left = [
        f"{stated[kind]:,} {words}"
        for kind, words in (("dropped", "were dropped"), ("draft", "are undecided"))
        if stated.get(kind)
    ]
    unused = f" Of the model's drafts {' and '.join(left)}; none of these counts." if left else ""
    return f"Who wrote them: {'; '.join(parts)}.{by}{unused}"


def _scores(material: Material) -> Html:
    table = material.evidence.table
    try:
        found = criteria_scores(table)
    except MedjuryError as error:
        return paragraph(str(error), class_="note")
    overall = [_score_row(row) for row in found.over_all().rows]
    by_tag = [{"tag": row.tag, **_score_row(row)} for row in found.rows if row.tag]
    confidence = percent(material.evidence.confidence)
    return joined(
        [
            element("h3", "Scores"),
            material.exhibits.table(
                "criteria-scores",
                overall,
                caption=f"Points met of the positive points, clipped to 0 to 1 as a whole, with {confidence} "
                "intervals by case or patient. Raw is not clipped. The score is the mean of what was marked in "
                "full; where marks are missing, the mean of all lies between worst and best. At equal length: what "
                "would be left if all texts were of one length",
                shown=40,
            ),
            material.exhibits.table(
                "criteria-scores-by-tag",
                by_tag,
                caption="The same by tag of the criteria or of the cases",
                shown=60,
                folded=True,
            ),
            bullets(found.warnings),
        ]
    )


def _score_row(row: CriteriaRow) -> dict[str, Cell]:
    return {
        "system": row.system or "(none named)",
        "marked by": row.rater,
        "score": row.score,
        "raw": row.raw,
        "worst": row.worst if row.partly else None,
        "best": row.best if row.partly else None,
        "at equal length": row.adjusted,
        "marked in full": row.answers,
        "in part": row.partly,
        "unmarked": row.unmarked,
        "cases": row.cases,
    }


def _recurring(material: Material) -> Mapping[str, Marks]:
    """Criteria that two cases or more have, by their id and words, else by their words; the most frequent first."""
    by_id: dict[tuple[str, str], Marks] = defaultdict(list)
    by_text: dict[str, Marks] = defaultdict(list)
    for case, own in material.evidence.table.criteria.items():
        for each in own:
            by_id[each.id, each.text].append((case, each.id))
            by_text[" ".join(each.text.casefold().split())].append((case, each.id))
    found: dict[str, Marks] = {}
    for (_, text), marks in by_id.items():
        same = by_text[" ".join(text.casefold().split())]
        if len(same) > 1:
            found[text] = same if len(same) > len(marks) else marks
    unique = {frozenset(marks): text for text, marks in found.items()}
    return {text: found[text] for text in sorted(unique.values(), key=lambda text: -len(found[text]))}


def _tagged(material: Material) -> Mapping[str, Marks]:
    found: dict[str, Marks] = defaultdict(list)
    for case, own in material.evidence.table.criteria.items():
        for each in own:
            for tag in each.tags:
                found[tag].append((case, each.id))
    return {tag: found[tag] for tag in sorted(found, key=lambda tag: (-len(found[tag]), tag))}


def _trusted(material: Material, groups: Mapping[str, Marks], name: str, title: str) -> Html:
    """The verdict of the same test, by the same rules, on the marks of each group alone."""
    evidence = material.evidence
    if not evidence.clinicians or not evidence.rater or not groups:
        return Html("")
    rows: list[dict[str, Cell]] = []
    for label, marks in list(groups.items())[:_GROUPS]:
        rows += _verdicts(material, label, marks)
    if not rows:
        return Html("")
    note = (
        "The colleague test of page one, with the same limits, on the marks of each line alone. A line that is not "
        "validated may only lack cases: the reason says so. Of many lines some are validated by luck."
    )
    more = f" {len(groups) - _GROUPS:,} more are not tested one by one." if len(groups) > _GROUPS else ""
    shown = material.exhibits.table(
        name,
        rows,
        caption=f"{title}: may the jury be trusted? Agreement is with single clinicians, on marks of two",
        shown=60,
    )
    return joined([element("h3", title), paragraph(note + more), shown])


def _verdicts(material: Material, label: str, marks: Marks) -> list[dict[str, Cell]]:
    table = material.evidence.table
    wanted = pl.DataFrame(marks, schema={CASE: pl.String, CRITERION: pl.String}, orient="row").unique()
    some = table.rows.join(wanted, on=[CASE, CRITERION], how="semi", maintain_order="left")
    there = set(some["dimension"].unique().to_list())
    only = replace(
        table, rows=some, dimensions=tuple(each for each in table.dimensions if each.name in there)
    )
    evidence = replace(evidence_of(only, statistics=()), rater=material.evidence.rater)
    found = validation_of(evidence, raters=(material.evidence.rater,))
    rows: list[dict[str, Cell]] = []
    for verdict in found.verdicts:
        facts = facts_of(evidence, verdict)
        rows.append(
            {
                "criterion": short(label, _LONGEST),
                "points": "negative" if verdict.danger else "positive",
                "verdict": verdict.word,
                "cases": verdict.clusters,
                "jury": facts.agreed,
                "colleague": facts.colleague,
                "harm missed by the jury": percent(facts.missed, 1) if verdict.danger else "",
                "by a colleague": percent(facts.missed_by_colleague, 1) if verdict.danger else "",
                "unscored": facts.asked - facts.scored,
                "why it is not better": material.about(verdict.reasons[0]) if verdict.reasons else "",
            }
        )
    return rows
