"""How identifiers are found in a text: by their form, by a site's list of names, and by Presidio's recognisers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from medjury.intake._files.reading import FileError


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text and the kind of identifier it is."""

    start: int
    end: int
    kind: str


Detector = Callable[[str], Iterable[Span]]


def merge(spans: Iterable[Span]) -> Iterator[Span]:
    """Disjoint spans that cover every character of the given ones.

    Where spans overlap, their union takes the kind of the longest (of the first given, among equals): to keep
    one and drop the other would leave half an identifier standing.
    """
    ordered = sorted(enumerate(spans), key=lambda each: (each[1].start, -each[1].end, each[0]))
    current: Span | None = None
    longest = 0
    for _, span in ordered:
        if current is None or span.start >= current.end:
            if current is not None:
                yield current
            current, longest = span, span.end - span.start
            continue
        length = span.end - span.start
        kind = span.kind if length > longest else current.kind
        current = Span(current.start, max(current.end, span.end), kind)
        longest = max(longest, length)
    if current is not None:
        yield current


# Identifiers that clinical notes are full of, found by their form. English and British forms first.

_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)"
)
_DAY = r"(?:0?[1-9]|[12][0-9]|3[01])"
_YEAR = r"(?:(?:19|20)[0-9]{2}|'[0-9]{2})"
# Capital letters of the Latin, Greek and Cyrillic alphabets: Müller and Østergård are names too.
_CAPITAL = "A-Z" + "".join(sign for sign in map(chr, range(0xC0, 0x530)) if sign.isupper())
_CAPITALISED = rf"[{_CAPITAL}](?:[^\W\d_]|-|['’](?!s\b))+"

