"""What the cells of a column are: grades as numbers, as phrases with a number, as words in an order, or none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from medjury.intake import is_blank, shown_of
from medjury.store.ratings import numbered
from medjury.tables import usual_values

MOST_WORDS = 7
MOST_GRADES = 12  # a scale has few grades; a column with more different numbers is something else
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")
_NOT_APPLICABLE = frozenset({"n/a", "n.a.", "na", "not applicable"})
_NOT_RATED = frozenset({
    "-", "--", "\u2013", "\u2014", ".", "?", "nan", "null", "missing", "not rated", "skip", "skipped", "nr", "#n/a",
    "no rating", "not graded", "unrated", "#div/0!", "n.r.",
})  # fmt: skip
_CODES = (
    99,
    999,
    9999,
    -9,
    -99,
    -999,
    88,
    77,
)  # what people write for "missing" beside grades of a short scale

# Words in their order, lowest first; the number of the lowest, and `|` between words that mean the same.
_ORDERS = [
    (0, "no|false|fail|failed|n|absent < yes|true|pass|passed|y|present"),
    (0, "no < partially|partly|partial|somewhat|maybe|unsure|possibly|unclear < yes"),
    (0, "incorrect|wrong|inaccurate|not correct|not accurate|completely incorrect < partially correct|"
        "partly correct|partially accurate|partially|partly accurate < correct|accurate|right|fully correct|"
        "completely correct|fully accurate"),
    (0, "incomplete|not complete < partially complete|partly complete|partial < complete|fully complete"),
    (1, "incomplete < adequate < comprehensive|complete"),
    (1, "completely incorrect < more incorrect than correct|mostly incorrect < "
        "approximately equal correct and incorrect|approximately equally correct and incorrect|"
        "equally correct and incorrect < more correct than incorrect|mostly correct < nearly all correct < "
        "correct|completely correct"),
    (1, "poor < acceptable|adequate|average|fair|moderate < good"),
    (1, "poor < fair < good < excellent"),
    (1, "poor < fair < good < very good < excellent"),
    (1, "very poor < poor < fair|average|acceptable|moderate|neutral < good < very good|excellent"),
    (1, "unacceptable < poor < acceptable|fair < good < excellent"),
    (0, "unacceptable|not acceptable < acceptable"),
    (1, "bad < ok|okay|neutral|average|fair < good"),
    (1, "very bad < bad < ok|okay|neutral|average|fair < good < very good"),
    (0, "disagree < agree"),
    (1, "disagree < neutral|undecided|partially agree|partly agree|neither agree nor disagree|unsure < agree"),
    (1, "strongly disagree < disagree < neutral|undecided|neither agree nor disagree|neither|unsure < agree < "
        "strongly agree"),
    (1, "strongly disagree < disagree < somewhat disagree|slightly disagree < neutral|undecided|"
        "neither agree nor disagree < somewhat agree|slightly agree < agree < strongly agree"),
    (0, "none|no harm|no < mild|minor|low|slight|minimal < moderate|medium|significant < severe|major|high|"
        "serious"),
    (0, "none|no harm < mild|minor < moderate < severe|major < death|fatal|catastrophic"),
    (1, "low < medium|moderate < high"),
    (1, "very low < low < medium|moderate|neutral < high < very high"),
    (1, "never < rarely|seldom < sometimes|occasionally < often|frequently|usually < always"),
    (0, "unsafe|harmful|not safe < potentially unsafe|potentially harmful|questionable|borderline|unclear < safe|"
        "harmless|not harmful"),
    (0, "irrelevant|not relevant < partially relevant|partly relevant|somewhat relevant < relevant|highly relevant|"
        "fully relevant"),
    (0, "not supported|unsupported < partially supported|partly supported < supported|fully supported"),
    (0, "unhelpful|not helpful < somewhat helpful|partially helpful|neutral < helpful|very helpful"),
    (0, "inappropriate|not appropriate < partially appropriate|partly appropriate < appropriate"),
    (0, "discordant|not concordant < partially concordant|partly concordant < concordant"),
    (0, "insufficient < sufficient"),
    (1, "not at all < slightly|a little|a little bit < moderately|somewhat < very|quite|mostly < extremely|"
        "completely|fully"),
    (1, "very dissatisfied < dissatisfied < neutral < satisfied < very satisfied"),
    (1, "very unlikely < unlikely < neutral|possible|even < likely < very likely"),
]  # fmt: skip


def _ladder(start: int, words: str) -> dict[str, int]:
    return {
        word.strip(): number
        for number, step in enumerate(words.split(" < "), start)
        for word in step.split("|")
    }


@dataclass(frozen=True, slots=True)
class Grades:
    """The grades of a column. `form` is "" where it holds none; `values` are their numbers, `words` what each
    phrase in it means, `ends` the lowest and highest grade of the order that its words are from."""

    form: str = ""
    values: frozenset[float] = frozenset()
    words: Mapping[str, float] = field(default_factory=dict)
    ends: tuple[float, float] | None = None
    decimal: str = "."
    not_applicable: frozenset[str] = frozenset()
    not_rated: frozenset[str] = frozenset()
    is_measured: bool = False  # numbers that are no grades of a short scale: shares, percent, means


NONE = Grades()


def grades_in(cells: Iterable[Any]) -> Grades:
    """What the cells of one column are."""
    listed = list(cells)
    if any(isinstance(cell, list | dict) for cell in listed):
        return NONE
    shown = [shown_of(cell) for cell in listed if not is_blank(cell)]
    absent = {each for each in shown if each.casefold() in _NOT_APPLICABLE | _NOT_RATED}
    filled = [each for each in shown if each not in absent]
    if not filled:
        return NONE
    words = frozenset(each for each in absent if each.casefold() in _NOT_APPLICABLE)
    left = frozenset(absent - words)
    different = set(filled)
    if 2 * sum(_NUMBER.fullmatch(each) is not None for each in filled) >= len(filled):
        return _numbers(filled, words, left)
    numbers = {each: numbered(each) for each in different}
    found = {each for each in numbers.values() if each is not None}
    if None not in numbers.values() and len(found) <= MOST_GRADES and len(different) <= 3 * MOST_GRADES:
        return Grades("numbered", frozenset(found), not_applicable=words, not_rated=left)
    if len(different) <= MOST_GRADES and (known := in_order(different)) is not None:
        meant, ends = known
        return Grades("words", frozenset(meant.values()), meant, ends, ".", words, left)
    if 2 * len(different) <= len(filled) and len(different) <= MOST_WORDS and max(map(len, different)) <= 30:
        return Grades(
            "unordered", words=dict.fromkeys(sorted(different), 0.0), not_applicable=words, not_rated=left
        )
    return NONE


def _numbers(filled: Sequence[str], words: frozenset[str], left: frozenset[str]) -> Grades:
    numbers = [each for each in filled if _NUMBER.fullmatch(each)]
    comma = any("," in each for each in numbers) and not any("." in each for each in numbers)
    by_text = {each: float(each.replace(",", ".")) for each in set(numbers)}
    values = usual_values(Counter(by_text[each] for each in numbers))
    codes = {each for each in values if each in _CODES}
    if codes and (rest := values - codes) and max(rest) <= 10 and min(rest) >= 0:
        values = rest
        left |= {text for text, number in by_text.items() if number in codes}
    short = len(values) <= MOST_GRADES and max(values) - min(values) <= 100
    return Grades(
        "numbers", frozenset(values), decimal="," if comma else ".", not_applicable=words, not_rated=left,
        is_measured=not short,
    )  # fmt: skip


def plain(word: str) -> str:
    """A phrase without signs and capitals."""
    return " ".join(re.sub(r"[\W_]+", " ", word.casefold()).split())


def in_order(words: Iterable[str]) -> tuple[dict[str, float], tuple[float, float]] | None:
    """What words mean in the shortest known order that has them all, and the ends of that order; None where no
    order is known, or two words would be one grade."""
    found: tuple[dict[str, float], tuple[float, float]] | None = None
    shortest = 0
    listed = list(words)
    for start, text in _ORDERS:
        ladder = _ladder(start, text)
        if not all(plain(each) in ladder for each in listed):
            continue
        meant = {each: float(ladder[plain(each)]) for each in listed}
        steps = len(set(ladder.values()))
        if start == 0 and set(meant.values()) == {0.0, float(steps - 1)} and steps > 2:
            meant, steps = (
                {word: min(number, 1.0) for word, number in meant.items()},
                2,
            )  # both ends alone: no or yes
        if len(set(meant.values())) == len({plain(each) for each in listed}) and not 0 < shortest <= steps:
            found, shortest = (meant, (float(start), float(start + steps - 1))), steps
    return found


# The scale that grades are on.

_STATED = re.compile(r"(?<![\d-])(-?\d{1,3})\s*(?:-|\u2013|\u2014|to|/|\.\.|through)\s*(\d{1,3})(?!\d)", re.I)
_IN_NAME = re.compile(r"\s*[(\[]\s*(?:scale\s*:?\s*|score\s*:?\s*)?(-?\d{1,3})\s*(?:-|\u2013|\u2014|to|/|\.\.)\s*"
                      r"(\d{1,3})\s*[)\]]", re.I)  # fmt: skip
_LEGEND = re.compile(r"(?<![\d.])(-?\d{1,3})\s*(?:=|:|\u2013)\s*[A-Za-z]")


def scale_in_name(name: str) -> tuple[str, tuple[float, float] | None]:
    """A column's name without the scale in it, and that scale: `Accuracy (1-5)`."""
    found = _IN_NAME.search(name)
    if found is None or float(found[1]) >= float(found[2]):
        return name, None
    return (name[: found.start()] + name[found.end() :]).strip(" _:-"), (float(found[1]), float(found[2]))


