"""Identifiers that clinical notes are full of, found by their form. English and British forms first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from medjury.intake.cases._redaction.spans import Detector, Span

_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)"
)
_DAY = r"(?:0?[1-9]|[12][0-9]|3[01])"
_YEAR = r"(?:(?:19|20)[0-9]{2}|'[0-9]{2})"
# Capital letters of the Latin, Greek and Cyrillic alphabets: Müller and Østergård are names too.
_CAPITAL = "A-Z" + "".join(sign for sign in map(chr, range(0xC0, 0x530)) if sign.isupper())
_CAPITALISED = rf"[{_CAPITAL}](?:[^\W\d_]|-|['’](?!s\b))+"

# A pattern with a group named `value` gives that group alone ("MRN: 1234567" keeps its label).
PATTERNS: Mapping[str, tuple[str, ...]] = {
    "NHS_NUMBER": (r"(?<![\d-])\d{3}[ -]?\d{3}[ -]?\d{4}(?![\d-])",),
    "MRN": (
        r"(?i:\b(?:MRN|(?:medical record|hospital|hosp\.?|patient|unit|NHS|account|encounter|case)"
        r" (?:record )?(?:no|nr|number|id))\b\.?)\s{0,3}[:#]?\s{0,3}#?"
        r"(?P<value>[A-Za-z]{0,4}-?\d(?:[ -]?\d){4,13}[A-Za-z]?)(?!\w)",
    ),
    "EMAIL": (r"[\w.+%'-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}",),
    "URL": (r"(?i:\b(?:https?://|www\.))[^\s<>\"')\]]+",),
    "PHONE": (
        r"(?i:\b(?:tel|telephone|phone|mobile|mob|fax))\b\.?\s{0,3}(?i:no\.?|number)?\s{0,3}[:#]?\s{0,3}"
        r"(?P<value>\+?\(?\d(?:[ ()./-]{0,2}\d){5,14})",
        r"(?i:\b(?:bleep|pager|extension|ext))\b\.?\s{0,3}[:#]?\s{0,3}(?P<value>\d{3,5})(?![\w]|\.\d)",
        r"(?<![\w.])\+\d{1,3}(?:[ ()-]{0,2}\d){6,13}(?!\w)",
        r"(?<![\w.+-])0\d{2,4}[ -]?\d{3,4}[ -]?\d{3,4}(?![\w-]|\.\d)",
        r"(?<![\w.-])\(?\d{3}\)?[ .-]\d{3}[.-]\d{4}(?![\w-]|\.\d)",
    ),
    "SSN": (r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])",),
    "POSTCODE": (r"\b(?:[A-Z]{1,2}\d[A-Z\d]?) ?\d[ABD-HJLNP-UW-Z]{2}\b",),
    "DATE": (
        r"(?<![\w./-])\d{1,2}([/.-])\d{1,2}\1(?:19|20)\d{2}(?![\w/-]|\.\d)",
        r"(?<![\w./-])\d{1,2}/\d{1,2}/\d{2}(?![\w/-]|\.\d)",
        r"(?<![\w./-])(?:19|20)\d{2}([/.-])\d{1,2}\1\d{1,2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
        r"(?![\w/-]|\.\d)",
        rf"\b{_DAY}(?:st|nd|rd|th)?[ -](?:of )?{_MONTH}\.?(?:,?[ -](?:{_YEAR}|\d{{2}}(?!\d| ?[a-zµ%])))?\b",
        rf"\b{_MONTH}\.? {_DAY}(?:st|nd|rd|th)?,? {_YEAR}\b",
        rf"\b(?!May\b){_MONTH}\.? {_DAY}(?:st|nd|rd|th)?\b(?! ?(?:%|mg\b|g\b|ml\b|mcg\b)|\.\d)",
        rf"\b{_MONTH}\.?,?[ -]{_YEAR}\b",
    ),
    "NAME": (
        r"\b(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Professor|Doctor)\b\.?\s{1,3}(?P<value>(?:[A-Z]\.?\s{1,2}){0,2}"
        rf"{_CAPITALISED}(?:\s{{1,2}}{_CAPITALISED})?)",
    ),
}


def built_in_detectors(keep: frozenset[str]) -> list[Detector]:
    """One detector for each kind that is to be replaced."""
    checks = {"NHS_NUMBER": is_nhs_number}
    return [
        pattern_detector(kind, patterns, checks.get(kind))
        for kind, patterns in PATTERNS.items()
        if kind not in keep
    ]


def pattern_detector(
    kind: str, patterns: tuple[str, ...], check: Callable[[str], bool] | None = None
) -> Detector:
    """Finds what any of the patterns matches and the check, if any, confirms."""
    compiled = [re.compile(pattern) for pattern in patterns]

    def detect(text: str) -> Iterator[Span]:
        for pattern in compiled:
            group: str | int = "value" if "value" in pattern.groupindex else 0
            for match in pattern.finditer(text):
                start, end = match.span(group)
                if start < end and (check is None or check(match.group(group))):
                    yield Span(start, end, kind)

    return detect


def is_nhs_number(text: str) -> bool:
    """Whether the ten digits pass the NHS number's check: weights 10 to 1, the sum divisible by 11."""
    digits = [int(sign) for sign in text if sign.isdigit()]
    return (
        len(digits) == 10
        and sum(digit * weight for digit, weight in zip(digits, range(10, 0, -1), strict=True)) % 11 == 0
    )
