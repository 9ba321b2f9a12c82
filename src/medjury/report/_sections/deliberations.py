"""Deliberations: how they ended, who moved whom, and what was said, word for word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from medjury.report._html import Cell, Html, bullets, definitions, element, joined, paragraph, table_html
from medjury.report._material import Material, Section, cut, most_interesting, one_by_one
from medjury.statistics import counted, percent, shown
from medjury.store.runs import Record, files

if TYPE_CHECKING:
    from medjury.judging import DeliberationBody, RecordedStep

    DeliberationRecord = Record[DeliberationBody]

Graded = Mapping[str, float | None]
# How a deliberation may end: in words, and as the title of a column.
ENDINGS = {
    "agreed": ("all agreed", "ended agreed"),
    "orchestrator": ("the orchestrator ended the discussion", "by the orchestrator"),
    "max_turns": ("the turns were used up", "at max turns"),
    "max_stalls": ("the discussion had stalled", "at max stalls"),
    "failed": ("a step failed", "failed"),
}


@dataclass
class PersonaTally:
    """What one persona did in all deliberations of a rater."""

    text: str = ""
    models: dict[str, None] = field(default_factory=dict)  # in the order they first spoke
    turns: int = 0
    changed: int = 0
    lost: int = 0
    held: int = 0  # final grades beside a decided one
    followed: int = 0
    gap: float = 0.0


@dataclass
class DeliberationTally:
    """What became of one rater's deliberations."""

    deliberations: int = 0
    at_once: int = 0
    turns: int = 0
    decided: int = 0
    undecided: int = 0  # grades, where the talk ended and the decision failed
    outside: int = 0
    ended: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ENDINGS, 0))
    personas: dict[str, PersonaTally] = field(default_factory=dict)

    def note(self, body: DeliberationBody) -> None:
        """Count one record."""
        self.deliberations += 1
        self.at_once += body.agreed_at_once
        self.turns += body.turns
        self.decided += len(body.decided)
        if body.ended != "failed":
            self.undecided += len(body.undecided)
        self.outside += len(body.outside)
        self.ended[body.ended] += 1
        for each in body.personas:
            self.personas.setdefault(each.name, PersonaTally(each.text)).models[each.model] = None
        for step in body.steps:
            if step.act == "turn" and step.persona is not None:
                self.personas[step.persona].turns += 1
                self.personas[step.persona].changed += len(step.changed)
        for lost in body.failed:
            self.personas[lost.persona].lost += 1
        for name, grades in body.final.items():
            persona = self.personas[name]
            for dimension, grade in grades.items():
                decision = body.decided.get(dimension)
                if grade is not None and decision is not None:
                    persona.held += 1
                    persona.followed += grade == decision
                    persona.gap += grade - decision


def deliberations(material: Material) -> Section | None:
    if not material.records.kinds():
        return None
    from medjury.judging import DeliberationBody

    tallies: dict[str, DeliberationTally] = {}

    def note(record: DeliberationRecord) -> None:
        tallies.setdefault(record.rater, DeliberationTally()).note(record.body)

    chosen = most_interesting(material, DeliberationBody, note, _interest)
    if not tallies:
        return None
    lead = (
        "Raters with different points of view graded each answer alone, then spoke when the orchestrator asked "
        "them. The orchestrator decided each grade itself, with a reason and without averaging: its grades are the "
        "ratings of this report. What this gains over a single judge, and what it costs, is in the comparison "
        "of the ways of judging."
    )
    if material.evidence.table.settings.hide_texts:
        lead += " Names of cases and all that was said are left out of this copy."
    body = (
        paragraph(lead)
        + _notes(tallies)
        + _endings(material, tallies)
        + _personas(material, tallies)
        + _transcripts(material, chosen, sum(each.deliberations for each in tallies.values()))
    )
    return Section("deliberations", "Deliberations", Html(body))


def _interest(record: DeliberationRecord) -> tuple[float, ...]:
    """What a reader should see first: decisions beyond all agents, none, lost agents, unsettled and long talks."""
    body = record.body
    unsettled = body.ended in ("max_turns", "max_stalls")
    counts = (len(body.outside), len(body.undecided), len(body.failed), unsettled, body.turns)
    return (*counts, -record.line)


