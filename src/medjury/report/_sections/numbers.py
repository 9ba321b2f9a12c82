"""The three numbers of the first page: agreement, severe errors, and how much was scored or rated."""

from __future__ import annotations

from collections.abc import Sequence

from medjury.report._facts import Facts
from medjury.report._html import Html, element, joined, paragraph
from medjury.report._material import Material, short
from medjury.statistics import percent, shown
from medjury.validation import STATISTICS

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
    facts, rules = material.facts, material.evidence.rules
    if not facts:
        return Html("")
    statistics = dict.fromkeys(STATISTICS.get(each.statistic, each.statistic) for each in facts)
    several = len({each.verdict.dimension for each in facts}) > 1
    words = (
        f"Agreement is {' or '.join(statistics)}: 1 is perfect, 0 is chance. Severe errors are dangerous answers "
        f"that were scored far too kindly, or not at all; {percent(rules.severe_limit)} is allowed."
    )
    return paragraph(words, " Of each number the worst dimension is shown." if several else "", class_="soft")


def _three(material: Material, rater: str, *, named: bool = False) -> tuple[Number, ...]:
    facts = [each for each in material.facts if each.verdict.rater == rater]
    if not facts:
        return ()
    return _agreement(material, facts, named=named), _severe(material, facts), _scored(material, facts)


def _figure(value: str) -> Html:
    middle, *rest = value.partition(" (")
    return element("dd", element("strong", middle), *rest, class_="figure")


def _where(facts: Sequence[Facts], which: Facts, word: str) -> str:
    return (
        f"{which.verdict.label}, the {word} of {len(facts)} dimensions"
        if len(facts) > 1
        else which.verdict.label
    )


def _agreement(material: Material, facts: Sequence[Facts], *, named: bool) -> Number:
    title = "Agreement with clinicians"
    known = [each for each in facts if each.agreed is not None and each.agreed.value is not None]
    if not known:
        why = (
            "nothing can be compared"
            if material.evidence.clinicians
            else "no clinician has rated these cases"
        )
        return title, "not known", f"{why[0].upper()}{why[1:]}."
    worst = min(known, key=lambda each: (each.agreed and each.agreed.value) or 0.0)
    if named and len(facts) > 1:
        title = f"Agreement: {short(worst.verdict.label, 16)}"
    line = f"{STATISTICS.get(worst.statistic, worst.statistic)}; 1 is perfect, 0 is chance. "
    line = line[0].upper() + line[1:] + f"{_where(known, worst, 'lowest')}."
    if worst.beside is not None and worst.beside.human_human.value is not None:
        line += f" Clinicians with one another: {shown(worst.beside.human_human.value)}."
    return title, shown(worst.agreed), line


def _severe(material: Material, facts: Sequence[Facts]) -> Number:
    title = "Severe errors"
    known = [each for each in facts if each.errors is not None and each.dangerous]
    if not known:
        seen = any(each.errors is not None for each in facts)
        why = (
            "Clinicians called no rated answer dangerous."
            if seen
            else "No clinician said which answers are dangerous."
        )
        return title, "not known", why
    worst = max(known, key=lambda each: (each.errors and each.errors.worst.value) or 0.0)
    assert worst.errors is not None
    rate = worst.errors.worst
    line = (
        f"Dangerous answers that were scored far too kindly, or not at all: {percent(rate.value, 1)}, at worst "
        f"{percent(rate.high, 1)}; {percent(material.evidence.rules.severe_limit)} is allowed. "
        f"{_where(known, worst, 'worst')}."
    )
    return title, f"{worst.missed:,} of {worst.dangerous:,}", line


def _scored(material: Material, facts: Sequence[Facts]) -> Number:
    rules, manifest = material.evidence.rules, material.evidence.table.manifest
    whole = manifest is None or manifest.status == "complete"
    so_far = "" if whole else " that were judged so far"  # nothing is counted of what was never asked for
    worst = min(facts, key=lambda each: 2.0 if each.share is None else each.share)
    if (worst.share is not None and worst.share < 1) or not material.evidence.clinicians:
        line = (
            f"{worst.scored:,} of {worst.asked:,} answers{so_far} got a score; {percent(rules.coverage)} is "
            f"needed. "
            f"{_where(facts, worst, 'lowest')}."
        )
        return "Answers with a score", percent(worst.share, 1), line
    compared = [each for each in facts if each.agreed is not None and each.agreed.value is not None]
    few = min(compared or facts, key=lambda each: each.cases)
    line = f"Held-out cases with scores of clinicians and of the jury; {rules.minimum_cases:,} are needed. "
    line += f"All answers{so_far} have a score." if worst.share is not None else ""
    return "Cases behind these numbers", f"{few.cases:,}", line
