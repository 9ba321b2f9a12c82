"""The first page, for those who decide: may we trust this jury, three numbers, and what to do next."""

from __future__ import annotations

from collections import Counter

from medjury.models import EMBEDDED
from medjury.report._html import Html, bullets, element, joined, paragraph, sentence
from medjury.report._material import Material, Section
from medjury.report._sections.next_steps import SHOWN, next_steps
from medjury.report._sections.numbers import numbers
from medjury.runs import jury_warnings, model_warnings
from medjury.validation import MEANING, Verdict, Word

_ORDER: tuple[Word, ...] = ("INCOMPLETE", "NOT VALIDATED", "AUXILIARY", "VALIDATED")
_USELESS = ("INCOMPLETE", "NOT VALIDATED")
# So many reasons leave room on the first page; fewer where several are judged.
_REASONS, _BESIDE = 5, 2


def section(material: Material) -> Section:
    several = len(material.tried) > 1
    head = joined(_banner(material, rater) for rater in material.tried)
    if several:
        head = element("div", head, class_="verdicts")
    title = "May we trust these juries?" if several else "May we trust this jury?"
    if several and material.evidence.table.no_jury:
        title = "May we trust these judges?"
    steps = next_steps(material)
    more = len(steps) - SHOWN
    kept = [*steps[:SHOWN], *([f"and {more} more, with the rules below."] if more > 0 else [])]
    next_ = Html(element("h3", "What to do next") + bullets(kept)) if kept else Html("")
    return Section("verdict", title, joined([head, next_]))


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
    shown = max(_REASONS if len(material.tried) == 1 else _BESIDE, len(about))
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
        numbers(material, rater),
        paragraph("Why" if worst in _USELESS else "Why it is not better", class_="why") if kept else Html(""),
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


def _class(word: Word) -> str:
    return word.lower().replace(" ", "-")
