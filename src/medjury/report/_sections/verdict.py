"""The first page, for those who decide: may we trust this jury, three numbers, and what to do next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from medjury.models import EMBEDDED
from medjury.report._facts import dangers_first
from medjury.report._first_page import LINES, fitting, lines_of, listed
from medjury.report._html import Html, bullets, element, joined, paragraph, sentence
from medjury.report._material import Material, Section, short
from medjury.report._sections.next_steps import first_steps
from medjury.report._sections.numbers import brief_numbers, legend, numbers
from medjury.store.runs import jury_warnings, model_warnings
from medjury.validation import MEANING, Verdict, Word

_ORDER: tuple[Word, ...] = ("INCOMPLETE", "NOT VALIDATED", "AUXILIARY", "VALIDATED")
_USELESS = ("INCOMPLETE", "NOT VALIDATED")
# Lines of the first page beside reasons and next steps: of one rater, of several, and of each of these.
_ONE, _SEVERAL, _EACH = 23, 14, 5
# So many reasons are read; so many raters stand side by side.
_REASONS, _BESIDE = 6, 5
# A line of the large word.
_LARGE = 52


def section(material: Material) -> Section:
    several = len(material.tried) > 1
    title = "May we trust these juries?" if several else "May we trust this jury?"
    if several and material.evidence.table.no_jury:
        title = "May we trust these judges?"
    note = material.evidence.manifest.report.note
    room = LINES - (lines_of(material.evidence.manifest.study, 40) - 1) * 2
    room -= lines_of(note) + 1 if note else 0
    body = _side_by_side(material, room) if several else _alone(material, room)
    said = paragraph(note, class_="note") if note else Html("")
    return Section("verdict", title, joined([said, body]))


def headline(verdicts: tuple[Verdict, ...]) -> tuple[Word, str]:
    """The worst word, and the words in a line: a jury is as good as the dimension it is used for."""
    counted: Counter[Word] = Counter(verdict.word for verdict in verdicts)
    worst: Word = next((word for word in _ORDER if counted[word]), "INCOMPLETE")
    if len(counted) < 2:
        return worst, worst
    parts = [
        f"{word} for {listed([verdict.label for verdict in verdicts if verdict.word == word])}"
        for word in reversed(_ORDER)
        if counted[word]
    ]
    return worst, "; ".join(parts)


def _alone(material: Material, room: int) -> Html:
    """The verdict on one jury, with its numbers and the reasons that stand in its way."""
    (rater,) = material.tried
    verdicts = material.validation.of(rater)
    worst, line = headline(verdicts)
    words = list(dict.fromkeys(verdict.word for verdict in verdicts)) or [worst]
    left = room - _ONE - 2 * (lines_of(line, _LARGE) - 1) - 2 * (len(words) - 1)
    nothing = (
        Html("")
        if verdicts
        else paragraph(
            "There are no ratings to judge by: ",
            short(material.evidence.manifest.why or "the run is not finished", 300),
            ".",
        )
    )
    steps, used = first_steps(material)
    banner = element(
        "div",
        element("p", line, class_="word"),
        nothing,
        _meanings(material, words, rater),
        _earned(material, verdicts, rater),
        numbers(material, rater),
        _why(
            material, worst, [*_about_the_models(material), *_reasons(verdicts).values()], left - used, rater
        ),
        class_=f"verdict {_class(worst)}",
    )
    return joined([banner, steps])


def _side_by_side(material: Material, room: int) -> Html:
    """A verdict for each of several: what holds for all of them is said once, below."""
    raters = list(material.tried)
    shown = raters if len(raters) <= _BESIDE else raters[: _BESIDE - 1]  # a line says how many more there are
    reasons = {rater: _reasons(material.validation.of(rater)) for rater in raters}
    everywhere = {why for why in reasons[raters[0]] if all(why in other for other in reasons.values())}
    cards, told = [], set()
    for rater in shown:
        verdicts = material.validation.of(rater)
        worst, line = headline(verdicts)
        main = _main_reason(verdicts, everywhere)
        told.add(main)
        cards.append(
            element(
                "div",
                element("p", short(rater, 40), class_="whose"),
                element("p", line if len(line) < _LARGE else f"{worst} and better", class_="word"),
                brief_numbers(material, rater),
                element("p", sentence(short(material.about(reasons[rater][main], rater), 230)))
                if main
                else Html(""),
                class_=f"verdict brief {_class(worst)}",
            )
        )
    more = len(raters) - len(shown)
    rest = paragraph(f"{more} more stand in the evidence, rule by rule.", class_="soft") if more else Html("")
    words = [word for word in _ORDER if any(each.word == word for each in material.validation.verdicts)]
    left = room - _SEVERAL - _EACH * len(shown) - len(words)
    steps, used = first_steps(material)
    shared = [why for why in reasons[raters[0]] if why in everywhere and why not in told]
    return joined(
        [
            element("div", *cards, class_="verdicts"),
            rest,
            legend(material),
            _meanings(material, words),
            _why(material, words[0], [*_about_the_models(material), *shared], left - used),
            steps,
        ]
    )


def _meanings(material: Material, words: Sequence[Word], rater: str = "") -> Html:
    """What each word means; which is which is said where there are several."""
    several = len(words) > 1
    return joined(
        paragraph(
            *((element("strong", word), ": ") if several else ()), _about(material, MEANING[word], rater)
        )
        for word in words
    )


def _earned(material: Material, verdicts: Sequence[Verdict], rater: str) -> Html:
    """What a colleague does and what the jury does, in numbers, where one dimension is judged; the scope of the
    word; and what nobody stated."""
    said = [each.numbers for each in verdicts if each.numbers] if len(verdicts) == 1 else []
    scopes = {each.scope.text() for each in verdicts} - {""}
    said += (
        [f"Scope: {scopes.pop()}." if len(scopes) == 1 else "The scope of each dimension is in the evidence."]
        if scopes
        else []
    )
    humans = material.evidence.manifest.humans
    if material.evidence.clinicians and (humans is None or humans.blinded is None):
        said.append("Whether the clinicians had seen the jury's scores is not stated.")
    if material.evidence.table.manifest is not None and material.evidence.manifest.injection is None:
        said.append("Whether an instruction in the judged text moves the jury was not audited.")
    return paragraph(_about(material, " ".join(said), rater)) if said else Html("")


def _reasons(verdicts: Sequence[Verdict]) -> dict[str, str]:
    """Every reason once, the heaviest first, and as it is told: with the dimensions that it is for, unless it is
    for all."""
    about: dict[str, list[str]] = {}
    for rule in dangers_first([rule for verdict in verdicts for rule in verdict.not_met]):
        about[rule.why] = [verdict.label for verdict in verdicts if rule.why in verdict.reasons]
    return {
        why: why if len(labels) == len(verdicts) else f"{listed(labels)}: {why}"
        for why, labels in about.items()
    }


def _main_reason(verdicts: Sequence[Verdict], everywhere: Collection[str]) -> str:
    """What stands most in the way of one of several: what forbids any use before the rest, its own before what
    stands in the way of all, and danger first."""
    rules = dangers_first([rule for verdict in verdicts for rule in verdict.not_met])
    weighed = sorted(rules, key=lambda rule: (not rule.essential, rule.why in everywhere))
    return weighed[0].why if weighed else ""


def _why(material: Material, worst: Word, reasons: Sequence[str], room: int, rater: str = "") -> Html:
    if not reasons:
        return Html("")
    kept = fitting(reasons, room, max(_REASONS, len(_about_the_models(material))))
    told = [sentence(_about(material, each, rater)) for each in reasons[:kept]]
    more = len(reasons) - kept
    told += [sentence(f"and {more} more, in the evidence, rule by rule.")] if more else []
    title = "Why" if worst in _USELESS else "Why it is not better"
    return joined([paragraph(title, class_="why"), bullets(told)])


def _about(material: Material, words: str, rater: str) -> str:
    return material.about(words, rater) if rater else material.about_each(words)


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
