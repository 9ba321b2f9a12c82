"""The form of an answer: the keys that are asked for, and those that carry a grade with what it may be."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any

from medjury.instruments._folding import folded
from medjury.instruments._instrument import Dimension, Instrument
from medjury.records import dataclass

_SEPARATORS = re.compile(r"[\s_-]+")
# Every key with the keys inside it.
Shape = tuple[tuple[str, Any], ...]
_EXPLAINED: Shape = (("explanation", ()), ("score", ()))
NOT_APPLICABLE = frozenset({"na", "n/a", "not applicable", "null", "none"})


@dataclass(frozen=True, slots=True)
class Grade:
    """A key that carries a grade (or a verdict, or a choice), the name a reader knows it by, and its values."""

    key: str
    label: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """`keys` are the answer's own; `grades` those that decide something; `shape` is every key with those inside."""

    keys: tuple[str, ...]
    grades: tuple[Grade, ...] = ()
    shape: Shape = ()

    @classmethod
    def of(cls, instrument: Instrument, dimensions: Collection[str] | None = None) -> AnswerForm:
        """The form in which a judge grades these dimensions (all, where none is named); made once for each."""
        place = id(instrument), None if dimensions is None else tuple(dimensions)
        if (known := _FORMS.get(place)) is not None and known[0] is instrument:
            return known[1]
        if len(_FORMS) >= _MOST_FORMS:
            _FORMS.clear()
        _FORMS[place] = instrument, cls._of(instrument, dimensions)
        return _FORMS[place][1]

    @classmethod
    def _of(cls, instrument: Instrument, dimensions: Collection[str] | None) -> AnswerForm:
        asked = [each for each in instrument.dimensions if dimensions is None or each.name in dimensions]
        grades = tuple(Grade(plain(each.name), plain(each.label), _values(each)) for each in asked)
        shape = tuple((grade.key, _EXPLAINED) for grade in grades)
        return cls(tuple(each.name for each in asked), grades, shape)

    @classmethod
    def of_schema(cls, schema: Mapping[str, Any]) -> AnswerForm:
        """The form that a JSON schema describes."""
        grades = {grade.key: grade for grade in _grades(schema, "")}
        return cls(tuple(schema.get("properties", ())), tuple(grades.values()), _shape(schema))

    @property
    def has_scores(self) -> bool:
        """A grade stands inside an object of its own, as its `score`."""
        return any(inner == _EXPLAINED for _, inner in self.shape)

    def stated(self, value: object) -> set[tuple[str, str]]:
        """The grades in an answer as pairs of key and value, in one spelling."""
        keys = {grade.key for grade in self.grades}
        return {(key, plain_value(leaf)) for key, leaf in _leaves(value, "") if key in keys}

    def words(self, value: object) -> list[str]:
        """The texts in an answer that are no grades: its own words."""
        keys = {grade.key for grade in self.grades}
        return [
            leaf
            for key, leaf in _leaves(value, "")
            if key not in keys and isinstance(leaf, str) and leaf.strip()
        ]

    def fits(self, value: object) -> bool:
        """Whether every key of an answer was asked for where it stands, and none stands there in two spellings."""
        return _fits(value, self.shape)


_FORMS: dict[tuple[int, tuple[str, ...] | None], tuple[Instrument, AnswerForm]] = {}
_MOST_FORMS = 256


def plain(key: object) -> str:
    """A key as it is compared: whatever its case and separators."""
    return _plain_text(str(key))


def plain_value(value: object) -> str:
    """A grade as text: 5, 5.0 and "5" are the same, and so are null and "N/A"."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = folded(str(value)).strip()
    return "null" if text in NOT_APPLICABLE else text


@lru_cache(maxsize=4096)
def _plain_text(key: str) -> str:
    return _SEPARATORS.sub("_", key.strip().casefold())


def _values(dimension: Dimension) -> tuple[str, ...]:
    values = tuple(map(str, dimension.values))
    return (*values, "null") if dimension.may_be_not_applicable or dimension.skip else values


def _grades(schema: Mapping[str, Any], key: str) -> Iterator[Grade]:
    """What is chosen from a list is a grade; the `score` within an object is the object's."""
    if "enum" in schema or schema.get("type") == "boolean":
        values = tuple(plain_value(each) for each in schema.get("enum", (True, False)))
        yield Grade(plain(key), plain(key), values)
    for name, inner in schema.get("properties", {}).items():
        yield from _grades(inner, key if name == "score" and key else name)
    if "items" in schema:
        yield from _grades(schema["items"], key)


def _shape(schema: Mapping[str, Any]) -> Shape:
    inner = schema.get("properties") or schema.get("items", {}).get("properties", {})
    return tuple((plain(name), _shape(each)) for name, each in inner.items())


def _leaves(value: object, key: str) -> Iterator[tuple[str, object]]:
    """Every value that holds no others, with its key; a `score` has the key of the object it stands in."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, key if plain(name) == "score" and key else plain(name))
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, key)
    else:
        yield key, value


def _fits(value: object, shape: Shape) -> bool:
    if isinstance(value, list):
        return all(_fits(each, shape) for each in value)
    if not isinstance(value, Mapping):
        return True
    known, keys = dict(shape), [plain(key) for key in value]
    inner = zip(keys, value.values(), strict=True)
    return len({*keys}) == len(keys) and all(key in known and _fits(each, known[key]) for key, each in inner)
