"""Might an answer have been taken from the texts under judgement? Asked freely, in any notation: a doubt costs no
more than asking a model again that wrote prose around its answer."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from medjury.instruments._form import AnswerForm, Grade
from medjury.instruments._reply import take_apart
from medjury.instruments._written import folded_once, stem_pattern, values_in
from medjury.records import dataclass

_ALL = re.compile(
    r"\b(?:all|every|each|everything|both|dimensions?|criteri\w+|categor\w+|throughout|across)\b"
)
_RATE = re.compile(r"\b(?:scor|grad|rate|rating|mark|award|giv|assign|point|star)\w*")
_BEST = re.compile(
    r"\b(?:full|top|perfect|maxim\w+|highest|best)\b(?:\s+\w+){0,2}?\s+(?:mark|scor|grad|rating)"
)
_WORST = re.compile(r"\b(?:lowest|minim\w+|worst|zero)\b(?:\s+\w+){0,2}?\s+(?:mark|scor|grad|rating)")
_SCORE = re.compile(r"\b(?:score|grade|rating|points?|marks?|stars?|value)\b")
_OUT_OF = re.compile(r"\S+\s*(?:/|out\s+of)\s*(?:\d|five|ten)")
_CLOSES = re.compile(r'"\s*,\s*"score"\s*:\s*"?(-?\d+|null)')
_SPACED = re.compile(r"(?<![a-z0-9])(?:[a-z][ .-]){3,}[a-z](?![a-z0-9])")  # a c c u r a c y
_SENTENCE_END = re.compile(r"[.!?\n]+")
_NEXT_SENTENCE = re.compile(r"[.!?]\s")
_BEFORE, _AFTER, _FAR, _ROWS, _SHORT = 30, 80, 600, 3, 12


@dataclass(frozen=True, slots=True)
class _Heard:
    """Values that stand near a key, and those that are said of everything."""

    near: Mapping[str, set[str]]
    of_all: set[str]


def may_come_from(texts: Iterable[str], form: AnswerForm, grades: Collection[tuple[str, str]]) -> bool:
    """Whether each of these grades, pairs of key and value, stands in the texts."""
    heard = [_listen(text, form) for text in texts] if grades else []
    return bool(heard) and all(
        any(value in each.of_all or value in each.near.get(key, ()) for each in heard)
        for key, value in grades
    )


def contains(texts: Iterable[str], said: str) -> bool:
    """Whether these words stand in a text, whatever their spacing and spelling."""
    wanted = " ".join(folded_once(said).split())
    return any(wanted in " ".join(folded_once(text).split()) for text in texts)


def unclosed_scores(texts: Iterable[str]) -> set[str]:
    """Scores in pieces of JSON that begin inside a text: copied into an explanation without escapes, they close it
    and grade."""
    prose = (folded_once("\n".join(take_apart(text).prose)) for text in texts)
    return {found.group(1) for each in prose for found in _CLOSES.finditer(each)}


@lru_cache(maxsize=64)
def _listen(text: str, form: AnswerForm) -> _Heard:
    text = _SPACED.sub(lambda run: re.sub(r"[^a-z]", "", run.group()), folded_once(text))
    return _Heard({each.key: _near(text, each, form) for each in form.grades}, _of_all(text, form))


def _near(text: str, grade: Grade, form: AnswerForm) -> set[str]:
    found: set[str] = set()
    others = [stem_pattern(each.key) for each in form.grades if each.key != grade.key]
    for pattern in dict.fromkeys((stem_pattern(grade.key), stem_pattern(grade.label))):
        for name in pattern.finditer(text):
            after = text[name.end() : name.end() + _FAR]
            line, _, below = after.partition("\n")
            ends = _NEXT_SENTENCE.search(after, _SHORT, _AFTER)
            before = _NEXT_SENTENCE.split(text[max(0, name.start() - _BEFORE) : name.start()])[-1]
            pieces = [before, after[: ends.start() if ends else _AFTER]]
            pieces += [each.group() for each in _OUT_OF.finditer(after, 0, 2 * _AFTER)]
            pieces += [after[said.end() : said.end() + _SHORT] for said in _SCORE.finditer(after)]
            if any(
                other.search(line) for other in others
            ):  # keys in one line, their grades in those below it
                pieces += below.split("\n")[:_ROWS]
            found |= {value for piece in pieces for value in values_in(piece, grade.values)}
    return found


def _of_all(text: str, form: AnswerForm) -> set[str]:
    """ "Give 5 on every dimension", "full marks": no key is named, and all are meant."""
    found: set[str] = set()
    sentences = [each for each in _SENTENCE_END.split(text) if _ALL.search(each) and _RATE.search(each)]
    for grade in form.grades:
        numbers = sorted(int(value) for value in grade.values if value.removeprefix("-").isdecimal())
        if numbers:
            found |= {str(numbers[-1])} if _BEST.search(text) else set()
            found |= {str(numbers[0])} if _WORST.search(text) else set()
        found |= {value for sentence in sentences for value in values_in(sentence, grade.values)}
    return found
