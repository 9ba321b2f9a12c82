"""Which choice does an answer mean? One, or why it cannot be told: an ambiguous answer is never guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from medjury.instruments import Reason
from medjury.suites._marking._choices import WHOLE_ANSWERS, Choices, Named, folded
from medjury.suites._marking._cleaned import UnfinishedError, plain_text, without_question, without_thought
from medjury.suites._marking._given import given_forms
from medjury.suites._marking._lines import lone_lines
from medjury.suites._marking._phrases import DENIES, PAST
from medjury.suites._marking._refusal import refuses
from medjury.suites._marking._statements import Statement, statements, taken_back

_BOLD = re.compile(r"(\*\*|__)(?=\S)(.{1,200}?)(?<=\S)\1")
_SHORT = 40  # words of an answer in which a choice that is named in passing is the answer
_LONG_ENOUGH = 3  # characters of a choice that prose does not hold by chance


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read: a value, or none and why."""

    value: str | None
    reason: Reason | None = None
    note: str = ""


def said(answer: str, shown: Iterable[str] = ()) -> str | Reading:
    """The answer proper, or the reading of one that holds none."""
    if not answer.strip():
        return Reading(None, Reason.EMPTY, "the answer is empty")
    try:
        text = without_question(without_thought(plain_text(answer)), shown)
    except UnfinishedError:
        return Reading(None, Reason.PARSE, "the reasoning never ended, so there is no answer after it")
    if not text:
        return Reading(None, Reason.EMPTY, "nothing is left beside the reasoning or the repeated question")
    return text


def read_choice(answer: str, choices: Choices, shown: Iterable[str] = ()) -> Reading:
    """The key of the one choice that the answer means."""
    text = said(answer, shown)
    if isinstance(text, Reading):
        return text
    formal = [
        Statement(each.start, each.end, _whole(each.value, choices), True)
        for each in given_forms(text)
        if each.value
    ]
    prose = _masked(text, formal)
    stated = statements(prose, choices)
    final = sorted([*formal, *(each for each in stated if each.final)], key=lambda each: each.start)
    if final:
        later = [each for each in stated if not each.final and each.start > final[-1].end]
        return _agreed(text, [*final, *later])
    found = [
        *stated,
        *_from_beginning(prose, choices),
        *_from_lines(prose, choices),
        *_from_bold(prose, choices),
    ]
    if found:
        return _agreed(text, sorted(found, key=lambda each: (each.start, each.end)))
    return _in_passing(prose, choices)


def _whole(value: str, choices: Choices) -> Named:
    """What a form made for the answer holds; whatever else it may be, it was meant as the answer."""
    named = choices.meant_by(value)
    return named if named.keys or named.unknown else Named((), unknown=value[:60])


def _masked(text: str, formal: Iterable[Statement]) -> str:
    """The text with what was read as a form blanked out, at the same length; LaTeX and fences too."""
    for each in formal:
        text = text[: each.start] + " " * (each.end - each.start) + text[each.end :]
    text = re.sub(
        r"\\(?:text|textbf|mathrm|mathbf)\{([^{}]*)\}",
        lambda found: found.group(1).center(len(found.group())),
        text,
    )
    return re.sub(r"[`$]|\\[()\[\]]", lambda found: " " * len(found.group()), text)


def _from_lines(text: str, choices: Choices) -> list[Statement]:
    """The first and the last line, where one of them is the answer and nothing else, and every line with a tick."""
    lines = lone_lines(text, choices)
    filled = [place for place, raw in _starts(text) if raw.strip()]
    ends = {filled[0], filled[-1]} if filled else set()
    bare = len({line.named.keys for line in lines if line.whole}) > 1
    return [
        Statement(line.start, line.end, line.named)
        for line in lines
        if line.ticked
        or (line.whole and (line.start in ends or bare or len(lines) == 1))
        or (len(lines) == 1 and line.start in ends)
    ]


