"""Deliberations: how they ended, who moved whom, and what was said, word for word."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from medjury.report._html import Cell, Html, bullets, element, joined, paragraph, table_html
from medjury.report._material import Material, Section
from medjury.runs import Record
from medjury.statistics import counted, percent, shown
from medjury.validation import ENDINGS, Tally, check_story

_CHARACTERS = 1500
_ENDED_BY = (
    "ended agreed",
    "by the orchestrator",
    "at max turns",
    "at max stalls",
    "failed",
)  # as in ENDINGS


def section(material: Material) -> Section | None:
    tallies: dict[str, Tally] = {}
    unreadable: list[int] = []
    wanted = material.evidence.settings.cases_shown
    # All are counted on the way, whether or not any is shown.
    chosen = heapq.nlargest(max(wanted, 1), _noted(material, tallies, unreadable), key=_interest)[:wanted]
    if not tallies and not unreadable:
        return None
    lead = (
        "Raters with different points of view graded each answer alone, then spoke when the orchestrator asked "
        "them. The orchestrator decided each grade itself, with a reason and without averaging: its grades are the "
        "ratings of this report. What this gains over a single judge, and what it costs, is told by the comparison "
        "of the ways of judging."
    )
    if material.evidence.settings.hide_texts:
        lead += " Names of cases and all that was said are left out of this copy."
    body = (
        paragraph(lead)
        + _notes(tallies, unreadable)
        + _endings(material, tallies)
        + _voices(material, tallies)
        + _transcripts(material, chosen, sum(each.deliberations for each in tallies.values()))
    )
    return Section("deliberations", "Deliberations", Html(body))


def _noted(material: Material, tallies: dict[str, Tally], unreadable: list[int]) -> Iterator[Record]:
    """Each record as it is counted; one that is not of this form is told, not shown."""
    for record in material.records.of("deliberation"):
        tally = tallies.get(record.rater, Tally())
        try:
            check_story(record.body)
            tally.note(record.body)
        except (KeyError, TypeError, ValueError, AttributeError):
            unreadable.append(record.line)
            continue
        tallies[record.rater] = tally
        yield record


def _interest(record: Record) -> tuple[float, ...]:
    """What a reader should see first: decisions beyond all agents, none, lost agents, unsettled and long talks."""
    body = record.body
    undecided = len(body["dimensions"]) - len(body["decided"])
    unsettled = body["ended"] in ("max_turns", "max_stalls")
    return (len(body["outside"]), undecided, len(body["failed"]), unsettled, body["turns"], -record.line)


def _notes(tallies: Mapping[str, Tally], unreadable: Sequence[int]) -> Html:
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
                        "agreed before a word was said. Agreement of agents who share a model is no proof; ",
                        element("code", "when_agreed: discuss"),
                        " lets the orchestrator question it.",
                    )
                )
            )
    if unreadable:
        lines.append(
            f"{counted(len(unreadable), 'record')} could not be read as a deliberation and are not counted here "
            f"(first: line {unreadable[0]} of records.jsonl)."
        )
    return bullets(lines)


def _endings(material: Material, tallies: Mapping[str, Tally]) -> Html:
    rows: list[tuple[Cell, ...]] = [
        (
            rater,
            tally.deliberations,
            tally.at_once,
            tally.turns / tally.deliberations,
            *(tally.ended[name] for name in ENDINGS),
            tally.outside,
        )
        for rater, tally in tallies.items()
    ]
    head = (
        "judge",
        "deliberations",
        "agreed at once",
        "turns each",
        *_ENDED_BY,
        "decided outside",
    )
    return material.exhibits.table(
        "deliberation-endings",
        head,
        rows,
        caption="How the deliberations went and what ended them; `decided outside` counts grades outside "
        "those that any agent held at the end",
        digits=1,
    )


def _voices(material: Material, tallies: Mapping[str, Tally]) -> Html:
    rows: list[tuple[Cell, ...]] = [
        (
            rater,
            name,
            voice.turns,
            voice.changed,
            voice.lost,
            100 * voice.followed / voice.held if voice.held else None,
            voice.gap / voice.held if voice.held else None,
        )
        for rater, tally in tallies.items()
        for name, voice in tally.voices.items()
    ]
    head = ("judge", "persona", "turns", "grades changed", "left without an answer", "decided as it held (%)",
            "its grade less the decision")  # fmt: skip
    table = material.exhibits.table(
        "deliberation-personas",
        head,
        rows,
        caption="What each persona did, and how its last grades stand to the orchestrator's decisions",
        digits=(0, 0, 0, 0, 0, 0, 2),
    )
    who = [
        (element("dt", f"{name} ({', '.join(voice.models)})"), element("dd", _cut(voice.text)))
        for tally in tallies.values()
        for name, voice in tally.voices.items()
    ]
    views = element("dl", *(part for pair in who for part in pair))
    return Html(table + element("details", element("summary", "The points of view in words"), views))


def _transcripts(material: Material, chosen: Sequence[Record], total: int) -> Html:
    if not chosen:
        return Html("")
    note = (
        f"{counted(len(chosen), 'transcript')} of {total:,}, first those whose decision lies outside the agents' "
        "grades, that lost an agent or did not settle. All are in records.jsonl."
    )
    blocks = [_transcript(material, number, record) for number, record in enumerate(chosen, start=1)]
    return Html(element("h3", "Transcripts") + paragraph(note, class_="soft") + "".join(blocks))


def _transcript(material: Material, number: int, record: Record) -> Html:
    body, hide = record.body, material.evidence.settings.hide_texts
    case = record.title(f"deliberation {number}", hide=hide)
    title = f"{case}: {counted(int(body['turns']), 'turn')}, {ENDINGS[body['ended']]}"
    missing = [name for name in body["dimensions"] if name not in body["decided"]]
    if missing and body["ended"] != "failed":
        title += f"; not decided: {_labels(material, missing)}"
    if body["outside"]:
        title += f"; decided beyond all agents: {_labels(material, body['outside'])}"
    said = []
    for step in body["steps"]:
        said += [element("dt", _step_title(material, step)), _words(material, step)]
    return element(
        "details",
        element("summary", title),
        paragraph(_took(material, body["steps"]), class_="soft"),
        _grades(material, number, body),
        element("dl", *said),
    )


def _grades(material: Material, number: int, body: Mapping[str, Any]) -> Html:
    """First and last grade of each persona beside the decision."""
    first = {step["persona"]: step["grades"] for step in body["steps"] if step["act"] == "opening"}
    names = [str(each["name"]) for each in body["personas"]]
    rows: list[tuple[Cell, ...]] = []
    for dimension in body["dimensions"]:
        cells = [_moved(first.get(name, {}), body["final"].get(name), dimension) for name in names]
        decision = _grade(body["decided"], dimension)
        mark = " (outside)" if dimension in body["outside"] else ""
        rows.append((material.evidence.label(dimension), *cells, decision + mark))
    head = ("dimension", *names, "decided")
    return table_html(head, rows, caption=f"Grades in deliberation {number}, first and last", sort=False)


def _moved(first: Mapping[str, Any], last: Mapping[str, Any] | None, dimension: str) -> str:
    start = _grade(first, dimension)
    if last is None:
        return f"{start}, left"
    end = _grade(last, dimension)
    return end if start == end else f"{start} → {end}"


def _grade(grades: Mapping[str, Any], dimension: str) -> str:
    if dimension not in grades:
        return "none"
    grade = grades[dimension]
    return "n/a" if grade is None else f"{grade:g}"


def _step_title(material: Material, step: Mapping[str, Any]) -> Html:
    """Who does what; the model's name stands below."""
    about = _labels(material, step.get("about") or ())
    match step["act"]:
        case "opening":
            words = f"{step['persona']} grades alone"
        case "question" if step.get("to"):
            words = f"Turn {step['turn']}: the orchestrator asks {step['to']} about {about}"
        case "question":
            words = "The orchestrator ends the talk" if "to" in step else "The orchestrator"
        case "turn":
            words = f"Turn {step['turn']}: {step['persona']} answers"
        case _:
            words = "The orchestrator decides"
    facts = f"{step['model']}, {float(step['seconds']):.1f} s"
    if step["calls"] != 1:
        facts += f", {counted(int(step['calls']), 'call')}"
    return Html(element("strong", words) + Html("<br>") + element("span", facts, class_="soft"))


