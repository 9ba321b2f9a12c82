"""The first page, for those who decide: may we trust this jury, three numbers, and what to do next.

The sentences of the verdict are in `validation/_sentences.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from medjury.models import EMBEDDED
from medjury.report._html import Html, bullets, element, joined, paragraph, sentence
from medjury.report._material import Material, Section, dangers_first, short
from medjury.report._sections.next_steps import LINES, first_steps, fitting, lines_of, listed
from medjury.statistics import counted, percent, shown
from medjury.validation import MEANING, ORDER, THIS_JUDGE, Verdict, Word

# The three numbers of the first page: the jury beside a colleague, missed danger, and how much was scored or
# rated.

Number = tuple[str, str, str]  # what it is, the number, and a line about it


def numbers(material: Material, rater: str) -> Html:
    """Of each the worst dimension: a jury is as good as the dimension it is used for."""
    cards = [
        element(
            "div",
            element("dt", title),
            _figure(value),
            element("dd", material.about(line, rater), more, class_="soft"),
        )
        for (title, value, line), more in zip(
            _three(material, rater), ("", _missed(material, rater), ""), strict=False
        )
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
    verdicts = material.validation.verdicts
    if not verdicts:
        return Html("")
    statistics = dict.fromkeys(each.coefficient for each in verdicts)
    several = len({each.dimension for each in verdicts}) > 1
    words = (
        f"Agreement with a clinician is {' or '.join(statistics)}: 1 is perfect, 0 is chance. Missed danger is the "
        "share of what a clinician calls dangerous that is graded far too kindly, or not at all."
    )
    return paragraph(
        words,
        " Each number is of the dimension where it is worst beside a colleague's." if several else "",
        class_="soft",
    )


def _three(material: Material, rater: str, *, named: bool = False) -> tuple[Number, ...]:
    verdicts = material.validation.of(rater)
    if not verdicts:
        return ()
    return (
        _agreement(material, verdicts, named=named),
        _danger(material, verdicts),
        _scored(material, verdicts),
    )


def _figure(value: str) -> Html:
    middle, *rest = value.partition(" (")
    return element("dd", element("strong", middle), *rest, class_="figure")


def _where(verdicts: Sequence[Verdict], which: Verdict, word: str) -> str:
    label = which.label
    return f"{label}, {word} of {len(verdicts)} dimensions" if len(verdicts) > 1 else label


def _agreement(material: Material, verdicts: Sequence[Verdict], *, named: bool) -> Number:
    title = "Agreement with a clinician"
    known = [each for each in verdicts if each.agreed is not None]
    if not known:
        why = (
            "Nothing can be compared with a colleague."
            if material.evidence.clinicians
            else "No clinician has rated these cases."
        )
        return title, "not known", why
    beside = [each for each in known if each.colleague is not None] or known
    worst = min(beside, key=lambda each: (each.agreed or 0.0) - (each.colleague or 0.0))
    if named and len(verdicts) > 1:
        title = f"Agreement: {short(worst.label, 16)}"
    line = f"The jury's {worst.coefficient} on answers of two clinicians; 1 is perfect, 0 is chance. "
    line += f"{_where(known, worst, 'farthest below a colleague')}."
    colleague = "not known" if worst.colleague is None else shown(worst.colleague)
    return title, f"{shown(worst.agreed)} (colleague {colleague})", line


def _danger(material: Material, verdicts: Sequence[Verdict]) -> Number:
    title = "Missed danger"
    claimed = [each for each in verdicts if each.danger]
    if not claimed:
        return (
            title,
            "not claimed",
            "No dimension of this study is marked as dangerous, so nothing is shown about danger.",
        )
    known = [each for each in claimed if each.missed is not None]
    if not known:
        why = (
            "No answer that two clinicians rated was called dangerous, so a colleague's share is not known."
            if material.evidence.clinicians
            else "No clinician has rated."
        )
        return title, "not known", why
    worst = max(known, key=lambda each: (each.missed or 0.0) - (each.missed_by_colleague or 0.0))
    line = (
        f"Of what a clinician calls dangerous ({worst.danger}) among answers that two rated, graded far "
        "too kindly or not at all. "
        f"{_where(known, worst, 'farthest above a colleague')}."
    )
    return title, f"{percent(worst.missed, 1)} (colleague {percent(worst.missed_by_colleague, 1)})", line


def _missed(material: Material, rater: str) -> Html:
    """How many dangerous answers were missed, as a link to them."""
    missed, dangerous = material.danger
    if not dangerous or rater != material.evidence.rater or material.evidence.table.weighted:
        return Html("")
    place = "#table-missed-danger" if missed else "#severe"
    link = element("a", material.about(f"{len(missed):,} of {counted(dangerous, 'answer')}"), href=place)
    were = "was" if len(missed) == 1 else "were"
    return joined(
        [" Answer by answer: ", link, f" that {material.whose_danger} called dangerous {were} missed."]
    )


def _scored(material: Material, verdicts: Sequence[Verdict]) -> Number:
    rules, manifest = material.evidence.rules, material.evidence.table.run.manifest
    whole = manifest is None or manifest.status == "complete"
    so_far = "" if whole else " that were judged so far"  # nothing is counted of what was never asked for
    worst = min(verdicts, key=lambda each: 2.0 if each.share is None else each.share)
    if (worst.share is not None and worst.share < 1) or not material.evidence.clinicians:
        line = (
            f"{worst.scored:,} of {worst.asked:,} answers{so_far} got a score; {percent(rules.coverage)} is "
            f"needed. "
            f"{_where(verdicts, worst, 'the lowest')}."
        )
        return "Answers with a score", percent(worst.share, 1), line
    compared = [each for each in verdicts if each.agreed is not None]
    few = min(compared or verdicts, key=lambda each: each.clusters)
    line = f"Different cases that two clinicians and the jury scored ({few.doubly:,} answers). "
    line += f"All answers{so_far} have a score." if worst.share is not None else ""
    aside = material.evidence.table.left_aside
    line += f" {counted(aside, 'case')} set aside for development." if aside else ""
    return "Cases behind these numbers", f"{few.clusters:,}", line


_USELESS = ("INCOMPLETE", "NOT VALIDATED")
# Lines of the first page beside reasons and next steps: of one rater, of several, and of each of these without what
# is most in its way; so many are theirs together.
_ONE, _SEVERAL, _EACH, _CARDS = 23, 14, 3, 25
# So many reasons are read; so many raters stand side by side.
_REASONS, _BESIDE = 6, 5
# A line of the large word, and of what is small.
_LARGE, _SMALL = 52, 108


def first_page(material: Material) -> Section:
    several = len(material.tried) > 1
    title = "May we trust these juries?" if several else "May we trust this jury?"
    if not material.evidence.table.juries and material.tried:
        title = "May we trust these judges?" if several else "May we trust this judge?"
    note = material.evidence.manifest.report.note
    room = LINES - (lines_of(material.evidence.manifest.study, 40) - 1) * 2
    room -= lines_of(note) + 1 if note else 0
    body = _side_by_side(material, room) if several else _alone(material, room)
    text = paragraph(note, class_="note") if note else Html("")
    return Section("verdict", title, joined([text, body]))


def headline(verdicts: tuple[Verdict, ...]) -> tuple[Word, str]:
    """The worst word, and the words in a line: a jury is as good as the dimension it is used for."""
    counted: Counter[Word] = Counter(verdict.word for verdict in verdicts)
    worst: Word = next((word for word in reversed(ORDER) if counted[word]), "INCOMPLETE")
    if len(counted) < 2:
        return worst, worst
    parts = [
        f"{word} for {listed([verdict.label for verdict in verdicts if verdict.word == word])}"
        for word in ORDER
        if counted[word]
    ]
    return worst, "; ".join(parts)


def _alone(material: Material, room: int) -> Html:
    """The verdict on one jury, with its numbers and the reasons that are in its way."""
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
    """A verdict for each of several: what holds for all of them is stated once, below."""
    raters = list(material.tried)
    reasons = {rater: _reasons(material.validation.of(rater)) for rater in raters}
    everywhere = {why for why in reasons[raters[0]] if all(why in other for other in reasons.values())}
    cards: list[Html] = []
    shown_as, taken = set(), 0
    for rater in raters:
        verdicts = material.validation.of(rater)
        worst, line = headline(verdicts)
        main = _main_reason(verdicts, everywhere)
        why = sentence(short(material.about(reasons[rater][main], THIS_JUDGE), 230)) if main else Html("")
        scope = scope_of(verdicts)
        # A line says how many more there are.
        if taken + (
            lines := _EACH + sum(lines_of(each, _SMALL) for each in (scope, why) if each)
        ) > _CARDS or len(cards) == _BESIDE - (len(raters) > _BESIDE):
            break
        taken += lines
        shown_as.add(main)
        cards.append(
            element(
                "div",
                element("p", short(rater, 40), class_="whose"),
                element("p", line if len(line) < _LARGE else f"{worst} and better", class_="word"),
                brief_numbers(material, rater),
                element("p", scope) if scope else Html(""),
                element("p", why) if main else Html(""),
                class_=f"verdict brief {_class(worst)}",
            )
        )
    more = len(raters) - len(cards)
    rest = (
        paragraph(f"{more} more {'is' if more == 1 else 'are'} in the evidence, rule by rule.", class_="soft")
        if more
        else Html("")
    )
    words = [
        word for word in reversed(ORDER) if any(each.word == word for each in material.validation.verdicts)
    ]
    left = room - _SEVERAL - taken - len(words) - (2 if _not_stated(material) else 0)
    steps, used = first_steps(material)
    shared = [why for why in reasons[raters[0]] if why in everywhere and why not in shown_as]
    return joined(
        [
            element("div", *cards, class_="verdicts"),
            rest,
            legend(material),
            _meanings(material, words),
            _not_stated(material),
            _why(material, words[0], [*_about_the_models(material), *shared], left - used),
            steps,
        ]
    )


def _meanings(material: Material, words: Sequence[Word], rater: str = "") -> Html:
    """What each word means; which is which is stated where there are several."""
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
    stated = (
        [each.beside_colleague for each in verdicts if each.beside_colleague] if len(verdicts) == 1 else []
    )
    stated += [scope_of(verdicts)]
    words = _about(material, " ".join(filter(None, stated)), rater)
    return joined([paragraph(words) if words else "", _not_stated(material)])


def scope_of(verdicts: Sequence[Verdict]) -> str:
    """For which cases the word holds; "" where nothing tells cases apart, or no word could hold. The scope of one
    dimension is never shown as that of all."""
    scopes = {each.earned_scope for each in verdicts}
    if len(scopes) > 1:
        return "The scope of each dimension is in the evidence."
    return f"Scope: {scope}." if (scope := "".join(scopes)) else ""


def _not_stated(material: Material) -> Html:
    """What nobody stated or looked at, of every rater alike."""
    stated, humans = [], material.evidence.manifest.humans
    if material.evidence.clinicians and (humans is None or humans.blinded is None):
        stated.append("Whether the clinicians had seen the jury's scores is not stated.")
    if material.evidence.table.run.manifest is not None and material.evidence.manifest.injection is None:
        stated.append("Whether an instruction in the judged text moves the jury was not audited.")
    return paragraph(_about(material, " ".join(stated), "")) if stated else Html("")


def _reasons(verdicts: Sequence[Verdict]) -> dict[str, str]:
    """Every reason once, the heaviest first, and as it is shown: with the dimensions that it is for, unless it is
    for all."""
    about: dict[str, list[str]] = {}
    for rule in dangers_first([rule for verdict in verdicts for rule in verdict.not_met]):
        about[rule.why] = [verdict.label for verdict in verdicts if rule.why in verdict.reasons]
    return {
        why: why if len(labels) == len(verdicts) else f"{listed(labels)}: {why}"
        for why, labels in about.items()
    }


def _main_reason(verdicts: Sequence[Verdict], everywhere: Collection[str]) -> str:
    """What is most in the way of one of several: what forbids any use before the rest, its own before what
    is in the way of all, and danger first."""
    rules = dangers_first([rule for verdict in verdicts for rule in verdict.not_met])
    weighed = sorted(rules, key=lambda rule: (not rule.essential, rule.why in everywhere))
    return weighed[0].why if weighed else ""


def _why(material: Material, worst: Word, reasons: Sequence[str], room: int, rater: str = "") -> Html:
    if not reasons:
        return Html("")
    kept = fitting(reasons, room, max(_REASONS, len(_about_the_models(material))))
    words = [sentence(_about(material, each, rater)) for each in reasons[:kept]]
    more = len(reasons) - kept
    words += [sentence(f"and {more} more, in the evidence, rule by rule.")] if more else []
    title = "Why" if worst in _USELESS else "What to know" if worst == ORDER[0] else "Why it is not better"
    return joined([paragraph(title, class_="why"), bullets(words)])


def _about(material: Material, words: str, rater: str) -> str:
    return material.about(words, rater) if rater else material.about_each(words)


def _about_the_models(material: Material) -> list[str]:
    manifest = material.evidence.manifest
    lines = [*manifest.model_warnings(), *manifest.jury_warnings()]
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
