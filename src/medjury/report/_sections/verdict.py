"""The first screen: may we trust this jury, for what, and how do we know?"""

from __future__ import annotations

from collections import Counter

from medjury.models import EMBEDDED
from medjury.report._html import Cell, Html, bullets, element, joined, paragraph, sentence
from medjury.report._material import Material, Section
from medjury.runs import jury_warnings, model_warnings
from medjury.validation import MEANING, STATISTICS, Verdict, Word

_ORDER: tuple[Word, ...] = ("INCOMPLETE", "NOT VALIDATED", "AUXILIARY", "VALIDATED")
_REASONS = 6


def section(material: Material) -> Section:
    verdicts, wanted = material.validation.verdicts, material.evidence.rules.statistic
    several = len(material.tried) > 1
    head = joined(_banner(material, rater) for rater in material.tried)
    if several:
        head = element("div", head, class_="verdicts")
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
        [(*((each.rater,) if several else ()), *_line(material, each)) for each in verdicts],
        caption=f"The gate, dimension by dimension. Agreement is {STATISTICS.get(wanted, wanted)}: 1 is perfect, "
        "0 is chance.",
    )
    silences = joined(
        element("p", sentence(warning), class_="note")
        for warning in material.validation.warnings
        if warning != material.evidence.problem
    )
    details = joined(_rules(material, verdict) for verdict in verdicts)
    title = "May we trust these juries?" if several else "May we trust this jury?"
    if several and material.evidence.table.no_jury:
        title = "May we trust these judges?"
    return Section(
        "verdict",
        title,
        Html(head + silences + table + element("h3", "Every rule, with its numbers") + details),
    )


def _line(material: Material, verdict: Verdict) -> tuple[Cell, ...]:
    evidence = material.tried.get(verdict.rater, material.evidence)
    _, jury, beside = evidence.agreed(evidence.table.dimension(verdict.dimension))
    dangers = evidence.dangers(evidence.table.dimension(verdict.dimension)) if evidence.clinicians else None
    errors = None if dangers is None else dangers[evidence.rules.danger_by]
    return (
        verdict.label,
        _badge(verdict.word),
        len(set(evidence.both(verdict.dimension)[0].items.tolist())),
        jury,
        None if beside is None else beside.human_human,
        None
        if errors is None
        else f"{errors.errors + errors.unscored:,} of {errors.dangerous + errors.unscored:,}",
        sentence(material.about(verdict.reasons[0], verdict.rater))
        if verdict.reasons
        else "Every rule is met.",
    )


def headline(verdicts: tuple[Verdict, ...]) -> tuple[Word, str]:
    """The worst word, and the words in a line: a jury is as good as the dimension it is used for."""
    counted: Counter[Word] = Counter(verdict.word for verdict in verdicts)
    worst: Word = next((word for word in _ORDER if counted[word]), "INCOMPLETE")
    if len(counted) < 2:
        return worst, worst
    parts = [
        f"{word} for {', '.join(verdict.label for verdict in verdicts if verdict.word == word)}"
        for word in reversed(_ORDER)
        if counted[word]
    ]
    return worst, "; ".join(parts)


def _banner(material: Material, rater: str) -> Html:
    verdicts = material.validation.of(rater)
    worst, line = headline(verdicts)
    reasons: dict[str, list[str]] = {}
    for verdict in verdicts:
        for reason in verdict.reasons:
            reasons.setdefault(reason, []).append(verdict.label)
    about = _about_the_models(material)
    lines = list(about)
    several = len(verdicts) > 1
    mixed = len({verdict.word for verdict in verdicts}) > 1
    # What holds everywhere first; a sort keeps the order within.
    for reason, labels in sorted(reasons.items(), key=lambda each: -len(each[1])):
        everywhere = len(labels) == len(verdicts)
        lines.append(reason if everywhere or not several else f"{', '.join(labels)}: {reason}")
    shown = max(_REASONS, len(about))
    more = len(lines) - shown
    kept = lines[:shown] + ([f"and {more} more reasons, below."] if more > 0 else [])
    meaning = joined(
        paragraph(*((element("strong", word), ": ") if mixed else ()), material.about(MEANING[word], rater))
        for word in dict.fromkeys(verdict.word for verdict in verdicts)
    )
    if not verdicts:
        why = material.evidence.manifest.why or "the run is not finished"
        meaning = joined(
            [paragraph("There are no ratings to judge by: ", why, "."), paragraph(MEANING[worst])]
        )
    who = element("p", rater, class_="whose") if len(material.tried) > 1 else Html("")
    return element(
        "div",
        who,
        element("p", line, class_="word"),
        meaning,
        bullets(sentence(material.about(each, rater)) for each in kept),
        class_=f"verdict {_class(worst)}",
    )


def _about_the_models(material: Material) -> list[str]:
    manifest = material.evidence.manifest
    lines = [*model_warnings(manifest), *jury_warnings(manifest)]
    own = any(
        model.kind == "embedded" and model.model in (None, EMBEDDED)
        for judge in manifest.judges
        for model in judge.models
    )
    if own:
        lines.append(
            "A judge of this jury is the embedded model, which is there so that everything runs offline on a real "
            "model. It is far too small to judge clinical text: its scores must not inform any decision."
        )
    return lines


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
    return element("span", word, class_=f"badge {_class(word)}")


def _class(word: Word) -> str:
    return word.lower().replace(" ", "-")
