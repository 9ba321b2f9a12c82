"""Is the jury worth more than its best judge? How many votes it has in effect, and which judges repeat another."""

from __future__ import annotations

from medjury.analysis.agreement import JuryWorth, JuryWorthRow, jury_worth
from medjury.foundation.errors import MedjuryError
from medjury.report._html import Cell, Html, bullets, paragraph
from medjury.report._material import Material, Section
from medjury.statistics import Estimate, counted, percent, shown
from medjury.validation import STATISTICS

_TITLE = "Is the jury worth more than its best judge?"
_WORDS = {True: "the jury", False: "the best judge", None: "not known"}


def section(material: Material) -> Section | None:
    """Nothing where no clinician rated, or no jury has two or more judges."""
    evidence = material.evidence
    if not evidence.clinicians or evidence.table.no_jury:
        return None
    try:
        found = jury_worth(
            evidence.table,
            raters=evidence.named[0],
            reference=evidence.named[1],
            confidence=evidence.confidence,
            resamples=evidence.resamples,
            seed=evidence.seed,
        )
    except MedjuryError:
        return None
    several = len({row.jury for row in found.rows}) > 1
    rows: list[tuple[Cell, ...]] = [
        (
            evidence.label(row.dimension),
            *((row.jury,) if several else ()),
            row.n,
            len(row.jurors),
            row.votes,
            row.jury_agreement,
            row.best,
            row.best_agreement,
            row.difference,
            _WORDS[row.better],
        )
        for row in found.rows
    ]
    statistics = ", ".join(dict.fromkeys(STATISTICS[row.statistic] for row in found.rows))
    head = (
        "answers",
        "judges",
        "effective votes",
        "jury",
        "best judge",
        "its agreement",
        "difference",
        "agrees more",
    )
    table = material.exhibits.table(
        "jury-worth",
        ("dimension", *(("jury's name",) if several else ()), *head),
        rows,
        caption=f"Agreement ({statistics}) is with {evidence.reference_words}, on the answers that the jury and "
        f"all of its judges scored, with {percent(evidence.confidence)} intervals. The best judge is the one that "
        "agrees most on these very answers, which flatters it; the interval of the difference allows for that",
        shown=40,
    )
    return Section(
        "jury-worth", _TITLE, Html(paragraph(_lead(found)) + bullets(_words(material, found)) + table)
    )


def _lead(found: JuryWorth) -> str:
    said = (
        "Judges that make the same errors are one vote, however many they are. Effective votes are how many judges "
        "with unrelated errors would do as well as this jury. A judge's error is its score less the clinicians' "
        "mean. "
    )
    if all(row.corrected for row in found.rows):
        return said + "The clinicians' own noise, which is in every judge's error, is taken out."
    return said + (
        "Where one clinician rated, the clinician's own noise is in every judge's error and makes the judges look "
        "alike: there the number of votes is too low."
    )


def _words(material: Material, found: JuryWorth) -> list[str]:
    """What the table says, a sentence for each dimension; and who is a copy of whom."""
    several = len({row.jury for row in found.rows}) > 1
    lines = [
        f"{material.evidence.label(row.dimension)}{f' ({row.jury})' if several else ''}: {_sentence(row)}"
        for row in found.rows[:12]
    ]
    groups = dict.fromkeys(group for row in found.rows for group in row.copies)
    for group in groups:
        where = [material.evidence.label(row.dimension) for row in found.rows if group in row.copies]
        lines.append(
            f"{' and '.join(group)} are in effect copies of one another on {', '.join(dict.fromkeys(where))}: they "
            "give the same score, or make the same errors, nearly always. Together they are one vote."
        )
    return lines


def _sentence(row: JuryWorthRow) -> str:
    votes = (
        f"the votes of its {len(row.jurors)} judges cannot be counted ({row.votes.reason})"
        if row.votes.value is None
        else f"its {len(row.jurors)} judges count as {_with_ends(row.votes, 1)}"
        f" {'vote' if shown(row.votes.value, 1) == '1.0' else 'votes'}"
    )
    if row.difference.value is None:
        return f"{votes}; its agreement cannot be compared with that of its best judge."
    jury, best = shown(row.jury_agreement.value), shown(row.best_agreement.value)
    beside = f"the jury agrees {jury}, its best judge ({row.best}) {best}"
    told = {
        True: "the jury agrees more than any of its judges",
        False: "the best judge alone agrees more than the jury",
        None: "it is not shown that the jury agrees more than its best judge",
    }[row.better]
    return f"{votes}; {beside}: {told}, on {counted(row.n, 'answer')}."


def _with_ends(found: Estimate, digits: int) -> str:
    ends = "" if found.low is None else f" ({shown(found.low, digits)} to {shown(found.high, digits)})"
    return f"{shown(found.value, digits)}{ends}"
