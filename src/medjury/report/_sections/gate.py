"""The gate: the verdict on every dimension with its numbers and its main reason, and every rule behind it."""

from __future__ import annotations

from medjury.report._facts import Facts, dangers_first
from medjury.report._html import Cell, Html, bullets, element, joined, paragraph, sentence
from medjury.report._material import Material, Section
from medjury.report._sections.next_steps import next_steps, steps_shown
from medjury.validation import STATISTICS, RuleFound, Verdict, Word


def section(material: Material) -> Section | None:
    verdicts, wanted = material.validation.verdicts, material.evidence.rules.statistic
    several = len(material.tried) > 1
    table = material.exhibits.table(
        "verdicts",
        (
            *(("rater",) if several else ()),
            "dimension",
            "verdict",
            "held-out cases",
            "judge with clinician" if material.evidence.table.no_jury else "jury with clinician",
            "clinician with clinician",
            "severe errors or no score",
            "the main reason",
        ),
        [(*((each.verdict.rater,) if several else ()), *_line(material, each)) for each in material.facts],
        caption=f"The gate, dimension by dimension. Agreement is {STATISTICS.get(wanted, wanted)}: 1 is perfect, "
        "0 is chance.",
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


def _line(material: Material, facts: Facts) -> tuple[Cell, ...]:
    verdict = facts.verdict
    return (
        verdict.label,
        _badge(verdict.word),
        facts.cases,
        facts.agreed,
        None if facts.beside is None else facts.beside.human_human,
        None if facts.errors is None else f"{facts.missed:,} of {facts.dangerous:,}",
        sentence(material.about(_main_reason(material, verdict), verdict.rater)),
    )


def _main_reason(material: Material, verdict: Verdict) -> str:
    """What stands in the way of this dimension first; what stands in the way of all is told with it where it alone
    would forbid any use, and by itself where there is nothing else."""
    if not verdict.not_met:
        return "Every rule is met."
    others = [each for each in material.validation.of(verdict.rater) if each is not verdict]

    def everywhere(rule: RuleFound) -> bool:
        return all(rule.why in each.reasons for each in others)

    rules = dangers_first(verdict.not_met)
    own = [rule.why for rule in rules if not others or not everywhere(rule)]
    shared = [rule for rule in rules if rule.why not in own]
    heavy = [rule.why for rule in shared if rule.essential]
    return " ".join([*own[:1], *heavy[:1]] or [shared[0].why])


def _rules(material: Material, verdict: Verdict) -> Html:
    rows = [
        (
            material.about(rule.name, verdict.rater),
            rule.state,
            sentence(material.about(rule.asked, verdict.rater)),
            sentence(material.about(rule.found, verdict.rater)),
            material.about(rule.lines.clinician, verdict.rater),
            material.about(rule.lines.statistician, verdict.rater),
            "yes" if rule.essential else "no",
        )
        for rule in verdict.rules
    ]
    table = material.exhibits.table(
        f"gate-{_slug(material, verdict)}",
        (
            "rule",
            "state",
            "what is asked",
            "what was found",
            "for a clinician",
            "for a statistician",
            "needed even beside a clinician",
        ),
        rows,
        caption=f"{_titled(material, verdict)}: the rules of the gate",
    )
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
