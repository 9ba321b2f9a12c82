"""The closed loop: what the loop says it gained, against what a juror outside of it finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from medjury.report._exhibits import CLINICIAN_COLOUR, JURY_COLOUR
from medjury.report._figure import Figure
from medjury.report._html import Cell, Html, bullets, element, paragraph
from medjury.report._material import PANELS, Material, Section, cut, short
from medjury.statistics import (
    FEWEST_CLUSTERS,
    RESAMPLES,
    Estimate,
    Floats,
    counted,
    percent,
    replicates,
    shown,
)
from medjury.store.runs import Record, RecordedOutcome
from medjury.tables import Measured
from medjury.validation import Evidence, clustered_contrast

if TYPE_CHECKING:
    from medjury.judging import ClosedLoopBody

    LoopRecord = Record[ClosedLoopBody]

# With fewer cases (of different patients) no interval of a mean was seen to hold: no gain can be shown.
FEWEST = FEWEST_CLUSTERS


def was_revised(body: ClosedLoopBody) -> bool:
    return len(body.rounds) > 1 and body.final.last is not None


def gains_of(body: ClosedLoopBody, dimension: Measured) -> tuple[float, float] | None:
    """Last less first draft by the loop judge and by the final juror, better upwards; None where a score is
    missing."""
    final, rounds = body.final, body.rounds
    scores = []
    for given in (rounds[0].scores, rounds[-1].scores, final.first or {}, final.last or {}):
        outcome = given.get(dimension.name)
        if outcome is None or outcome.score is None:
            return None
        scores.append(outcome.score)
    sign = 1.0 if dimension.higher_is_better else -1.0
    return sign * (scores[1] - scores[0]), sign * (scores[3] - scores[2])


@dataclass(frozen=True, slots=True)
class Gain:
    """One dimension of one loop: both gains, their difference, and what that means."""

    rater: str
    dimension: Measured
    cases: int
    patients: int  # or cases, where no patients are named
    left_out: int
    loop: Estimate
    final: Estimate
    difference: Estimate

    @property
    def enough(self) -> bool:
        return self.patients >= FEWEST

    @property
    def worse(self) -> bool:
        """The final juror finds the last drafts worse than the first."""
        return self.enough and below(self.final)

    @property
    def refuted(self) -> bool:
        """The loop claims a gain; the final juror finds none, and clearly less than is claimed."""
        claimed = self.enough and above(self.loop) and above(self.difference)
        return claimed and not above(self.final)

    @property
    def word(self) -> str:
        if not self.enough:
            return f"too few cases to tell (fewer than {FEWEST})"
        if self.worse:
            return "WORSE by the final juror" + (", NOT CONFIRMED" if self.refuted else "")
        if self.refuted:
            return "NOT CONFIRMED: the final juror does not find it"
        if not above(self.loop):
            return "gain by the final juror alone" if above(self.final) else "the loop claims no gain"
        if above(self.final):
            return "confirmed, but smaller than the loop claims" if above(self.difference) else "confirmed"
        return "not confirmed: too uncertain to tell"


def loop_gains(evidence: Evidence, rater: str, runs: Sequence[LoopRecord]) -> list[Gain]:
    """Over the drafts that were revised: the others have no gain to speak of."""
    revised = [run for run in runs if was_revised(run.body)]
    table, confidence = evidence.table, evidence.confidence
    found = []
    for dimension in table.counted:
        pairs = [(run.item, gain) for run in revised if (gain := gains_of(run.body, dimension)) is not None]
        if not pairs:
            continue
        items = [item for item, _ in pairs]
        clusters = [evidence.patients.get(item, item) for item in items]
        made = gain_estimates(
            np.asarray([gain for _, gain in pairs]),
            np.asarray(clusters, dtype=object),
            span=None if (grades := dimension.grades) is None else float(grades.highest - grades.lowest),
            confidence=confidence,
            resamples=table.resamples(None),
            seed=table.seed(None),
        )
        found.append(
            Gain(rater, dimension, len(set(items)), len(set(clusters)), len(revised) - len(pairs), *made)
        )
    return found


def gain_estimates(
    gains: Floats,
    clusters: NDArray[Any],
    *,
    span: float | None,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[Estimate, Estimate, Estimate]:
    """The mean gains by the loop judge and by the final juror (columns), and the first less the second. Where all
    are the same resampling has no interval, and on a scale of length `span` it is exact instead: that of the cases
    that could have lost the whole scale."""
    made = replicates(gains, _means, clusters=clusters, resamples=resamples, seed=seed)

    def exact(found: Estimate, values: Floats, reach: float) -> Estimate:
        if span is None or "the same in all" not in found.method:
            return found
        farthest = reach * span + abs(found.value or 0.0)
        everyone = np.ones(len(values), dtype=np.int64)
        return clustered_contrast(values, everyone, clusters, confidence=confidence, span=farthest)[0]

    return (
        exact(made.estimate("loop", confidence=confidence), gains[:, 0], 1.0),
        exact(made.estimate("final", confidence=confidence), gains[:, 1], 1.0),
        exact(made.difference("loop", "final", confidence=confidence), gains[:, 0] - gains[:, 1], 2.0),
    )


def _means(rows: Any) -> Callable[[Any], dict[str, Any]]:
    return lambda weights: {
        name: weights @ rows[:, place] / weights.sum(axis=-1) for place, name in enumerate(("loop", "final"))
    }


def above(estimate: Estimate) -> bool:
    return estimate.low is not None and estimate.low > 0


def below(estimate: Estimate) -> bool:
    return estimate.high is not None and estimate.high < 0


_TITLE = "Closed loop"
_STOPPED = {
    "passed": "passed",
    "rounds": "rounds used up",
    "stalled": "the writer changed nothing",
    "failed": "a step failed",
}


def closed_loop(material: Material) -> Section | None:
    if not material.records.kinds():
        return None
    from medjury.judging import ClosedLoopBody

    loops: dict[str, list[LoopRecord]] = {}
    aside = set(material.evidence.rules.development_cases)
    for record in material.records.of(ClosedLoopBody):
        if record.item not in aside:
            loops.setdefault(record.rater, []).append(record)
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


def _conclusions(loops: Mapping[str, Sequence[LoopRecord]], gains: Sequence[Gain]) -> list[object]:
    lines: list[object] = []
    for rater, runs in sorted(loops.items()):
        if not all(run.body.separate for run in runs):
            lines.append(
                element(
                    "strong",
                    f"{rater}: the final juror is a model that was in the loop, so it is not a separate juror and "
                    "confirms nothing.",
                )
            )
        own = [gain for gain in gains if gain.rater == rater]
        refuted = [gain for gain in own if gain.refuted]
        if refuted:
            words = (
                f"{rater}: the loop's gain is not confirmed by the final juror. By its scores the drafts came to "
                f"please the loop judge and did not become better ({_gains_of(refuted)})."
            )
            lines.append(element("strong", words))
        worse = [gain for gain in own if gain.worse and not gain.refuted]
        if worse:
            words = f"{rater}: the final juror finds the revised drafts worse ({_gains_of(worse)})."
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


def _gains_of(gains: Sequence[Gain]) -> str:
    return "; ".join(
        f"{gain.dimension.label}: {shown(gain.loop)} by the loop judge, {shown(gain.final)} by the final juror"
        for gain in gains
    )


def _gain_table(material: Material, gains: Sequence[Gain]) -> Html:
    rows: list[dict[str, Cell]] = [
        {
            "judge": gain.rater,
            "dimension": gain.dimension.label,
            "cases revised": gain.cases,
            "left out": gain.left_out,
            "gain, loop judge": gain.loop,
            "gain, final juror": gain.final,
            "loop less final": gain.difference,
            "verdict": gain.word,
        }
        for gain in gains
    ]
    return material.exhibits.table(
        "closed-loop-gains",
        rows,
        caption="Last draft less first, in grades towards the better end, with "
        f"{percent(material.evidence.confidence)} intervals (cases resampled, a patient's together); left out are "
        "revised drafts of which a score is missing. Drafts are revised because the loop judge graded them low, so "
        "chance alone gives it a gain; the final juror chose none of them",
        shown=60,
    )


def _round_table(material: Material, loops: Mapping[str, Sequence[LoopRecord]]) -> Html:
    rows: list[dict[str, Cell]] = []
    ends: list[dict[str, Cell]] = []
    evidence = material.evidence
    for rater, every in sorted(loops.items()):
        runs = _once(every)
        ended = [run for run in runs if run.body.stopped != "failed"]
        items = [run.item for run in ended]
        for number in range(max((len(run.body.rounds) for run in ended), default=0)):
            passed = [any(each.passed for each in run.body.rounds[: number + 1]) for run in ended]
            share = evidence.share(passed, items)
            rows.append(
                {
                    "judge": rater,
                    "revisions": number,
                    "drafts": len(ended),
                    "passed by then": sum(passed),
                    "share": share,
                }
            )
        stopped = Counter[str](run.body.stopped for run in runs)
        revised = [run.body.rounds for run in ended if len(run.body.rounds) > 1]
        lengths = [[len(each[place].draft.split()) for each in revised] for place in (0, -1)]
        middle = [median(each) if each else None for each in lengths]
        ends.append(
            {
                "judge": rater,
                "drafts": len(runs),
                **{title: stopped[name] for name, title in _STOPPED.items()},
                "words, first draft": middle[0],
                "words, last draft": middle[1],
            }
        )
    first = material.exhibits.table(
        "closed-loop-rounds",
        rows,
        caption="Drafts that passed the loop judge after so many revisions; loops in which a step failed are "
        "left out",
        digits={"share": 2},
        shown=60,
    )
    second = material.exhibits.table(
        "closed-loop-ends",
        ends,
        caption="How the loops ended, and the median length of drafts that were revised",
        digits=0,
    )
    return Html(first + second)


def _once(runs: Sequence[LoopRecord]) -> list[LoopRecord]:
    """One loop for each answer: repeats ask the final juror again about the same drafts."""
    found: dict[tuple[str, str], LoopRecord] = {}
    for run in runs:
        known = found.get((run.item, run.system))
        if known is None or known.body.stopped == "failed":
            found[run.item, run.system] = run
    return list(found.values())


def _figure(material: Material, gains: Sequence[Gain]) -> Html:
    drawn = [gain for gain in gains if gain.loop.low is not None and gain.final.low is not None][:PANELS]
    if not drawn:
        return Html("")

    def draw(figure: Figure) -> None:
        several = len({gain.rater for gain in drawn}) > 1
        labels = [
            short(f"{each.dimension.label}{f' ({each.rater})' if several else ''}", 30) for each in drawn
        ]
        axes = figure.lines(labels, x_name="gain in grades, last draft less first")
        axes.rule(x=0, width=0.8, dash=":")
        for place, gain in enumerate(drawn):
            for estimate, colour, marker, shift in (
                (gain.loop, JURY_COLOUR, "o", -0.12),
                (gain.final, CLINICIAN_COLOUR, "s", 0.12),
            ):
                axes.estimate(estimate, place + shift, colour, marker=marker, width=1.4)

    return material.exhibits.figure(
        "closed-loop-gains",
        (7, 1.0 + 0.45 * len(drawn)),
        draw,
        caption="Gain by the loop judge (circles) and by the final juror (squares), with "
        f"{percent(material.evidence.confidence)} intervals. Circles to the right of their squares are the mark of "
        "drafts that please the judge.",
        alt="; ".join(
            f"{gain.dimension.label}: loop {shown(gain.loop)}, final juror {shown(gain.final)}"
            for gain in drawn
        ),
    )


def _stories(material: Material, loops: Mapping[str, Sequence[LoopRecord]]) -> Html:
    """The loops in which the two judges differ most, round by round."""
    settings = material.evidence.table.settings
    if settings.hide_texts:
        return paragraph("The drafts and the judges' reasons are left out of this copy.", class_="soft")
    ranked: list[tuple[float, str, LoopRecord]] = []
    for rater, runs in loops.items():
        for run in runs:
            known = [
                gain
                for dimension in material.evidence.table.counted
                if was_revised(run.body) and (gain := gains_of(run.body, dimension)) is not None
            ]
            if known:
                ranked.append((sum(loop - final for loop, final in known) / len(known), rater, run))
    ranked.sort(key=lambda each: (-each[0], each[1], each[2].item, each[2].system))
    blocks = [
        _story(material, f"{rater}, {run.item} · {run.system}: loop less final juror {shown(gap)}", run)
        for gap, rater, run in ranked[: min(settings.cases_shown, 10)]
    ]
    if not blocks:
        return Html("")
    lead = paragraph("The loops whose gain the final juror shares least, round by round:")
    return Html(lead + "".join(blocks))


def _story(material: Material, title: str, run: LoopRecord) -> Html:
    label = material.evidence.label
    parts = []
    for number, each in enumerate(run.body.rounds):
        name = f"Draft after {counted(number, 'revision')}" if number else "First draft"
        state = "passed" if each.passed else "did not pass"
        parts.append(paragraph(element("strong", f"{name} ({state}). "), cut(each.draft)))
        text = [
            f"{label(dimension)}, {_score(found)}: {found.explanation or 'no reason given'}"
            for dimension, found in each.scores.items()
        ]
        parts.append(bullets(cut(line) for line in text))
    first, last = run.body.final.first or {}, run.body.final.last or {}
    moved = [
        f"{label(dimension)} {_score(first.get(dimension))} → {_score(found)}"
        for dimension, found in last.items()
    ]
    parts.append(paragraph(element("strong", "Final juror, first → last draft: "), "; ".join(moved)))
    return element("details", element("summary", title), *parts)


def _score(found: RecordedOutcome | None) -> str:
    if found is None:
        return "–"
    return found.reason or found.status if found.score is None else f"{found.score:g}"
