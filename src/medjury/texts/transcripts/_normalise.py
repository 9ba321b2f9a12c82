"""The normaliser: two transcripts that say the same are made to look the same before they are compared.

In this order: numbers to British words, lower case, hyphens and slashes to spaces, punctuation and other
signs removed, white space collapsed, and (only on request) the sounds of hesitation removed. In another
language than English digits stay digits, for its number words and hesitations are not known.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from importlib import resources
from typing import Literal, get_args

from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import ENGLISH, not_english

# Numbers in British words: "23" is "twenty three", "101" is "one hundred and one", "1st" is "first".

UNITS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
SCALES = (
    "", "thousand", "million", "billion", "trillion", "quadrillion", "quintillion", "sextillion",
    "septillion",
)  # fmt: skip
IRREGULAR_ORDINALS = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
    "twelve": "twelfth",
}  # fmt: skip


def spell(digits: str) -> str:
    """A whole number, written in digits, as words.

    Digits that are no quantity (a telephone number with a leading zero, or more digits than have a name) are
    read one by one.

    >>> spell("1066")
    'one thousand and sixty six'
    >>> spell("0770")
    'zero seven seven zero'
    """
    if (len(digits) > 1 and digits[0] == "0") or len(digits) > 3 * len(SCALES):
        return " ".join(UNITS[int(digit)] for digit in digits)
    number = int(digits)
    if number == 0:
        return UNITS[0]
    groups = []
    while number:
        number, group = divmod(number, 1000)
        groups.append(group)
    words: list[str] = []
    for place in range(len(groups) - 1, -1, -1):
        if not groups[place]:
            continue
        if place == 0 and words and groups[0] < 100:
            words.append("and")
        words += _below_a_thousand(groups[place])
        if place:
            words.append(SCALES[place])
    return " ".join(words)


def spell_ordinal(digits: str) -> str:
    """The same as a rank.

    >>> spell_ordinal("21")
    'twenty first'
    """
    words = spell(digits.lstrip("0") or "0").split()
    last = words[-1]
    if last in IRREGULAR_ORDINALS:
        words[-1] = IRREGULAR_ORDINALS[last]
    elif last.endswith("y"):
        words[-1] = last[:-1] + "ieth"
    else:
        words[-1] = last + "th"
    return " ".join(words)


def spell_decimal(whole: str, fraction: str) -> str:
    """A decimal number: its fraction is read digit by digit.

    >>> spell_decimal("2", "05")
    'two point zero five'
    """
    return f"{spell(whole or '0')} point {' '.join(UNITS[int(digit)] for digit in fraction)}"


def _below_a_thousand(number: int) -> list[str]:
    hundreds, rest = divmod(number, 100)
    words = [UNITS[hundreds], "hundred"] if hundreds else []
    if hundreds and rest:
        words.append("and")
    if rest >= 20:
        tens, units = divmod(rest, 10)
        words.append(TENS[tens])
        if units:
            words.append(UNITS[units])
    elif rest:
        words.append(UNITS[rest])
    return words


# A number: perhaps a minus sign that opens a word, digits perhaps grouped in threes by commas, perhaps a
# fraction or an ordinal ending. A full stop with no digit after it ends a sentence, not a number.
NUMBER = re.compile(
    r"(?:(?<![^\s(])(?P<minus>[-−])(?=\.?\d))?"
    r"(?:(?P<whole>\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.(?P<fraction>\d+)|(?P<ordinal>st|nd|rd|th)\b)?"
    r"|(?<!\d)\.(?P<bare>\d+))",
    re.IGNORECASE,
)
# Whose list of hesitations is taken out: ours, or the one that Ellis et al. (2025) published.
FillerList = Literal["ours", "ellis"]
SPOKEN_SIGNS = {"%": " percent ", "&": " and ", "+": " plus "}
# Removed without a trace, so that "it's" and "its", "a.m." and "am" are one word.
JOINING_SIGNS = "'’‘ʼ`´."


class _Signs(dict[int, str | None]):
    """What becomes of each character, worked out when it is first met."""

    def __missing__(self, code: int) -> str | None:
        sign = chr(code)
        if sign in SPOKEN_SIGNS:
            image: str | None = SPOKEN_SIGNS[sign]
        elif sign in JOINING_SIGNS:
            image = None
        elif unicodedata.category(sign)[0] in "PSZC":
            image = " "
        else:
            image = sign
        self[code] = image
        return image


_SIGNS = _Signs()
# In other languages: a point or comma between digits is kept, a sign is no English word.
_DECIMAL = re.compile(r"(?<=\d)[.,](?=\d)")
_POINT = "\u02d1"  # a letter to the rules below
_OTHER_SIGNS = _Signs()
_OTHER_SIGNS.update({ord(sign): f" {sign} " for sign in SPOKEN_SIGNS})
# The same for plain ASCII text, where it can be done on bytes at once; a digit or a spoken sign takes the long way.
_PLAIN = bytes(
    code if chr(code).isalnum() else 0x20 for code in (ord(chr(code).lower()) for code in range(128))
) + bytes(128)
_JOINING = bytes(ord(sign) for sign in JOINING_SIGNS if sign.isascii())
_LONG_WAY = re.compile(r"[0-9%&+]")


def normalise(
    text: str, *, remove_fillers: bool = False, filler_list: FillerList = "ours", language: str = ENGLISH
) -> str:
    """The text as lower-case words with single spaces between them. `filler_list` says which hesitations
    `remove_fillers` takes out.

    >>> normalise("It's the 1st of May; I took 23 tablets, well-spaced.")
    'its the first of may i took twenty three tablets well spaced'
    >>> normalise("Um, not really.", remove_fillers=True)
    'not really'
    >>> normalise("Nein, 2,5 mg am 1.5.", language="de")
    'nein 2.5 mg am 1.5'
    """
    if not_english(language):
        if remove_fillers:
            raise MedjuryError(f"hesitations are {not_english(language)}; compare these texts with theirs")
        kept = _DECIMAL.sub(_POINT, unicodedata.normalize("NFC", text)).lower().translate(_OTHER_SIGNS)
        return " ".join(unicodedata.normalize("NFC", kept).replace(_POINT, ".").split())
    if remove_fillers and (hyphened := _hyphened(filler_list)):
        text = hyphened.sub(" ", text)
    if text.isascii() and not _LONG_WAY.search(text):
        words = text.encode("ascii").translate(_PLAIN, _JOINING).decode("ascii").split()
    else:
        spelled = NUMBER.sub(_in_words, unicodedata.normalize("NFC", text))
        # A sign that goes may have stood between a letter and its accent.
        words = unicodedata.normalize("NFC", spelled.lower().translate(_SIGNS)).split()
    if remove_fillers:
        silent = fillers(filler_list)
        words = [word for word in words if word not in silent]
    return " ".join(words)


@cache
def fillers(filler_list: FillerList = "ours") -> frozenset[str]:
    """The non-lexical tokens that `remove_fillers` takes out, from the data files beside this module."""
    if filler_list not in get_args(FillerList):
        raise MedjuryError(f"there is no list of hesitations {filler_list!r}: `ours` and `ellis` are known")
    file = "fillers.txt" if filler_list == "ours" else f"fillers_{filler_list}.txt"
    text = resources.files("medjury.texts.transcripts").joinpath(file).read_text(encoding="utf-8")
    return frozenset(line for line in text.splitlines() if line and not line.startswith("#"))


@cache
def _hyphened(filler_list: FillerList) -> re.Pattern[str] | None:
    """The hesitations written with a hyphen, found before hyphens become spaces."""
    written = sorted((each for each in fillers(filler_list) if "-" in each), key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(written)})(?![\w-])", re.IGNORECASE) if written else None


def _in_words(match: re.Match[str]) -> str:
    whole = _western((match["whole"] or "").replace(",", ""))
    fraction = _western(match["fraction"] or match["bare"] or "")
    if match["ordinal"]:
        words = spell_ordinal(whole)
    elif fraction:
        words = spell_decimal(whole, fraction)
    else:
        words = spell(whole)
    return f" minus {words} " if match["minus"] else f" {words} "


def _western(digits: str) -> str:
    """The digits of any script as 0 to 9."""
    return digits if digits.isascii() else "".join(str(unicodedata.digit(digit)) for digit in digits)
