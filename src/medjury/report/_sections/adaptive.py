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
_COUNTED = ("asked", "scores", "not applicable", "votes lost", "answers without a vote")  # of each juror


# As the records say it, and as a reader does.
STOPPED = {
    "settled": "nothing open",
    "all calls made": "open after all",
    "not asked": "could not be asked",
    "failed for now": "broken off",
}


@dataclass
class AdaptiveTally:
    """One adaptive jury. `asked[n]` counts the units that took n askings; those that were broken off, or could
    not be asked, are in `stopped` alone: what was not asked there was not saved. `jurors` has the counts of each
    juror by their columns in the table (a vote is a score, or "not applicable", on one dimension; an answer without
    a vote is one of which nothing could be used), and why votes were lost."""

    stopped: Counter[str] = field(default_factory=Counter)
    asked: Counter[int] = field(default_factory=Counter)
    made: int = 0
    most: int = 0  # askings, had every juror been asked about every finished unit
    jurors: dict[str, tuple[Counter[str], Counter[str]]] = field(default_factory=dict)

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
            self.jurors.setdefault(name, (Counter(), Counter()))
        if body.stopped == "not asked":
            return
        if body.stopped != "failed for now":
            self.asked[len(body.calls)] += 1
            self.made += len(body.calls)
            self.most += body.rule.maximum
        for call in body.calls:
            (counts, why_lost), votes = self.jurors[call.juror], call.outcomes.values()
            reasons = [vote.reason or "" for vote in votes if vote.status == "unscored"]
            counts["asked"] += 1
            counts["scores"] += sum(vote.status == "scored" for vote in votes)
            counts["not applicable"] += sum(vote.status == "not_applicable" for vote in votes)
            counts["votes lost"] += len(reasons)
            counts["answers without a vote"] += bool(reasons) and len(reasons) == len(votes)
            why_lost.update(reasons)


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
        for name, (counts, _) in tally.jurors.items():
            asked, unusable = counts["asked"], counts["answers without a vote"]
            if not asked:
                lines.append(f"{rater}: {name} was never asked.")
            elif unusable > _MANY_LOST * asked:
                lines.append(
                    f"{rater}: {name} gave no usable answer {unusable:,} of {asked:,} times. Others "
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
            **{column: counts[column] for column in _COUNTED},
            "why lost": ", ".join(
                f"{why.replace('_', ' ')} {count:,}" for why, count in why_lost.most_common()
            ),
        }
        for rater, tally in sorted(tallies.items())
        for name, (counts, why_lost) in tally.jurors.items()
    ]
    return material.exhibits.table(
        "adaptive-jurors",
        rows,
        caption="Votes by juror, one for each dimension; later jurors see the answers that earlier ones left open, "
        "so their votes do not compare with those of the first",
        digits=0,
    )
