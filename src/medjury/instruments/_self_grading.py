"""Do the texts of a case hold something that looks like a verdict? Whoever wrote them may be quoted by a judge.

A rating tells it, so "Diagnosis: 1. Pneumonia" or "accuracy of 95 %" must not count: a grade is a value of the
scale that is said of its key, by a sign or a word, or in JSON, or in a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from medjury.instruments._folding import folded
from medjury.instruments._form import AnswerForm, Grade, plain
from medjury.instruments._reply import TAG
from medjury.instruments._written import NUMBERS, folded_once, name_pattern, value_of, value_pattern, words
from medjury.records import dataclass

_BETWEEN = (
    r'(?:\s++|["*_~()\[\]{}:=|>→,-]|(?<![a-z])(?:is|was|be|gets?|scores?|scored|grades?|graded|rating|rated|equals?|deserves?|'
    r"at|of|an?|the|to|value|only|just)\b){0,16}?"
)
_OUT_OF = r"(?:\.0+)?(?P<out_of>\s*(?:/|out\s+of|of)\s*(?:\d+|five|ten))?"
_SAYS_SO = re.compile(r"[:=|>→a-z-]")
# What makes a number none: a list goes on ("1. Pneumonia"), a range, the meaning of a grade, a unit, a fraction.
_LIST = re.compile(r"[.)]\s+(?=[a-z])")
_NO_GRADE = re.compile(r'\s*(?:-\s*|to\s+)\d|"?\s*=|[a-z0-9%°]|[.,]\d')
_NEXT_WORD = re.compile(r"[^\S\n]+([a-z]+)")
_GOES_ON = frozenset(("and", "but", "or", "out", "because", "since", "as", "for", "with", "so", "while", "whereas",
                      "point", "points", "star", "stars", "mark", "marks"))  # fmt: skip
_CELLS = re.compile(r'[\s|,;"]+')
_CELL = re.compile(rf"-?\d+(?:\.0+)?(?:/\d+)?|null|none|n/?a|{'|'.join(NUMBERS)}")
_SCORE = re.compile(r'"score"\s*:\s*"?-?\d')


@dataclass(frozen=True, slots=True)
class SelfGrading:
    """`names` are the keys that the texts give grades for; `in_json` says that they hold keys of the answer as JSON
    has them, so that words copied without their escapes could be JSON; `tags`, that they hold tags of reasoning;
    `hint`, that a grade stands behind some key, be it by chance."""

    names: tuple[str, ...] = ()
    in_json: bool = False
    tags: bool = False
    hint: bool = False

    @property
    def found(self) -> bool:
        return bool(self.names) or self.in_json or self.tags


@dataclass(frozen=True, slots=True)
class _Found:
    """Keys with a grade that is said of them, with one that merely follows them, and with one in JSON."""

    said: frozenset[str]
    following: frozenset[str]
    in_json: frozenset[str]
    score_in_json: bool
    tags: bool


def self_grading(texts: Iterable[str], form: AnswerForm) -> SelfGrading:
    """What the texts hold in the form of an answer. Grades outside JSON count where two keys have one, or the only
    key that is asked for: "Risk: 3" alone is no verdict on four dimensions."""
    found = [each for text in texts if (each := _look(text, form)) is not _NOTHING]
    if not found:
        return SelfGrading()
    said = {key for each in found for key in each.said}
    graded = said | {key for each in found for key in each.following}
    in_json = {key for each in found for key in each.in_json}
    keys = in_json | (graded if len(graded) > 1 or (said and len(form.grades) == 1) else set())
    names = [name for name in form.keys if plain(name) in keys]
    inner = sorted(keys - {plain(name) for name in names})
    json = bool(in_json) or any(each.score_in_json for each in found)
    return SelfGrading((*names, *inner), json, any(each.tags for each in found), bool(graded))


def grades_in(prose: str, form: AnswerForm) -> dict[str, frozenset[str]]:
    """The grades that prose gives keys, be it only by naming one after the other."""
    text = folded(prose)
    return {
        each.key: found for each in form.grades if (found := frozenset().union(*_stated(text, each, form)))
    }


_NOTHING = _Found(frozenset(), frozenset(), frozenset(), False, False)
# The words that a text with grades in a form must have one of, beside that form, so that its address stays its own.
_SIGNS: dict[int, tuple[AnswerForm, tuple[str, ...]]] = {}
_MOST_FORMS = 64


def _look(text: str, form: AnswerForm) -> _Found:
    """What one text holds. Most have no word that a grade would need, and are known by that."""
    return _look_closely(text, form) if _holds_any(text, _signs(form)) else _NOTHING


@lru_cache(maxsize=256)
def _holds_any(text: str, signs: tuple[str, ...]) -> bool:
    text = folded_once(text)
    return any(map(text.__contains__, signs))


def _signs(form: AnswerForm) -> tuple[str, ...]:
    known = _SIGNS.get(id(form))
    if known is None:
        if len(_SIGNS) >= _MOST_FORMS:
            _SIGNS.clear()
        graded = {each.key for each in form.grades}
        names = {name.split("_")[0] for each in form.grades for name in (each.key, each.label)}
        signs = {folded(name) for name in names | ({*map(plain, form.keys)} - graded)}
        signs |= {'"score"'} if form.has_scores else set()
        known = _SIGNS[id(form)] = form, ("<", *sorted(signs))  # tags of reasoning begin with it
    return known[1]


@lru_cache(maxsize=64)
def _look_closely(text: str, form: AnswerForm) -> _Found:
    text = folded_once(text)
    stated = {each.key: _stated(text, each, form) for each in form.grades}
    following = {key for key, (_, merely) in stated.items() if merely} | _in_tables(text, form)
    in_json = {each.key for each in form.grades if _grade_in_json(text, each)}
    in_json |= {key for key in map(plain, form.keys) if key not in stated and _key_in_json(text, key)}
    return _Found(
        frozenset(key for key, (said, _) in stated.items() if said),
        frozenset(following),
        frozenset(in_json),
        form.has_scores and '"score"' in text and _SCORE.search(text) is not None,
        TAG.search(text) is not None,
    )


def _stated(text: str, grade: Grade, form: AnswerForm) -> tuple[frozenset[str], frozenset[str]]:
    """The values that are said of a key, and those that merely follow it."""
    said: set[str] = set()
    following: set[str] = set()
    for name in dict.fromkeys((grade.key, grade.label)):
        if folded(name.split("_")[0]) not in text:
            continue
        for found in _graded(name, grade.values).finditer(text):
            if _is_grade(text, found.end(), form):
                says_so = found["out_of"] or _SAYS_SO.search(found["between"])
                (said if says_so else following).add(value_of(found["value"]))
    return frozenset(said), frozenset(following)


@lru_cache(maxsize=256)
def _graded(name: str, values: tuple[str, ...]) -> re.Pattern[str]:
    value = value_pattern(values).pattern
    return re.compile(rf"{name_pattern(name).pattern}(?P<between>{_BETWEEN})(?P<value>{value}){_OUT_OF}")


def _is_grade(text: str, end: int, form: AnswerForm) -> bool:
    """Whether what follows a value lets it be a grade."""
    if listed := _LIST.match(text, end):
        return _names_a_key(text, listed.end(), form)
    if _NO_GRADE.match(text, end):
        return False
    word = _NEXT_WORD.match(text, end)
    return word is None or word.group(1) in _GOES_ON or _names_a_key(text, word.start(1), form)


def _names_a_key(text: str, at: int, form: AnswerForm) -> bool:
    return any(name_pattern(name).match(text, at) for each in form.grades for name in (each.key, each.label))


def _grade_in_json(text: str, grade: Grade) -> bool:
    if '"' not in text or folded(grade.key.split("_")[0]) not in text:
        return False
    key, value = words(grade.key), value_pattern(grade.values).pattern
    if re.search(rf'"\s*{key}\s*"\s*:\s*"?{value}"?\s*(?:[,}}\]\n]|$)', text):
        return True
    opened = re.search(rf'"\s*{key}\s*"\s*:\s*\{{', text)
    return opened is not None and re.search(rf'"score"\s*:\s*"?{value}', text[opened.end() :]) is not None


def _key_in_json(text: str, key: str) -> bool:
    return folded(key) in text and re.search(rf'"\s*{words(key)}\s*"\s*:', text) is not None


def _in_tables(text: str, form: AnswerForm) -> set[str]:
    """Keys in one line, as many numbers or more in the next: a table with a head."""
    keys = [each for each in form.grades if folded(each.key.split("_")[0]) in text]
    lines = [line for line in text.split("\n") if line.strip(" |:-\t\r")] if keys else []
    found: set[str] = set()
    for head, row in pairwise(lines):
        cells = [cell for cell in _CELLS.split(row) if cell]
        if all(map(_CELL.fullmatch, cells)):
            named = {
                each.key
                for each in keys
                if name_pattern(each.key).search(head) or name_pattern(each.label).search(head)
            }
            found |= named if len(named) <= len(cells) else set()
    return found
