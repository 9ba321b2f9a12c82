"""The number that an answer gives, in the unit that was asked for where one is known."""

from __future__ import annotations

import re

from medjury.instruments import Reason
from medjury.suites._marking._answer_text import given_forms
from medjury.suites._marking._reading import Reading

# Units of laboratory values and doses: what one must be multiplied by to become another of the same kind.

# Size in a base of each kind. Kinds that share no base are never turned into one another.
_SIZES = {
    "kg": ("mass", 1e3), "g": ("mass", 1.0), "mg": ("mass", 1e-3), "mcg": ("mass", 1e-6), "ug": ("mass", 1e-6),
    "ng": ("mass", 1e-9), "lb": ("mass", 453.59237), "lbs": ("mass", 453.59237), "l": ("volume", 1.0),
    "dl": ("volume", 0.1), "ml": ("volume", 1e-3), "ul": ("volume", 1e-6), "m": ("length", 1.0),
    "cm": ("length", 1e-2), "mm": ("length", 1e-3), "in": ("length", 0.0254), "inch": ("length", 0.0254),
    "inches": ("length", 0.0254), "mol": ("amount", 1.0), "mmol": ("amount", 1e-3), "umol": ("amount", 1e-6),
    "eq": ("charge", 1.0), "meq": ("charge", 1e-3), "s": ("time", 1.0), "sec": ("time", 1.0), "ms": ("time", 1e-3),
    "msec": ("time", 1e-3), "min": ("time", 60.0), "h": ("time", 3600.0), "hr": ("time", 3600.0),
    "hour": ("time", 3600.0), "day": ("time", 86400.0), "days": ("time", 86400.0), "week": ("time", 604800.0),
    "weeks": ("time", 604800.0),
}  # fmt: skip
_UNIT = re.compile(r"[\s*_(]*([a-zµμ]+(?:\s*/\s*[a-zµμ]+){0,2})(?!\w)", re.IGNORECASE)


def factor_between(words: str, wanted: str) -> float | None:
    """What a number before these words is multiplied by to be in the wanted unit; none where that is not known."""
    said, asked = _size(words), _size(wanted)
    if said is None or asked is None or said[0] != asked[0]:
        return None
    return said[1] / asked[1]


def _size(words: str) -> tuple[tuple[str, ...], float] | None:
    found = _UNIT.match(words)
    if found is None:
        return None
    parts = re.sub(r"\s", "", found.group(1).lower()).replace("µ", "u").replace("μ", "u").split("/")
    if any(part not in _SIZES for part in parts):
        return None
    size = _SIZES[parts[0]][1]
    for part in parts[1:]:
        size /= _SIZES[part][1]
    return tuple(_SIZES[part][0] for part in parts), size


_DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
_ATTACHED = r"(?i:[mkdnµμ]?[gl]|mcg|[mµμ]?mol|meq|mosm|[cm]?m|ms|msec|s|bpm|iu|u|points?)(?!\w)"
_POWER = r"(?:\s*(?:[x×*·]\s*10\s*(?:\^|\*\*)?\s*\{?([+-]?\d+)\}?)|[eE]([+-]?\d+))?"
NUMBER = re.compile(
    rf"(?<![\w.,/])(?<![A-Za-z]-)(?P<sign>[-−–]\s?)?(?P<digits>{_DIGITS}){_POWER}(?!\d|\.\d|,\d)(?:(?!\w)|(?={_ATTACHED}))(?P<share>\s*/\s*\d+(?!\d|\.\d))?"
)
_UNIT_NUMBERS = re.compile(
    r"/\s*1\.73\s*m(?:\^?\{?2\}?|²)?|\b(kg|lb|mg|g)\s*/\s*m\s*(?:\^\s*\{?2\}?|2|²)|\bm\s*\^\s*\{?[23]\}?|[x×]\s*10\s*\^?\s*[39]\s*/\s*[Lμu]",
    re.IGNORECASE,
)
_CUE = re.compile(
    r"\b(?P<final>final\s+)?(?:answer|result|score|value|total)\b(?!\s*\w*\s*=\s*\()[^.\n=:]{0,80}?(?:\bis\b|\bare\b|\bof\b|\bwould\s+be\b|:|(?<![<>])=|≈)"
    r"|(?:\bis|\bare|\bwas|\bwould\s+be|\bequals|\bequal\s+to|\bequivalent\s+to|\bat|\bto\s+be|(?<![<>])=|≈|~|:)(?=[\s*_$(]*(?:approximately|about|around|roughly|≈|~)?[\s*_$(]*[-−–]?\s?[\d.])",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\s*(?:-|–|—|to|and|or)\s*\d|\s*(?:±|\+/-)")
_TO_TWENTY = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
_WORDS = {word: value for value, word in enumerate(_TO_TWENTY)}


def read_number(text: str, unit: str = "") -> Reading:
    """The one number that is the answer, or why it cannot be told; `text` is free of reasoning in tags."""
    text = _cleared(text)
    forms = [each.value for each in given_forms(text)]
    if forms:
        values = {_shown(each, unit) for each in forms}
        return _one(values, "several final answers that differ")
    alone = _alone(text, unit)
    if alone is not None:
        return Reading(alone)
    cues = [
        (each, found)
        for each in _CUE.finditer(text)
        if not _aside(text, each) and (found := _after(text, each, unit))
    ]
    final = [found for each, found in cues if each.group("final")]
    if final:
        return _one(set(final), "several final answers that differ")
    if cues:
        last = cues[-1][1]
        if last in (_IS_RANGE, _UNDECIDED):
            return Reading(None, Reason.PARSE, _SEVERAL)
        return Reading(last)
    numbers = [each for each in NUMBER.finditer(text) if not _UNEQUAL.search(text, 0, each.start())]
    if len(numbers) == 1 and _RANGE.match(text, numbers[0].end()):
        return Reading(None, Reason.PARSE, _SEVERAL)
    if len(numbers) == 1:
        return Reading(_value(numbers[0], text, unit))
    word = [found for found in re.findall(r"[a-z]+", text.lower()) if found in _WORDS]
    if not numbers and len(set(word)) == 1:
        return Reading(str(_WORDS[word[0]]))
    note = (
        "the answer holds several numbers and says of none that it is the answer"
        if numbers
        else "the answer holds no number"
    )
    return Reading(None, Reason.PARSE, note)


_UNEQUAL = re.compile(r"(?:[<>]=?|[≤≥])\s*$")
# Words with which a result is explained; numbers behind them are not the result.
_CONSEQUENCE = re.compile(
    r",?\s*\b(?:which|indicat\w+|suggest\w+|correspond\w+|consistent|meaning|classif\w+|carr\w+|associated|so)\b",
    re.IGNORECASE,
)
_IS_RANGE, _UNDECIDED = "range", "undecided"
_SEVERAL = "the answer gives a range or several numbers"
_WEAK = 15  # characters of a cue such as "is" or "=", which does not name what it gives


def _aside(text: str, cue: re.Match[str]) -> bool:
    """Whether a cue stands in parentheses, or behind the name of one of several points in a list."""
    line = text[text.rfind("\n", 0, cue.start()) + 1 : cue.end()]
    listed = (
        re.match(r"\s*[-*•]\s", line) is not None and len(re.findall(r"^\s*[-*•]\s", text, re.MULTILINE)) > 1
    )
    named = re.search(r"answer|result|total|final", cue.group(), re.IGNORECASE) is not None
    return line.count("(") > line.count(")") or (listed and not named)


def _cleared(text: str) -> str:
    """The text without numbers that belong to units, and with decimal commas as points."""
    text = text.replace("−", "-").replace("\\times", "×").replace("\\,", " ").replace("\\%", "%")
    text = re.sub(r"(?<=\d),(?=\d{1,2}(?![\d,]))", ".", text)
    return _UNIT_NUMBERS.sub(lambda found: " " * len(found.group()), text)


def _shown(form: str, unit: str) -> str:
    found = list(NUMBER.finditer(_cleared(form)))
    if len(found) == 1 and not _RANGE.match(form, found[0].end()):
        return _value(found[0], form, unit)
    words = form.strip(" .").lower()
    return str(_WORDS[words]) if words in _WORDS else ""


def _one(values: set[str], what: str) -> Reading:
    if len(values) > 1:
        return Reading(None, Reason.PARSE, f"the answer holds {what}")
    value = next(iter(values))
    if value in (_IS_RANGE, _UNDECIDED):
        return Reading(None, Reason.PARSE, _SEVERAL)
    return Reading(value) if value else Reading(None, Reason.PARSE, "the final answer is not one number")


def _alone(text: str, unit: str) -> str | None:
    """A number with nothing but a unit of a few signs around it."""
    words = text.strip(" \n\t*_`$").rstrip(" \n\t*_`$.")
    found = NUMBER.search(words)
    if found is None or len(NUMBER.findall(words)) != 1 or "\n" in words:
        return None
    if _UNEQUAL.search(words, 0, found.start()):
        return None
    around = (words[: found.start()] + words[found.end() :]).strip(" ~≈=±")
    return (
        _value(found, words, unit)
        if len(around.split()) <= 2 and len(around) <= 20 and not _RANGE.match(words, found.end())
        else None
    )


def _after(text: str, cue: re.Match[str], unit: str) -> str | None:
    """The number behind a cue; behind a calculation that ends in "= number" it is that number."""
    line = text[cue.end() :].split("\n", 1)[0][:400]
    sentence = re.split(r"(?<=\D)\.\s|(?<=\d)\.\s+(?=[A-Z])", line)[0]
    found = NUMBER.search(sentence)
    if found is None:
        word = re.match(r"\W*([a-z]+)\b", sentence.lower())
        return str(_WORDS[word[1]]) if word and word[1] in _WORDS else None
    if "=" in sentence[found.end() :]:
        calculated = NUMBER.search(sentence, sentence.rindex("=") + 1)
        return _value(calculated, sentence, unit) if calculated else None
    if _RANGE.match(sentence, found.end()) or _UNEQUAL.search(sentence, 0, found.start()):
        return _IS_RANGE
    if re.match(r"\s*[+*×x/^(]\s*[\d(]", sentence[found.end("digits") :]) and not found.group("share"):
        return None  # a formula without its result
    value = _value(found, sentence, unit)
    more = _CONSEQUENCE.split(sentence[found.end() :])[0]
    more = re.sub(r"\([^)]*\)|\bout\s+of\s+\d+|\bof\s+\d+\s*%", " ", more)
    others = {_value(each, more, unit) for each in NUMBER.finditer(more)} - {value}
    return _UNDECIDED if others and len(cue.group()) <= _WEAK else value


def _value(found: re.Match[str], text: str, unit: str) -> str:
    value = float(f"{found.group('digits').replace(',', '')}e{found.group(3) or found.group(4) or 0}")
    value = -value if found.group("sign") else value
    if unit and (factor := factor_between(text[found.end() : found.end() + 30], unit)):
        value *= factor
    return f"{value:.12g}"
