"""How alike two texts sound: Soundex codes of their words, compared by Jaro-Winkler."""

from __future__ import annotations

DIGITS = {
    **dict.fromkeys("bfpv", "1"),
    **dict.fromkeys("cgjkqsxz", "2"),
    **dict.fromkeys("dt", "3"),
    "l": "4",
    **dict.fromkeys("mn", "5"),
    "r": "6",
}


def soundex(word: str) -> str:
    """American Soundex: a letter and three digits; "" for a word without a Latin letter.

    >>> soundex("throat"), soundex("Robert"), soundex("Rupert"), soundex("Ashcraft")
    ('T630', 'R163', 'R163', 'A261')
    """
    letters = [letter for letter in word.lower() if "a" <= letter <= "z"]
    if not letters:
        return ""
    code, before = letters[0].upper(), DIGITS.get(letters[0], "")
    for letter in letters[1:]:
        digit = DIGITS.get(letter, "")
        if digit and digit != before:
            code += digit
        # Vowels part two equal digits, h and w do not.
        if letter not in "hw":
            before = digit
    return (code + "000")[:4]


def jaro_winkler(first: str, second: str) -> float:
    """Jaro's similarity, raised for a common beginning of up to four signs (Winkler 1990).

    >>> round(jaro_winkler("MARTHA", "MARHTA"), 4), jaro_winkler("", "a")
    (0.9611, 0.0)
    """
    if not first or not second:
        return float(first == second)
    window = max(max(len(first), len(second)) // 2 - 1, 0)
    taken = [False] * len(second)
    matched = []
    for place, sign in enumerate(first):
        for other in range(max(0, place - window), min(len(second), place + window + 1)):
            if not taken[other] and second[other] == sign:
                taken[other] = True
                matched.append(sign)
                break
    if not matched:
        return 0.0
    others = [sign for sign, used in zip(second, taken, strict=True) if used]
    swaps = sum(one != other for one, other in zip(matched, others, strict=True)) / 2
    count = len(matched)
    jaro = (count / len(first) + count / len(second) + (count - swaps) / count) / 3
    common = 0
    while common < min(4, len(first), len(second)) and first[common] == second[common]:
        common += 1
    return jaro + common * 0.1 * (1 - jaro)


def phonetic_similarity(reference: str, hypothesis: str) -> float:
    """Jaro-Winkler similarity of the two texts written in Soundex codes."""
    return jaro_winkler(
        *(" ".join(filter(None, map(soundex, text.split()))) for text in (reference, hypothesis))
    )
