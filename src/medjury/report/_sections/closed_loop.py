"""The closed loop: what the loop says it gained, against what a juror outside of it finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

from medjury.report._exhibits import CLINICIAN_COLOUR, JURY_COLOUR, SOFT
from medjury.report._html import Cell, Html, bullets, element, paragraph
from medjury.report._material import PANELS, Material, Section, short
from medjury.report._sections.preference import clustered_share
from medjury.statistics import counted, shown
from medjury.validation import Gain, Run, loop_gains

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TITLE = "Closed loop"
_CHARACTERS = 1500
_STOPPED = {
    "passed": "passed",
    "rounds": "rounds used up",
    "stalled": "the writer changed nothing",
    "failed": "a step failed",
}


def section(material: Material) -> Section | None:
    loops: dict[str, list[Run]] = {}
    for record in material.records.of("closed_loop"):
        loops.setdefault(record.rater, []).append(Run(record.item, record.system, record.body))
    if not loops:
        return None
    gains = [
        gain for rater, runs in sorted(loops.items()) for gain in loop_gains(material.evidence, rater, runs)
    ]
    lead = (
        "Drafts were judged, revised for the judge's reasons and judged again. A writer can learn to please its "
        "judge, so a final juror that saw neither the reasons nor the earlier drafts scored the first and the last "
        "draft. Its scores are the ratings of this report; a gain that it does not find is no gain."
    )
    body = (
        paragraph(lead)
        + bullets(_conclusions(loops, gains))
        + _figure(material, gains)
        + _gain_table(material, gains)
        + _round_table(material, loops)
        + _stories(material, loops)
    )
    return Section("closed-loop", _TITLE, Html(body))


def _conclusions(loops: Mapping[str, Sequence[Run]], gains: Sequence[Gain]) -> list[object]:
    lines: list[object] = []
    for rater, runs in sorted(loops.items()):
        if not all(run.body.get("separate") for run in runs):
            lines.append(
                element(
                    "strong",
                    f"{rater}: the final juror is a model that was in the loop, so it is no separate juror and "
                    "confirms nothing.",
                )
            )
        own = [gain for gain in gains if gain.rater == rater]
        refuted = [gain for gain in own if gain.refuted]
        if refuted:
            words = (
                f"{rater}: the loop's gain is not confirmed by the final juror. By its scores the drafts came to "
                f"please the loop judge and did not become better ({_told(refuted)})."
            )
            lines.append(element("strong", words))
        worse = [gain for gain in own if gain.worse and not gain.refuted]
        if worse:
            words = f"{rater}: the final juror finds the revised drafts worse ({_told(worse)})."
            lines.append(element("strong", words))
        agreed = [gain.dimension.label for gain in own if gain.word.startswith("confirmed")]
        if agreed:
            lines.append(f"{rater}: the final juror confirms a gain on {', '.join(agreed)}.")
        if own and not refuted and not agreed and not worse:
            lines.append(f"{rater}: no gain of the loop is shown.")
        if not own:
            lines.append(
                f"{rater}: no draft was revised and scored before and after, so there is no gain to show."
            )
    return lines


def _told(gains: Sequence[Gain]) -> str:
    return "; ".join(
        f"{gain.dimension.label}: {shown(gain.loop)} by the loop judge, {shown(gain.final)} by the final juror"
        for gain in gains
    )


def _gain_table(material: Material, gains: Sequence[Gain]) -> Html:
    rows: list[tuple[Cell, ...]] = [
        (
            gain.rater,
            gain.dimension.label,
            gain.cases,
            gain.left_out,
            gain.loop,
            gain.final,
            gain.difference,
            gain.word,
        )
        for gain in gains
    ]
    return material.exhibits.table(
        "closed-loop-gains",
        (
            "judge",
            "dimension",
            "cases revised",
            "left out",
            "gain, loop judge",
            "gain, final juror",
            "loop less final",
            "verdict",
        ),
        rows,
        caption="Last draft less first, in grades towards the better end, with 95 % intervals (cases resampled, a "
        "patient's together); left out are revised drafts of which a score is missing. Drafts are revised because "
        "the loop judge graded them low, so chance alone gives it a gain; the final juror chose none of them",
        shown=60,
    )


def _round_table(material: Material, loops: Mapping[str, Sequence[Run]]) -> Html:
    rows: list[tuple[Cell, ...]] = []
    ends: list[tuple[Cell, ...]] = []
    for rater, every in sorted(loops.items()):
        runs = _once(every)
        told = [run for run in runs if run.body.get("stopped") != "failed"]
        for number in range(max((len(run.rounds) for run in told), default=0)):
            passed = [any(each.get("passed") for each in run.rounds[: number + 1]) for run in told]
            share = clustered_share(material, passed, [run.item for run in told])
            rows.append((rater, number, len(told), sum(passed), share))
        stopped = Counter(str(run.body.get("stopped")) for run in runs)
        lengths = [(_words(run.rounds[0]), _words(run.rounds[-1])) for run in told if len(run.rounds) > 1]
        middle = [median(each[place] for each in lengths) if lengths else None for place in (0, 1)]
        ends.append((rater, len(runs), *(stopped[name] for name in _STOPPED), *middle))
    first = material.exhibits.table(
        "closed-loop-rounds",
        ("judge", "revisions", "drafts", "passed by then", "share"),
        rows,
        caption="Drafts that passed the loop judge after so many revisions; loops in which a step failed are "
        "left out",
        digits=(0, 0, 0, 0, 2),
        shown=60,
    )
    second = material.exhibits.table(
        "closed-loop-ends",
        ("judge", "drafts", *_STOPPED.values(), "words, first draft", "words, last draft"),
        ends,
        caption="How the loops ended, and the median length of drafts that were revised",
        digits=0,
    )
    return Html(first + second)


def _once(runs: Sequence[Run]) -> list[Run]:
    """One loop for each answer: repeats ask the final juror again about the same drafts."""
    found: dict[tuple[str, str], Run] = {}
    for run in runs:
        known = found.get((run.item, run.system))
        if known is None or known.body.get("stopped") == "failed":
            found[run.item, run.system] = run
    return list(found.values())


def _figure(material: Material, gains: Sequence[Gain]) -> Html:
    drawn = [gain for gain in gains if gain.loop.low is not None and gain.final.low is not None][:PANELS]
    if not drawn:
        return Html("")

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for place, gain in enumerate(drawn):
            for estimate, colour, marker, shift in (
                (gain.loop, JURY_COLOUR, "o", -0.12),
                (gain.final, CLINICIAN_COLOUR, "s", 0.12),
            ):
                ends = [each for each in (estimate.low, estimate.high) if each is not None]
                axes.plot(ends, [place + shift] * len(ends), color=colour, linewidth=1.4)
                axes.plot(estimate.value or 0.0, place + shift, marker=marker, color=colour, linestyle="none")
        axes.axvline(0, color=SOFT, linewidth=0.8, linestyle=":")
        several = len({gain.rater for gain in drawn}) > 1
        labels = [
            short(f"{each.dimension.label}{f' ({each.rater})' if several else ''}", 30) for each in drawn
        ]
        axes.set_yticks(range(len(drawn)), labels)
        axes.set_ylim(len(drawn) - 0.5, -0.5)
        axes.set_xlabel("gain in grades, last draft less first")

    return material.exhibits.figure(
        "closed-loop-gains",
        (7, 1.0 + 0.45 * len(drawn)),
        draw,
        caption="Gain by the loop judge (circles) and by the final juror (squares), with 95 % intervals. Circles "
        "to the right of their squares are the mark of drafts that please the judge.",
        alt="; ".join(
            f"{gain.dimension.label}: loop {shown(gain.loop)}, final juror {shown(gain.final)}"
            for gain in drawn
        ),
    )


def _stories(material: Material, loops: Mapping[str, Sequence[Run]]) -> Html:
    """The loops in which the two judges differ most, round by round."""
    if material.evidence.settings.hide_texts:
        return paragraph("The drafts and the judges' reasons are left out of this copy.", class_="soft")
    ranked: list[tuple[float, str, Run]] = []
    for rater, runs in loops.items():
        for run in runs:
            known = [
                gain
                for dimension in material.evidence.gated
                if run.revised and (gain := run.gains(dimension)) is not None
            ]
            if known:
                ranked.append((sum(loop - final for loop, final in known) / len(known), rater, run))
    ranked.sort(key=lambda each: (-each[0], each[1], each[2].item, each[2].system))
    blocks = [
        _story(material, f"{rater}, {run.item} · {run.system}: loop less final juror {shown(gap)}", run)
        for gap, rater, run in ranked[: min(material.evidence.settings.cases_shown, 10)]
    ]
    if not blocks:
        return Html("")
    lead = paragraph("The loops whose gain the final juror shares least, round by round:")
    return Html(lead + "".join(blocks))


def _story(material: Material, title: str, run: Run) -> Html:
    label = material.evidence.label
    parts = []
    for number, each in enumerate(run.rounds):
        name = f"Draft after {counted(number, 'revision')}" if number else "First draft"
        state = "passed" if each.get("passed") else "did not pass"
        parts.append(paragraph(element("strong", f"{name} ({state}). "), _cut(str(each.get("draft", "")))))
        said = [
            f"{label(dimension)}, {_score(found)}: {found.get('explanation') or 'no reason given'}"
            for dimension, found in each.get("scores", {}).items()
        ]
        parts.append(bullets(_cut(line) for line in said))
    final = run.body["final"]
    told = [
        f"{label(dimension)} {_score(final.get('first', {}).get(dimension, {}))} → {_score(found)}"
        for dimension, found in final["last"].items()
    ]
    parts.append(paragraph(element("strong", "Final juror, first → last draft: "), "; ".join(told)))
    return element("details", element("summary", title), *parts)


def _score(found: Mapping[str, Any]) -> str:
    score = found.get("score")
    return str(found.get("reason") or found.get("status") or "–") if score is None else f"{score:g}"


def _cut(words: str) -> str:
    rest = f"… ({len(words):,} characters; whole in records.jsonl)"
    return words if len(words) <= _CHARACTERS else words[:_CHARACTERS] + rest


def _words(told: Mapping[str, Any]) -> int:
    return len(str(told.get("draft", "")).split())
