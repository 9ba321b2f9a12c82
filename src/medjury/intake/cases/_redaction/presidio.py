"""Presidio's pattern recognisers, used directly: no language model, nothing downloaded, no socket opened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from medjury.intake.cases._redaction.spans import Detector, Span
from medjury.intake.cases._report import CaseError

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
        raise CaseError(
            'redaction needs Presidio: pip install "medjury[redact]" '
            "(or set `presidio: false` to use only the built-in patterns and your own lists)"
        ) from None
    detectors = []
    for name, kind in RECOGNISERS.items():
        if kind not in keep:
            make = getattr(predefined_recognizers, name, None)
            if make is None:
                raise CaseError(
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
