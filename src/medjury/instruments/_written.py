"""Keys and grades as people write them, as patterns over folded text."""

from __future__ import annotations

import re
from functools import lru_cache

from medjury.instruments._folding import folded

NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NOT_APPLICABLE = ("null", "none", "n/a", "na", r"not\s+applicable")
_SPACES = re.compile(r"[\s_-]+")


@lru_cache(maxsize=64)
def folded_once(text: str) -> str:
    """As `folded`; a text is looked at more than once."""
    return folded(text)


def words(name: str) -> str:
    """A name with anything between its words."""
    return r"[\s_\-]*".join(map(re.escape, folded(name).split("_")))


@lru_cache(maxsize=256)
def name_pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z0-9]){words(name)}(?![a-z0-9])")


@lru_cache(maxsize=256)
def stem_pattern(name: str) -> re.Pattern[str]:
    """A name by the beginnings of its words: "accuracy" may be said for "accurate"."""
    stems = [word if len(word) < 6 else word[: min(6, len(word) - 1)] for word in folded(name).split("_")]
    return re.compile(r"(?<![a-z0-9])" + r"\w*[\s_\-*\"]*".join(map(re.escape, stems)) + r"\w*")


@lru_cache(maxsize=256)
def value_pattern(values: tuple[str, ...]) -> re.Pattern[str]:
    """Any of these grades, in figures or in words."""
    ways: list[str] = []
    for value in sorted(values, key=len, reverse=True):
        if value == "null":
            ways += _NOT_APPLICABLE
        elif _is_number(value):
            ways += [_figure(value), *([NUMBERS[int(value)]] if 0 <= int(value) < len(NUMBERS) else [])]
        else:
            ways.append(words(_SPACES.sub("_", value)))
    return re.compile(rf"(?<![\w.])(?:{'|'.join(ways)})(?!\w)" if ways else "(?!)")


def values_in(text: str, values: tuple[str, ...]) -> set[str]:
    """The grades that stand anywhere in folded text."""
    return {value_of(found.group()) for found in value_pattern(values).finditer(text)}


def value_of(written: str) -> str:
    """The grade that a word or a figure means."""
    if written in NUMBERS:
        return str(NUMBERS.index(written))
    if any(re.fullmatch(way, written) for way in _NOT_APPLICABLE):
        return "null"
    return str(int(written)) if _is_number(written) else _SPACES.sub("_", written)


def _figure(value: str) -> str:
    sign, digits = value[: value.startswith("-")], value.removeprefix("-")
    return f"{sign}0*{digits}"


def _is_number(text: str) -> bool:
    return text.removeprefix("-").isdecimal()