def _notes(tallies: Mapping[str, DeliberationTally]) -> Html:
    lines: list[object] = []
    for rater, tally in tallies.items():
        if tally.outside:
            lines.append(
                f"{rater}: {counted(tally.outside, 'decision')} of {tally.decided:,} outside the grades that any "
                "agent held at the end. Each may be right, and each deserves a look."
            )
        if tally.undecided:
            grades = counted(tally.undecided, "grade")
            lines.append(
                f"{rater}: {grades} left undecided, because the orchestrator's answer could not be used."
            )
        if tally.deliberations and tally.at_once > tally.deliberations / 2:
            lines.append(
                joined(
                    (
                        f"{rater}: in {percent(tally.at_once / tally.deliberations)} of the deliberations all "
                        "agreed before a word was said. Agreement of agents who share a model is not proof; ",
                        element("code", "when_agreed: discuss"),
                        " lets the orchestrator question it.",
                    )
                )
            )
    return bullets(lines)


def _endings(material: Material, tallies: Mapping[str, DeliberationTally]) -> Html:
    rows: list[dict[str, Cell]] = [
        {
            "judge": rater,
            "deliberations": tally.deliberations,
            "agreed at once": tally.at_once,
            "turns each": tally.turns / tally.deliberations,
            **{title: tally.ended[name] for name, (_, title) in ENDINGS.items()},
            "decided outside": tally.outside,
        }
        for rater, tally in tallies.items()
    ]
    return material.exhibits.table(
        "deliberation-endings",
        rows,
        caption="How the deliberations went and what ended them; `decided outside` counts grades outside "
        "those that any agent held at the end",
        digits=1,
    )


def _personas(material: Material, tallies: Mapping[str, DeliberationTally]) -> Html:
    rows: list[dict[str, Cell]] = [
        {
            "judge": rater,
            "persona": name,
            "turns": each.turns,
            "grades changed": each.changed,
            "left without an answer": each.lost,
            "decided as it held (%)": 100 * each.followed / each.held if each.held else None,
            "its grade less the decision": each.gap / each.held if each.held else None,
        }
        for rater, tally in tallies.items()
        for name, each in tally.personas.items()
    ]
    table = material.exhibits.table(
        "deliberation-personas",
        rows,
        caption="What each persona did, and how its last grades compare with the orchestrator's decisions",
        digits={"decided as it held (%)": 0, "its grade less the decision": 2},
    )
    views = definitions(
        (f"{name} ({', '.join(each.models)})", cut(each.text))
        for tally in tallies.values()
        for name, each in tally.personas.items()
    )
    return Html(table + element("details", element("summary", "The points of view in words"), views))


def _transcripts(material: Material, chosen: Sequence[DeliberationRecord], total: int) -> Html:
    note = (
        f"{counted(len(chosen), 'transcript')} of {total:,}, first those whose decision lies outside the agents' "
        f"grades, that lost an agent or did not settle. All are in {files.RECORDS}."
    )
    made = [_transcript(material, number, record) for number, record in enumerate(chosen, start=1)]
    return one_by_one("Transcripts", note, made)


def _transcript(material: Material, number: int, record: DeliberationRecord) -> Html:
    body = record.body
    case = record.title(f"deliberation {number}", hide=material.evidence.table.settings.hide_texts)
    title = f"{case}: {counted(body.turns, 'turn')}, {ENDINGS[body.ended][0]}"
    if body.undecided and body.ended != "failed":
        title += f"; not decided: {_labels(material, body.undecided)}"
    if body.outside:
        title += f"; decided beyond all agents: {_labels(material, body.outside)}"
    text = []
    for step in body.steps:
        text += [element("dt", _step_title(material, step)), _words(material, step)]
    return element(
        "details",
        element("summary", title),
        paragraph(_took(material, body.steps), class_="soft"),
        _grades(material, number, body),
        element("dl", *text),
    )