# A pattern with a group named `value` gives that group alone ("MRN: 1234567" keeps its label). Labels may be names
# of JSON (`"patient_id": "1234567"`).
PATTERNS: Mapping[str, tuple[str, ...]] = {
    "NHS_NUMBER": (r"(?<![\d-])\d{3}[ -]?\d{3}[ -]?\d{4}(?![\d-])",),
    "MRN": (
        r"(?i:(?:\b|_)(?:MRN|(?:medical[ _]record|hospital|hosp\.?|patient|unit|NHS|account|encounter|case)"
        r"[ _]?(?:record[ _])?(?:no|nr|number|id))\b\.?)[\"']?\s{0,3}[:#]?\s{0,3}[\"'#]?"
        r"(?P<value>[A-Za-z]{0,4}-?\d(?:[ -]?\d){4,13}[A-Za-z]?)(?!\w)",
    ),
    "EMAIL": (r"[\w.+%'-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}",),
    "URL": (r"(?i:\b(?:https?://|www\.))[^\s<>\"')\]]+",),
    "PHONE": (
        r"(?i:(?:\b|_)(?:tel|telephone|phone|mobile|mob|fax)(?:\b|_))\.?\s{0,3}(?i:no\.?|number)?[\"']?\s{0,3}[:#]?\s{0,3}"
        r"[\"']?"
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


# Finds the names of a site's own list, by whole words, in time that does not grow with the list.

_WORD = re.compile(r"\w+(?:['’-]\w+)*")


_POSSESSIVE = ("'s", "’s", "'S", "’S")


def names_detector(names: Iterable[str]) -> Detector:
    """Finds each name whatever the case and the spacing; "Jane Smith" is also found as "Smith, Jane"."""
    known: dict[str, set[tuple[str, ...]]] = {}
    for name in names:
        words = tuple(_words(name))
        for order in {words, (*words[-1:], *words[:-1])}:
            if order:
                known.setdefault(order[0], set()).add(order)
    longest_first = {first: sorted(found, key=len, reverse=True) for first, found in known.items()}

    def detect(text: str) -> Iterator[Span]:
        tokens = [(match.start(), match.end(), _plain(match.group())) for match in _WORD.finditer(text)]
        for place, (start, _, word) in enumerate(tokens):
            for name in longest_first.get(word, ()):
                following = tokens[place : place + len(name)]
                if tuple(each[2] for each in following) == name and _adjacent(text, following):
                    end = following[-1][1]
                    yield Span(start, end - 2 if text[end - 2 : end] in _POSSESSIVE else end, "NAME")
                    break

    return detect


def _words(name: str) -> Iterator[str]:
    for match in _WORD.finditer(name):
        yield _plain(match.group())


def _plain(word: str) -> str:
    word = word.casefold().replace("’", "'")
    return word.removesuffix("'s")


def _adjacent(text: str, tokens: list[tuple[int, int, str]]) -> bool:
    """Between two words of a name are only blanks, a comma or a full stop: "Smith, Jane", "J. Smith"."""
    gaps = (text[left[1] : right[0]] for left, right in pairwise(tokens))
    return all(re.fullmatch(r"\s{1,5}|[.,]\s{0,5}", gap) for gap in gaps)


# Presidio's pattern recognisers, used directly: no language model, nothing downloaded, no socket opened.

# Recogniser -> the kind its finds are given. Those whose bare pattern fits any number are left out: without a
# language model to weigh the words around it they would replace laboratory values.
RECOGNISERS = {
    "EmailRecognizer": "EMAIL",
    "UrlRecognizer": "URL",
    "PhoneRecognizer": "PHONE",
    "DateRecognizer": "DATE",
    "IpRecognizer": "IP_ADDRESS",
    "MacAddressRecognizer": "MAC_ADDRESS",
    "IbanRecognizer": "IBAN",
    "CreditCardRecognizer": "CREDIT_CARD",
    "NhsRecognizer": "NHS_NUMBER",
    "UkNinoRecognizer": "NINO",
    "UsSsnRecognizer": "SSN",
    "UsMbiRecognizer": "MBI",
    "UsItinRecognizer": "ITIN",
}
VERSION = "2.2.362"
_MINIMUM = 0.4
# "fever.no chest pain" is a missing blank, not a Norwegian address; only addresses with a scheme score 0.6.
_MINIMUM_FOR = {"UrlRecognizer": 0.6}
# Presidio compares its finds pairwise, so a long text is read in windows. They overlap by more than the
# longest identifier and are cut at blanks.
_WINDOW, _OVERLAP = 8_000, 400


def presidio_detectors(keep: frozenset[str], regions: Sequence[str]) -> list[Detector]:
    """One detector for each recogniser whose kind is to be replaced."""
    try:
        from presidio_analyzer import predefined_recognizers
    except ImportError:
        raise FileError(
            'redaction needs Presidio: pip install "medjury[redact]" '
            "(or set `presidio: false` to use only the built-in patterns and your own lists)"
        ) from None
    detectors = []
    for name, kind in RECOGNISERS.items():
        if kind not in keep:
            make = getattr(predefined_recognizers, name, None)
            if make is None:
                raise FileError(
                    f"this version of Presidio has no {name}; install presidio-analyzer {VERSION}, "
                    "or set `presidio: false`"
                )
            minimum = _MINIMUM_FOR.get(name, _MINIMUM)
            detectors.append(_detector(_make(name, make, regions, minimum), kind, minimum))
    return detectors


def _make(name: str, make: Any, regions: Sequence[str], minimum: float) -> Any:
    if name == "PhoneRecognizer":
        return make(supported_regions=tuple(regions))
    if name in (
        "UrlRecognizer",
        "DateRecognizer",
    ):  # no check can raise a score here, so weak patterns are waste
        return make(patterns=[pattern for pattern in make.PATTERNS if pattern.score >= minimum])
    recogniser = make()
    if name == "EmailRecognizer":
        # Its check of the domain would fetch the public suffix list. Any address is replaced, known domain or
        # not: hospitals have their own.
        recogniser.validate_result = lambda _: None
    return recogniser


def _detector(recogniser: Any, kind: str, minimum: float) -> Detector:
    entities = recogniser.get_supported_entities()

    def detect(text: str) -> Iterator[Span]:
        for start, end in _windows(text):
            for found in recogniser.analyze(text[start:end], entities):
                if found.score >= minimum:
                    yield Span(start + found.start, start + found.end, kind)

    return detect


def _windows(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while True:
        end = min(len(text), start + _WINDOW)
        if end < len(text):
            blank = text.rfind(" ", start + _WINDOW - _OVERLAP, end)
            end = blank if blank > 0 else end
        yield start, end
        if end == len(text):
            return
        blank = text.find(" ", end - _OVERLAP, end)
        start = blank if blank > 0 else end - _OVERLAP
