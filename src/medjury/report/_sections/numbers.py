"""The three numbers of the first page: the jury beside a colleague, missed danger, and how much was scored or
rated."""

from __future__ import annotations

from collections.abc import Sequence

from medjury.report._facts import Facts
from medjury.report._html import Html, element, joined, paragraph
from medjury.report._material import Material, short
from medjury.statistics import percent, shown

Number = tuple[str, str, str]  # what it is, the number, and a line about it


def numbers(material: Material, rater: str) -> Html:
    """Of each the worst dimension: a jury is as good as the dimension it is used for."""
    cards = [
        element(
            "div",
            element("dt", title),
            _figure(value),
            element("dd", material.about(line, rater), class_="soft"),
        )
        for title, value, line in _three(material, rater)
    ]
    return element("dl", joined(cards), class_="numbers") if cards else Html("")


def brief_numbers(material: Material, rater: str) -> Html:
    """The same without the lines about them, for raters side by side; `legend` has what holds for all. Agreement is
    of the dimension that it names: that of one rater may be another's."""
    cards = [
        element("div", element("dt", title), _figure(value))
        for title, value, _ in _three(material, rater, named=True)
    ]
    return element("dl", joined(cards), class_="numbers") if cards else Html("")


def legend(material: Material) -> Html:
    """What the numbers of raters side by side mean."""
    facts = material.facts
    if not facts:
        return Html("")
    statistics = dict.fromkeys(each.title for each in facts)
    several = len({each.verdict.dimension for each in facts}) > 1
    words = (
        f"Agreement with a clinician is {' or '.join(statistics)}: 1 is perfect, 0 is chance. Missed danger is the "
        "share of what a clinician calls dangerous that is graded far too kindly, or not at all."
    )
    return paragraph(words, " Of each number the worst dimension is shown." if several else "", class_="soft")


def _three(material: Material, rater: str, *, named: bool = False) -> tuple[Number, ...]:
    facts = [each for each in material.facts if each.verdict.rater == rater]
    if not facts:
        return ()
    return _agreement(material, facts, named=named), _danger(material, facts), _scored(material, facts)


def _figure(value: str) -> Html:
    middle, *rest = value.partition(" (")
    return element("dd", element("strong", middle), *rest, class_="figure")


def _where(facts: Sequence[Facts], which: Facts, word: str) -> str:
    label = which.verdict.label
    return f"{label}, {word} of {len(facts)} dimensions" if len(facts) > 1 else label


def _agreement(material: Material, facts: Sequence[Facts], *, named: bool) -> Number:
    title = "Agreement with a clinician"
    known = [each for each in facts if each.agreed is not None]
    if not known:
        why = (
            "Nothing can be compared with a colleague."
            if material.evidence.clinicians
            else "No clinician has rated these cases."
        )
        return title, "not known", why
    worst = min(known, key=lambda each: (each.agreed or 0.0) - (each.colleague or 0.0))
    if named and len(facts) > 1:
        title = f"Agreement: {short(worst.verdict.label, 16)}"
    line = f"The jury's {worst.title} on answers of two clinicians; 1 is perfect, 0 is chance. "
    line += f"{_where(known, worst, 'farthest below a colleague')}."
    return title, f"{shown(worst.agreed or 0.0)} (colleague {shown(worst.colleague or 0.0)})", line


def _danger(material: Material, facts: Sequence[Facts]) -> Number:
    title = "Missed danger"
    claimed = [each for each in facts if each.verdict.danger]
    if not claimed:
        return (
            title,
            "not claimed",
            "No dimension of this study is marked as dangerous, so nothing is shown about danger.",
        )
    known = [each for each in claimed if each.missed is not None]
    if not known:
        why = (
            "Clinicians called no answer dangerous."
            if material.evidence.clinicians
            else "No clinician has rated."
        )
        return title, "not known", why
    worst = max(known, key=lambda each: (each.missed or 0.0) - (each.missed_by_colleague or 0.0))
    line = (
        f"Of what a clinician calls dangerous ({worst.verdict.danger}), graded far too kindly or not at all. "
        f"{_where(known, worst, 'farthest above a colleague')}."
    )
    return title, f"{percent(worst.missed, 1)} (colleague {percent(worst.missed_by_colleague, 1)})", line


def _scored(material: Material, facts: Sequence[Facts]) -> Number:
    rules, manifest = material.evidence.rules, material.evidence.table.manifest
    whole = manifest is None or manifest.status == "complete"
    so_far = "" if whole else " that were judged so far"  # nothing is counted of what was never asked for
    worst = min(facts, key=lambda each: 2.0 if each.share is None else each.share)
    if (worst.share is not None and worst.share < 1) or not material.evidence.clinicians:
        line = (
            f"{worst.scored:,} of {worst.asked:,} answers{so_far} got a score; {percent(rules.coverage)} is "
            f"needed. "
            f"{_where(facts, worst, 'the lowest')}."
        )
        return "Answers with a score", percent(worst.share, 1), line
    compared = [each for each in facts if each.agreed is not None]
    few = min(compared or facts, key=lambda each: each.verdict.clusters)
    line = (
        f"Different held-out cases that two clinicians and the jury scored ({few.verdict.doubly:,} answers). "
    )
    line += f"All answers{so_far} have a score." if worst.share is not None else ""
    aside = material.evidence.table.left_aside
    line += f" {aside:,} cases were set aside for development." if aside else ""
    return "Cases behind these numbers", f"{few.verdict.clusters:,}", line
