"""The gate: the verdict on every dimension with its numbers and its main reason, and every rule behind it."""

from __future__ import annotations

from medjury.report._html import Cell, Html, bullets, element, joined, paragraph, sentence
from medjury.report._material import Facts, Material, Section, dangers_first
from medjury.report._sections.next_steps import next_steps, steps_shown
from medjury.statistics import percent, shown
from medjury.validation import STATISTICS, Rule, Verdict, Word


def gate(material: Material) -> Section | None:
    verdicts, wanted = material.validation.verdicts, material.evidence.rules.statistic
    several = len(material.tried) > 1
    table = material.exhibits.table(
        "verdicts",
        [_line(material, each, named=several) for each in material.facts],
        head=("dimension", "verdict"),
        caption=f"The gate, dimension by dimension. Agreement is {STATISTICS.get(wanted, wanted)} on "
        "answers that two "
        "clinicians rated: 1 is perfect, 0 is chance.",
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


def _line(material: Material, facts: Facts, *, named: bool) -> dict[str, Cell]:
    verdict = facts.verdict
    who = "judge" if not material.evidence.table.juries else "jury"
    return {
        **({"rater": verdict.rater} if named else {}),
        "dimension": verdict.label,
        "verdict": _badge(verdict.word),
        "cases rated by two": verdict.clusters,
        f"{who} with clinician": facts.agreed,
        "colleague with clinician": facts.colleague,
        "share of danger missed": facts.missed,
        "share missed by a colleague": facts.missed_by_colleague,
        "scope": _scope(verdict),
        "the main reason": sentence(material.about(_main_reason(material, verdict), verdict.rater)),
    }


def _scope(verdict: Verdict) -> str:
    if verdict.word in ("VALIDATED", "AUXILIARY"):
        return verdict.earned_scope or "nothing tells cases apart"
    return "none: the scores may be relied on for no kind of case"


def _main_reason(material: Material, verdict: Verdict) -> str:
    """What is in the way of this dimension first; what is in the way of all is stated with it where it alone
    would forbid any use, and by itself where there is nothing else."""
    if not verdict.not_met:
        return "Every requirement is met."
    others = [each for each in material.validation.of(verdict.rater) if each is not verdict]

    def everywhere(rule: Rule) -> bool:
        return all(rule.why in each.reasons for each in others)

    rules = dangers_first(verdict.not_met)
    own = [rule.why for rule in rules if not others or not everywhere(rule)]
    shared = [rule for rule in rules if rule.why not in own]
    heavy = [rule.why for rule in shared if rule.essential]
    return " ".join([*own[:1], *heavy[:1]] or [shared[0].why])


def _rules(material: Material, verdict: Verdict) -> Html:
    title, slug = _titled(material, verdict), _slug(material, verdict)
    lines = material.exhibits.table(
        f"gate-{slug}",
        [
            {
                "line": material.about(rule.name, verdict.rater),
                "state": rule.state,
                "jury": _number(rule, rule.jury),
                "colleague": _number(rule, rule.colleague),
                "difference": _number(rule, rule.value),
                "at worst": _worst(rule),
                "limit": _number(rule, rule.limit),
                "for a clinician": material.about(rule.clinician, verdict.rater),
            }
            for rule in verdict.rules
            if rule.line
        ],
        caption=f"{title}: the colleague test. Every line must be met; each is tested one-sided at 5 %",
    )
    before = material.exhibits.table(
        f"preconditions-{slug}",
        [
            {
                "precondition": material.about(rule.name, verdict.rater),
                "state": rule.state,
                "what is asked": sentence(material.about(rule.asked, verdict.rater)),
                "what was found": sentence(material.about(rule.found, verdict.rater)),
                "best word left": "" if rule.met else rule.cap,
                "for a statistician": rule.statistician,
            }
            for rule in verdict.rules
            if not rule.line
        ],
        caption=f"{title}: what must be so before the test means anything",
    )
    table = joined([lines, before])
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


def _number(rule: Rule, value: float | None) -> str | None:
    """A share in per cent where the line is one of danger."""
    return None if value is None else percent(value, 1) if rule.danger else shown(value)


def _worst(rule: Rule) -> str | None:
    """The bound that decides: both of an offset, the upper one of missed danger, else the lower one."""
    if rule.id == "offset":
        return None if rule.low is None or rule.high is None else f"{shown(rule.low)} to {shown(rule.high)}"
    return _number(rule, rule.high if rule.danger else rule.low)
