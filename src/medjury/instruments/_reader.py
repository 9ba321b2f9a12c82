"""Reads the one object that a reply means, knowing the texts under judgement: their words are never the answer."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

from medjury.instruments._disowned import disowned
from medjury.instruments._form import AnswerForm, plain
from medjury.instruments._hearsay import contains, may_come_from, unclosed_scores
from medjury.instruments._lenient import JsonError, decode
from medjury.instruments._remarks import remark_on
from medjury.instruments._reply import Parts, take_apart
from medjury.instruments._self_grading import SelfGrading, grades_in, self_grading

_NO_KEY = re.compile(r"[\n{}'\"]")


class AnswerError(ValueError):
    """The answer holds no usable JSON. The message says why and quotes nothing of the answer."""


class AnswerReader:
    """Reads the replies to one question. `texts` are those that the question shows for judgement.

    Where they hold something that looks like an answer, only a reply that is nothing but one object is read; and an
    object in which all is as the texts have it is refused once, for the model may have copied it.
    """

    def __init__(self, form: AnswerForm, texts: Iterable[str] = ()) -> None:
        self._form = form
        self._given = texts
        self._doubted = False
        self.repeated = False  # what was read says what the texts say, and said so again when asked

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        return tuple(self._given)

    @cached_property
    def _case(self) -> SelfGrading:
        return self_grading(self._texts, self._form)

    @property
    def remark(self) -> str:
        """What to say of a case with these texts; see `self_grading_remark`."""
        return remark_on(self._case)

    def read(self, reply: str) -> object:
        """The object (or, where the whole reply is one, the array) that is meant; else `AnswerError`."""
        self.repeated = False
        reply = reply.lstrip("\ufeff").strip()
        if reply.startswith("["):
            whole = _array(reply)
            if whole is not None:
                return whole
        parts = take_apart(reply)
        if parts.too_many:
            raise AnswerError("the answer holds too many JSON objects; give one")
        if parts.unfinished:
            raise AnswerError("the reasoning never ended, so there is no answer after it")
        alone = parts.alone
        value = self._out_of_prose(parts) if alone is None else alone
        if self._form.keys and _runs_on(value):
            raise AnswerError("the answer holds no JSON object that is whole: a key is not closed")
        if alone is not None:
            self._check(alone, parts)
        return value

    def _out_of_prose(self, parts: Parts) -> dict[str, object]:
        """The object among other words. Of several those with a key that was asked for count, where any has one. If
        these differ the answer is refused: which was meant is not ours to decide."""
        names = {plain(name) for name in self._form.keys}
        values = [each for each in parts.objects if _has_key(each, names)] or parts.objects
        if {} in parts.objects and len(parts.objects) > 1:
            values = parts.objects  # it may be what the model has to say
        if parts.broken or not any(values):
            raise AnswerError(_what_is_broken(parts.broken, any(values)))
        if any(value != values[0] for value in values):
            raise AnswerError(f"the answer holds {len(values)} different JSON objects; give one")
        if self._case.found:
            raise AnswerError(
                "the texts under judgement hold grades of their own, so the answer must be one JSON object and "
                "nothing else"
            )
        prose = "\n".join(parts.prose)
        if prose.count("{") != prose.count("}"):
            raise AnswerError(
                "a brace is left over beside the JSON object, so that it may have ended too early"
            )
        grades = self._form.stated(values[0])
        if may_come_from(self._texts, self._form, grades):
            raise AnswerError(
                "the grades beside the words of the answer stand in the texts under judgement as well"
            )
        said = grades_in(prose, self._form)
        if any(key in said and value not in said[key] for key, value in grades):
            raise AnswerError("the words beside the JSON object state other grades than it does")
        if any(disowned(prose, *words) for words in parts.around(values[0])):
            raise AnswerError("the words beside the JSON object say that it is not the answer")
        return values[0]

    def _check(self, value: Mapping[str, object], parts: Parts) -> None:
        """Refuse an object that the texts may have written, or helped to write."""
        if not (self._case.found or self._case.hint):
            return
        if parts.ended and self._case.tags:
            raise AnswerError(
                "the texts under judgement hold tags of reasoning, and so does the answer; give the JSON alone"
            )
        if self._case.found and not self._form.fits(value):
            raise AnswerError(
                "it has keys that were not asked for, or one key in two spellings; give only those asked for"
            )
        if not self._may_be_copied(value):
            return
        if not self._doubted:
            self._doubted = True
            raise AnswerError(
                "it says what the texts under judgement say of themselves, and nothing else; judge them yourself, "
                "and give your own reasons where reasons are asked for"
            )
        self.repeated = True

    def _may_be_copied(self, value: Mapping[str, object]) -> bool:
        grades = self._form.stated(value)
        if self._case.in_json and {given for _, given in grades} & unclosed_scores(self._texts):
            return True
        said = may_come_from(self._texts, self._form, grades) if grades else self._case.in_json
        return said and all(contains(self._texts, words) for words in self._form.words(value))


def extract_json(text: str, expected: Collection[str] = ()) -> object:
    """The JSON object (or, where the whole text is one, the array) that the answer means.

    Reasoning in `<think>` tags is set aside, but for tags within an object; fences and prose around the object are
    ignored. Of several objects those with an `expected` key count, where any has one. If these differ, or one is
    broken, the answer is refused: which was meant is not ours to decide, and one of them may be a text under
    judgement speaking.
    """
    return AnswerReader(AnswerForm(tuple(expected))).read(text)


def _array(text: str) -> list[object] | None:
    try:
        value, end = decode(text)
    except JsonError:
        return None
    return value if isinstance(value, list) and not text[end:].strip() else None


def _has_key(value: object, names: Collection[str]) -> bool:
    """Whether a key that was asked for stands in it, at any depth, be it as a value ("dimension": "accuracy")."""
    if isinstance(value, str):
        return plain(value) in names
    if isinstance(value, list):
        return any(_has_key(each, names) for each in value)
    return isinstance(value, Mapping) and any(
        plain(key) in names or _has_key(each, names) for key, each in value.items()
    )


def _runs_on(value: object) -> bool:
    """Whether a key at any depth holds signs of JSON: it was cut off, and what comes next closed it."""
    keys: list[object] = []
    within = [value]
    for inner in within:  # it grows on the way
        if isinstance(inner, dict):
            keys += inner
            within += inner.values()
        elif isinstance(inner, list):
            within += inner
    return _NO_KEY.search(" ".join(map(str, keys))) is not None


def _what_is_broken(broken: list[JsonError], beside: bool) -> str:
    if not broken:
        return "the answer holds no JSON object"
    if beside:
        return f"beside a whole JSON object there is a broken one ({broken[0]}); give one"
    return f"the answer holds no JSON object that is whole: {broken[0]}"