def scale_in_words(lines: Iterable[str]) -> tuple[float, float] | None:
    """The scale that instructions above a table state: `from 1 to 5`, or `1 = poor ... 5 = excellent`."""
    ranges, legend = set(), set()
    for line in lines:
        ranges |= {
            (float(low), float(high))
            for low, high in _STATED.findall(line)
            if float(low) < float(high) <= 100
        }
        legend |= {float(each) for each in _LEGEND.findall(line)}
    usual = {each for each in ranges if each[0] in (0, 1) and 1 <= each[1] - each[0] <= 100}
    if len(usual) == 1:
        return usual.pop()
    return (min(legend), max(legend)) if len(legend) > 1 and not usual else None


def usual_scale(values: Iterable[float]) -> tuple[float, float]:
    """The usual scale that has these grades: 2 to 4 are on 1 to 5."""
    low, high = min(values), max(values)
    if low == high == 1:
        return 0, 1
    if low < 0:
        most = max(-low, high)
        return -most, most
    low = 0 if low < 1 else 1
    for end in (1, 2, 3, 4) if low == 0 else (3, 4):
        if high <= end:
            return (0, end) if low == 0 else (1, 5 if high > 3 else end)
    return next(((low, end) for end in (5, 7, 10) if high <= end), (0, 100))


def scale_part(values: Iterable[float], ends: tuple[float, float] | None = None) -> Any:
    """A scale as a mapping states it: `[1, 5]` for whole grades, else `{from: 0, to: 1}`."""
    listed = list(values)
    low, high = ends or usual_scale(listed)
    if all(each == int(each) for each in (*listed, low, high)) and high - low <= 100:
        return [int(low), int(high)]
    return {"from": low, "to": high}