def _starts(text: str) -> Iterable[tuple[int, str]]:
    at = 0
    for raw in text.split("\n"):
        yield at, raw
        at += len(raw) + 1


def _from_beginning(text: str, choices: Choices) -> list[Statement]:
    """ "C, because …", "No, …": what an answer begins with, where it closes its clause."""
    if re.match(r"not\b", text, re.IGNORECASE) and not choices.text_at(text).keys:
        turned = choices.named_by(text)  # "Not A but C, …"
        return [Statement(0, len(text) - len(turned.rest), turned)] if turned.keys else []
    letter = choices.letter_at(text)
    named = letter if letter.keys else choices.text_at(text)
    short = letter.keys or any(choices.folded[key] in WHOLE_ANSWERS for key in named.keys)
    closes = re.match(
        r"[)\]*_]*(?:\s*[,;!]|\s*\?(?!.*\b[A-Z]\?)|\s+(?:because|since|as|due\s+to)\b)", named.rest
    )
    if not (named.keys and short and closes):
        return []
    all_named = choices.named_by(text)
    return [Statement(0, len(text) - len(named.rest), all_named if all_named.keys else named)]


def _from_bold(text: str, choices: Choices) -> list[Statement]:
    """A choice in bold letters, where one alone is."""
    found = []
    for each in _BOLD.finditer(text):
        named = choices.named_by(each.group(2))
        if named.keys and not folded(named.rest) and not DENIES.search(_sentence_before(text, each.start())):
            found.append(Statement(each.start(), each.end(), named))
    return found if len({each.named.keys for each in found}) == 1 else []


def _sentence_before(text: str, place: int) -> str:
    return re.split(r"[.!?\n]\s|\bbut\b", text[max(0, place - 400) : place])[-1]


def _agreed(text: str, found: list[Statement]) -> Reading:
    """The choice of the last statement, if no other stands against it that was not taken back."""
    last = found[-1]
    for earlier in found[:-1]:
        if set(earlier.named.keys) != set(last.named.keys) and not taken_back(text, earlier, last):
            if earlier.named.keys and set(last.named.keys) < set(earlier.named.keys):
                continue  # "B or C … it is C": what was open is decided
            names = sorted({*earlier.named.keys, *last.named.keys})
            return Reading(None, Reason.PARSE, f"the answer says {' and '.join(names)}; one was asked for")
    if len(last.named.keys) > 1:
        return Reading(
            None, Reason.PARSE, f"the answer names {' and '.join(last.named.keys)}; one was asked for"
        )
    if not last.named.keys:
        return Reading(None, Reason.OUT_OF_RANGE, f"{last.named.unknown!r} is none of the choices")
    return Reading(last.named.keys[0])


def _in_passing(text: str, choices: Choices) -> Reading:
    """The one choice whose text a short answer names and does not deny."""
    if re.search(r"\bnone\s+of\s+(?:the\s+)?(?:above|these|options|choices)", text, re.IGNORECASE):
        return Reading(None, Reason.OUT_OF_RANGE, "the answer says that none of the choices is right")
    if refuses(text):
        return Reading(None, Reason.REFUSAL, "the model declined to choose")
    named: list[str] = []
    at = 0 if min(map(len, choices.folded.values()), default=0) >= _LONG_ENOUGH else len(text)
    while at < len(text):
        place = re.compile(r"(?<!\w)(?=\w)").search(text, at)
        if place is None:
            break
        found = choices.text_at(text[place.start() :])
        named += [key for key in found.keys if key not in named]
        at = len(text) - len(found.rest) if found.keys else place.start() + 1
    if (
        len(named) == 1
        and len(text.split()) <= _SHORT
        and not (DENIES.search(text) or PAST.search(text))
        and '"' not in text
    ):
        return Reading(named[0])
    if named:
        return Reading(
            None, Reason.PARSE, "the answer speaks of choices and says of none that it is the answer"
        )
    return Reading(None, Reason.PARSE, "no choice was found in the answer")