def _grades(material: Material, number: int, body: DeliberationBody) -> Html:
    """First and last grade of each persona beside the decision."""
    first = {step.persona: step.grades for step in body.steps if step.act == "opening"}
    names = [each.name for each in body.personas]
    rows: list[tuple[Cell, ...]] = []
    for dimension in body.dimensions:
        cells = [_moved(first.get(name, {}), body.final.get(name), dimension) for name in names]
        decision = _grade(body.decided, dimension)
        mark = " (outside)" if dimension in body.outside else ""
        rows.append((material.evidence.label(dimension), *cells, decision + mark))
    head = ("dimension", *names, "decided")
    return table_html(head, rows, caption=f"Grades in deliberation {number}, first and last", sort=False)


def _moved(first: Graded, last: Graded | None, dimension: str) -> str:
    start = _grade(first, dimension)
    if last is None:
        return f"{start}, left"
    end = _grade(last, dimension)
    return end if start == end else f"{start} → {end}"


def _grade(grades: Graded, dimension: str) -> str:
    if dimension not in grades:
        return "none"
    grade = grades[dimension]
    return "n/a" if grade is None else f"{grade:g}"


def _step_title(material: Material, step: RecordedStep) -> Html:
    """Who does what; the model's name is below."""
    match step.act:
        case "opening":
            words = f"{step.persona} grades alone"
        case "question" if step.to:
            words = f"Turn {step.turn}: the orchestrator asks {step.to} about {_labels(material, step.about)}"
        case "question":
            words = "The orchestrator" if step.failure else "The orchestrator ends the discussion"
        case "turn":
            words = f"Turn {step.turn}: {step.persona} answers"
        case _:
            words = "The orchestrator decides"
    facts = f"{step.model}, {step.seconds:.1f} s"
    if step.calls != 1:
        facts += f", {counted(step.calls, 'call')}"
    return Html(element("strong", words) + Html("<br>") + element("span", facts, class_="soft"))


def _words(material: Material, step: RecordedStep) -> Html:
    """What was said, the grades, and what became of the turn."""
    hide = material.evidence.table.settings.hide_texts
    parts: list[object] = []
    if step.said:
        parts.append(element("div", cut("(words left out)" if hide else step.said), class_="said"))
    if step.act == "question" and step.assessment:
        seen = "(words left out)" if hide else step.assessment
        parts.append(element("div", cut(f"Its assessment: {seen}"), class_="said soft"))
    for dimension, grade in step.grades.items():
        reason = "" if hide else step.reasons.get(dimension, "")
        given = "not applicable" if grade is None else f"{grade:g}"
        line = f"{material.evidence.label(dimension)}: {given}{'. ' if reason else ''}{cut(reason)}"
        parts.append(element("div", line, class_="said"))
    facts = []
    if step.act == "turn" and not step.failure:
        facts.append(f"changed {_labels(material, step.changed)}" if step.changed else "no grade changed")
        facts += ["a stall"] if step.stall else []
    if step.outside:
        facts.append(f"outside the agents' grades: {_labels(material, step.outside)}")
    if step.failure:
        facts.append(f"no usable answer ({step.failure.reason.replace('_', ' ')}): {step.failure.message}")
    if facts:
        parts.append(element("div", "; ".join(facts), class_="soft"))
    return element("dd", *parts or ["–"])


def _took(material: Material, steps: Sequence[RecordedStep]) -> str:
    costs = [step.cost for step in steps if step.cost is not None]
    spent = f"{shown(sum(costs), 4)} {material.evidence.manifest.prices.currency}".strip()
    return (
        f"{counted(sum(step.calls for step in steps), 'call')}, {sum(step.seconds for step in steps):,.0f} s, "
        f"{sum(step.tokens_in for step in steps):,} tokens in, {sum(step.tokens_out for step in steps):,} out, "
        f"{spent if len(costs) == len(steps) else 'cost not known'}."
    )


def _labels(material: Material, names: Sequence[str]) -> str:
    return ", ".join(material.evidence.label(name) for name in names)
