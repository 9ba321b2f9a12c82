"""The gate: the verdict on every dimension with its numbers and its main reason, and every rule behind it; where
each case has criteria of its own, what systems are worth by them, and which of them the jury may be trusted on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from medjury.analysis.ranking import CriteriaRow, criteria_scores
from medjury.foundation.errors import MedjuryError
from medjury.report._html import Cell, Html, bullets, element, joined, paragraph, sentence
from medjury.report._material import Material, Section, dangers_first, short
from medjury.report._sections.next_steps import next_steps, steps_shown
from medjury.statistics import counted, percent, shown
from medjury.tables import CASE, CRITERION
from medjury.validation import STATISTICS, Rule, Verdict, Word, evidence_of, validation_of


def gate(material: Material) -> Section | None:
    verdicts, wanted = material.validation.verdicts, material.evidence.rules.statistic
    several = len(material.tried) > 1
    table = material.exhibits.table(
        "verdicts",
        [_line(material, each, named=several) for each in verdicts],
        head=("dimension", "verdict"),
        caption=f"The gate, dimension by dimension. Agreement is {STATISTICS.get(wanted, wanted)} on "
        "answers that two "
        "clinicians rated: 1 is perfect, 0 is chance.",
    )
    if not verdicts:
        return None
    silences = joined(
        element("p", sentence(warning), class_="note")
        for warning in material.validation.warnings
        if warning != material.evidence.problem
    )
    later = [sentence(each) for each in next_steps(material)[steps_shown(material) :]]
    left = (
        joined([paragraph("What to do next, beyond the first page:"), bullets(later)]) if later else Html("")
    )
    details = joined(_rules(material, verdict) for verdict in verdicts)
    heading = element("h3", "Every rule, with its numbers")
    return Section("gate", "The verdict, rule by rule", joined([silences, table, left, heading, details]))


def _line(material: Material, verdict: Verdict, *, named: bool) -> dict[str, Cell]:
    who = "judge" if not material.evidence.table.juries else "jury"
    return {
        **({"rater": verdict.rater} if named else {}),
        "dimension": verdict.label,
        "verdict": _badge(verdict.word),
        "cases rated by two": verdict.clusters,
        f"{who} with clinician": verdict.agreed,
        "colleague with clinician": verdict.colleague,
        "share of danger missed": verdict.missed,
        "share missed by a colleague": verdict.missed_by_colleague,
        "scope": _scope(verdict),
        "the main reason": sentence(material.about(_main_reason(material, verdict), verdict.rater)),
    }


def _scope(verdict: Verdict) -> str:
    if verdict.word in ("VALIDATED", "AUXILIARY"):
        return verdict.earned_scope or "nothing tells cases apart"
    return "none: the scores may be relied on for no kind of case"


def _main_reason(material: Material, verdict: Verdict) -> str:
    """What is in the way of this dimension first; what is in the way of all is stated with it where it alone
    would forbid any use, and by itself where there is nothing else."""
    if not verdict.not_met:
        return "Every requirement is met."
    others = [each for each in material.validation.of(verdict.rater) if each is not verdict]

    def everywhere(rule: Rule) -> bool:
        return all(rule.why in each.reasons for each in others)

    rules = dangers_first(verdict.not_met)
    own = [rule.why for rule in rules if not others or not everywhere(rule)]
    shared = [rule for rule in rules if rule.why not in own]
    heavy = [rule.why for rule in shared if rule.essential]
    return " ".join([*own[:1], *heavy[:1]] or [shared[0].why])


def _rules(material: Material, verdict: Verdict) -> Html:
    title, slug = _titled(material, verdict), _slug(material, verdict)
    lines = material.exhibits.table(
        f"gate-{slug}",
        [
            {
                "line": material.about(rule.name, verdict.rater),
                "state": rule.state,
                "jury": _number(rule, rule.jury),
                "colleague": _number(rule, rule.colleague),
                "difference": _number(rule, rule.value),
                "at worst": _worst(rule),
                "limit": _number(rule, rule.limit),
                "for a clinician": material.about(rule.clinician, verdict.rater),
            }
            for rule in verdict.rules
            if rule.line
        ],
        caption=f"{title}: the colleague test. Every line must be met; each is tested one-sided at 5 %",
    )
    before = material.exhibits.table(
        f"preconditions-{slug}",
        [
            {
                "precondition": material.about(rule.name, verdict.rater),
                "state": rule.state,
                "what is asked": sentence(material.about(rule.asked, verdict.rater)),
                "what was found": sentence(material.about(rule.found, verdict.rater)),
                "best word left": "" if rule.met else rule.cap,
                "for a statistician": rule.statistician,
            }
            for rule in verdict.rules
            if not rule.line
        ],
        caption=f"{title}: what must be so before the test means anything",
    )
    table = joined([lines, before])
    summary = element("summary", f"{_titled(material, verdict)}: ", _badge(verdict.word))
    return element("details", summary, table, open="" if len(material.validation.verdicts) == 1 else None)


def _titled(material: Material, verdict: Verdict) -> str:
    return f"{verdict.rater}, {verdict.label}" if len(material.tried) > 1 else verdict.label


def _slug(material: Material, verdict: Verdict) -> str:
    """A file name: dimensions may be called anything."""
    number = material.validation.verdicts.index(verdict) + 1
    kept = "".join(
        sign if sign.isascii() and (sign.isalnum() or sign in "-_") else "-" for sign in verdict.dimension
    )
    return f"{number:02d}-{kept[:40]}"


def _badge(word: Word) -> Html:
    return element("span", word, class_=f"badge {word.lower().replace(' ', '-')}")


def _number(rule: Rule, value: float | None) -> str | None:
    """A share in per cent where the line is one of danger."""
    return None if value is None else percent(value, 1) if rule.danger else shown(value)


def _worst(rule: Rule) -> str | None:
    """The bound that decides: both of an offset, the upper one of missed danger, else the lower one."""
    if rule.id == "offset":
        return None if rule.low is None or rule.high is None else f"{shown(rule.low)} to {shown(rule.high)}"
    return _number(rule, rule.high if rule.danger else rule.low)


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
    return [
        {
            "criterion": short(label, _LONGEST),
            "points": "negative" if verdict.danger else "positive",
            "verdict": verdict.word,
            "cases": verdict.clusters,
            "jury": verdict.agreed,
            "colleague": verdict.colleague,
            "harm missed by the jury": percent(verdict.missed, 1) if verdict.danger else "",
            "by a colleague": percent(verdict.missed_by_colleague, 1) if verdict.danger else "",
            "unscored": verdict.asked - verdict.scored,
            "why it is not better": material.about(verdict.reasons[0]) if verdict.reasons else "",
        }
        for verdict in found.verdicts
    ]
