"""Adaptive juries: how many jurors it took, why it stopped, what was saved, and who gave no vote."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from medjury.judging import AdaptiveBody

from collections.abc import Mapping

from medjury.report._html import Cell, Html, bullets, paragraph
from medjury.report._material import Material, Section
from medjury.statistics import counted, percent

_MANY_LOST = 0.1


# As the records say it, and as a reader does.
STOPPED = {
    "settled": "nothing open",
    "all calls made": "open after all",
    "not asked": "could not be asked",
    "failed for now": "broken off",
}


@dataclass
class JurorTally:
    """What one juror did. A vote is a score, or "not applicable", on one dimension."""

    asked: int = 0
    scores: int = 0
    not_applicable: int = 0
    lost: int = 0
    without_any: int = 0  # answers of which nothing could be used
    reasons: Counter[str] = field(default_factory=Counter)


@dataclass
class AdaptiveTally:
    """One adaptive jury. `asked[n]` counts the units that took n askings; those that were broken off, or could
    not be asked, are in `stopped` alone: what was not asked there was not saved."""

    stopped: Counter[str] = field(default_factory=Counter)
    asked: Counter[int] = field(default_factory=Counter)
    made: int = 0
    most: int = 0  # askings, had every juror been asked about every finished unit
    jurors: dict[str, JurorTally] = field(default_factory=dict)

    @property
    def finished(self) -> int:
        return sum(self.asked.values())

    @property
    def saved(self) -> float | None:
        return 1 - self.made / self.most if self.most else None

    def note(self, body: AdaptiveBody) -> None:
        """Count one record."""
        self.stopped[body.stopped] += 1
        for name in body.jurors:
            self.jurors.setdefault(name, JurorTally())
        if body.stopped == "not asked":
            return
        if body.stopped != "failed for now":
            self.asked[len(body.calls)] += 1
            self.made += len(body.calls)
            self.most += body.rule.maximum
        for call in body.calls:
            juror, votes = self.jurors[call.juror], call.outcomes.values()
            juror.asked += 1
            juror.scores += sum(vote.status == "scored" for vote in votes)
            juror.not_applicable += sum(vote.status == "not_applicable" for vote in votes)
            reasons = [vote.reason or "" for vote in votes if vote.status == "unscored"]
            juror.lost += len(reasons)
            juror.without_any += bool(reasons) and len(reasons) == len(votes)
            juror.reasons.update(reasons)


def adaptive_juries(material: Material) -> Section | None:
    if not material.records.kinds():
        return None
    from medjury.judging import AdaptiveBody

    tallies: dict[str, AdaptiveTally] = {}
    for record in material.records.of(AdaptiveBody):
        tallies.setdefault(record.rater, AdaptiveTally()).note(record.body)
    if not tallies:
        return None
    lead = (
        "Jurors were asked one after the other, and the next only while a dimension was open: too few votes, votes "
        "that differ, or more doubt than the rule allows. What was not asked is saved only if the score is as good "
        "without it: see the comparison of the ways of judging, and simulate the rule on votes of the full jury."
    )
    body = (
        paragraph(lead)
        + bullets(_notes(tallies))
        + _ends(material, tallies)
        + _distribution(material, tallies)
        + _jurors(material, tallies)
    )
    return Section("adaptive", "Adaptive juries", Html(body))


def _notes(tallies: Mapping[str, AdaptiveTally]) -> list[object]:
    lines: list[object] = []
    for rater, tally in sorted(tallies.items()):
        if tally.finished:
            lines.append(
                f"{rater}: {tally.made:,} of at most {tally.most:,} questions to jurors were asked about "
                f"{counted(tally.finished, 'unit')}, {percent(tally.saved)} less."
            )
        if broken := tally.stopped["failed for now"]:
            lines.append(
                f"{rater}: {counted(broken, 'unit')} interrupted by a failure that may be temporary. They "
                "count as neither "
                "asked nor saved; run the study again to go on with them."
            )
        for name, juror in tally.jurors.items():
            if not juror.asked:
                lines.append(f"{rater}: {name} was never asked.")
            elif juror.without_any > _MANY_LOST * juror.asked:
                lines.append(
                    f"{rater}: {name} gave no usable answer {juror.without_any:,} of {juror.asked:,} times. Others "
                    "were asked in its place, so its failures cost calls."
                )
    return lines


def _ends(material: Material, tallies: Mapping[str, AdaptiveTally]) -> Html:
    rows: list[dict[str, Cell]] = [
        {
            "judge": rater,
            "units": sum(tally.stopped.values()),
            **{title: tally.stopped[name] for name, title in STOPPED.items()},
            "questions asked": tally.made,
            "at most": tally.most,
            "saved (%)": None if tally.saved is None else 100 * tally.saved,
        }
        for rater, tally in sorted(tallies.items())
    ]
    return material.exhibits.table(
        "adaptive-ends",
        rows,
        caption="Why the jury stopped. A unit is what is asked at once about one answer; a question is one juror "
        "asked about it, however often it had to be asked for a usable answer. Units broken off, and those that "
        "could not be asked, are not in the last three columns",
        digits=1,
    )


def _distribution(material: Material, tallies: Mapping[str, AdaptiveTally]) -> Html:
    rows: list[dict[str, Cell]] = [
        {
            "judge": rater,
            "questions": number,
            "units": tally.asked[number],
            "share (%)": 100 * tally.asked[number] / tally.finished,
        }
        for rater, tally in sorted(tallies.items())
        for number in range(1, max(tally.asked, default=0) + 1)
    ]
    return material.exhibits.table(
        "adaptive-asked",
        rows,
        caption="How many questions to jurors a unit took",
        digits=1,
    )


def _jurors(material: Material, tallies: Mapping[str, AdaptiveTally]) -> Html:
    rows: list[dict[str, Cell]] = [
        {
            "judge": rater,
            "juror, in the order asked": name,
            "asked": juror.asked,
            "scores": juror.scores,
            "not applicable": juror.not_applicable,
            "votes lost": juror.lost,
            "answers without a vote": juror.without_any,
            "why lost": ", ".join(
                f"{why.replace('_', ' ')} {count:,}" for why, count in juror.reasons.most_common()
            ),
        }
        for rater, tally in sorted(tallies.items())
        for name, juror in tally.jurors.items()
    ]
    return material.exhibits.table(
        "adaptive-jurors",
        rows,
        caption="Votes by juror, one for each dimension; later jurors see the answers that earlier ones left open, "
        "so their votes do not compare with those of the first",
        digits=0,
    )