def _words(material: Material, step: Mapping[str, Any]) -> Html:
    """What was said, the grades, and what became of the turn."""
    hide = material.evidence.settings.hide_texts
    parts: list[object] = []
    if step["said"]:
        parts.append(element("div", _cut("(words left out)" if hide else step["said"]), class_="said"))
    if step["act"] == "question" and step.get("assessment"):
        seen = "(words left out)" if hide else step["assessment"]
        parts.append(element("div", _cut(f"Its assessment: {seen}"), class_="said soft"))
    for dimension, grade in step["grades"].items():
        reason = "" if hide else str(step["reasons"].get(dimension, ""))
        given = "not applicable" if grade is None else f"{grade:g}"
        told = f"{material.evidence.label(dimension)}: {given}{'. ' if reason else ''}{_cut(reason)}"
        parts.append(element("div", told, class_="said"))
    facts = []
    if step["act"] == "turn" and not step.get("failure"):
        facts.append(
            f"changed {_labels(material, step['changed'])}" if step["changed"] else "no grade changed"
        )
        facts += ["a stall"] if step.get("stall") else []
    if step.get("outside"):
        facts.append(f"outside the agents' grades: {_labels(material, step['outside'])}")
    if failure := step.get("failure"):
        facts.append(f"no usable answer ({failure['reason'].replace('_', ' ')}): {failure['message']}")
    if facts:
        parts.append(element("div", "; ".join(facts), class_="soft"))
    return element("dd", *parts or ["–"])


def _took(material: Material, steps: Sequence[Mapping[str, Any]]) -> str:
    costs = [step.get("cost") for step in steps]
    currency = str(material.evidence.manifest.get("prices", {}).get("currency", ""))
    cost = (
        "cost not known"
        if None in costs
        else f"{shown(float(sum(each or 0 for each in costs)), 4)} {currency}".strip()
    )
    seconds = sum(float(step["seconds"]) for step in steps)
    calls, tokens_in, tokens_out = (
        sum(int(step.get(name, 0)) for step in steps) for name in ("calls", "tokens_in", "tokens_out")
    )
    return f"{counted(calls, 'call')}, {seconds:,.0f} s, {tokens_in:,} tokens in, {tokens_out:,} out, {cost}."


def _labels(material: Material, names: Sequence[str]) -> str:
    return ", ".join(material.evidence.label(str(name)) for name in names)


def _cut(words: str) -> str:
    if len(words) <= _CHARACTERS:
        return words
    return f"{words[:_CHARACTERS]}… ({len(words):,} characters; whole in records.jsonl)"
