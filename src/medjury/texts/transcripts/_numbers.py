"""Numbers in British words: "23" is "twenty three", "101" is "one hundred and one", "1st" is "first"."""

from __future__ import annotations

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
