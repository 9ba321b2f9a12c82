"""Redaction at the door: identifiers in a case's texts become placeholders before anything else sees them.

Patterns and lists find what they describe and nothing more. Redaction lowers a risk; it does not make a text
anonymous, and nothing here says that it does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from medjury.intake.cases._case import Case, MetadataValue, Note
from medjury.intake.cases._read import CaseReader
from medjury.intake.cases._redaction.presidio import presidio_detectors
from medjury.intake.cases._redaction.spans import Detector, Span, merge
from medjury.intake.cases._tally import LeftOut

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


# Finds the names of a site's own list, by whole words, in time that does not grow with the list.

_WORD = re.compile(r"\w+(?:['’-]\w+)*")


_POSSESSIVE = ("'s", "’s", "'S", "’S")


def names_detector(names: Iterable[str], kind: str = "NAME") -> Detector:
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
                    yield Span(start, end - 2 if text[end - 2 : end] in _POSSESSIVE else end, kind)
                    break

    return detect


def _words(name: str) -> Iterator[str]:
    for match in _WORD.finditer(name):
        yield _plain(match.group())


def _plain(word: str) -> str:
    word = word.casefold().replace("’", "'")
    return word.removesuffix("'s")


def _adjacent(text: str, tokens: list[tuple[int, int, str]]) -> bool:
    """Between two words of a name stand only blanks, a comma or a full stop: "Smith, Jane", "J. Smith"."""
    gaps = (text[left[1] : right[0]] for left, right in pairwise(tokens))
    return all(re.fullmatch(r"\s{1,5}|[.,]\s{0,5}", gap) for gap in gaps)


NO_PROMISE = (
    "Redaction finds what its patterns and lists describe. It is not complete: names, places and rare events "
    "may remain. Case ids, patient ids and system names are not changed. "
    "Look at the result before it leaves the site."
)
_PLACEHOLDER = re.compile(r"\[([A-Z][A-Z0-9_]*)-(\d{1,6})\]")


@dataclass(frozen=True, slots=True)
class Replacement:
    """One replacement: where, what it became, and the words around it. Holds clinical text: for a person's
    own screen only."""

    field: str
    before: str
    placeholder: str
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class Redaction:
    """A redacted case, and how many identifiers of each kind were replaced in it."""

    case: Case
    counts: Mapping[str, int]
    replacements: tuple[Replacement, ...] = field(default=(), repr=False)


class Redactor:
    """Replaces identifiers by placeholders such as [NAME-1], the same one for one identifier in a case.

    `names` are a site's own names, `patterns` its own regular expressions by kind, `keep` the kinds to leave
    (dates matter clinically), `metadata` the metadata fields that are texts to redact, and `regions` the
    countries whose phone numbers are known. `presidio=False` uses only the patterns built in here.
    """

    def __init__(
        self,
        *,
        names: Iterable[str] = (),
        patterns: Mapping[str, Sequence[str]] | None = None,
        keep: Iterable[str] = (),
        metadata: Iterable[str] = (),
        regions: Sequence[str] = ("GB", "US"),
        presidio: bool = True,
    ) -> None:
        kept = frozenset(keep)
        own = {kind: tuple(each) for kind, each in (patterns or {}).items()}
        self._metadata = frozenset(metadata)
        # A site's own kinds come first: among equal stretches the first kind wins.
        self._detectors: list[Detector] = [pattern_detector(kind, each) for kind, each in own.items()]
        if "NAME" not in kept:
            self._detectors.append(names_detector(names))
        self._detectors += built_in_detectors(kept)
        if presidio:
            self._detectors += presidio_detectors(kept, regions)

    def redact(self, case: Case, context: int = 0) -> Redaction:
        """The case with its texts, notes and named metadata redacted; ids and system names stay as they are.

        With `context`, the replacements are returned with that many characters on either side.
        """
        page = _Page(self._detectors, context, _texts_of(case, self._metadata))
        redacted = replace(
            case,
            candidate=page.text("candidate", case.candidate),
            reference=page.text("reference", case.reference),
            texts={name: page.text(name, text) or "" for name, text in case.texts.items()},
            notes=tuple(_redact_note(page, place, note) for place, note in enumerate(case.notes, 1)),
            metadata={name: self._fact(page, name, value) for name, value in case.metadata.items()},
        )
        return Redaction(redacted, dict(page.counts), tuple(page.replacements))

    def _fact(self, page: _Page, name: str, value: MetadataValue) -> MetadataValue:
        if name in self._metadata and isinstance(value, str):
            return page.text(name, value) or ""
        return value


class RedactedCases:
    """Cases redacted one at a time as they are read; `counts` and `changed` tell of the latest reading."""

    def __init__(self, cases: Iterable[Case], redactor: Redactor) -> None:
        self._cases = cases
        self._redactor = redactor
        self.counts: Counter[str] = Counter()
        self.changed = 0

    def __iter__(self) -> Iterator[Case]:
        self.counts, self.changed = Counter(), 0
        for case in self._cases:
            redaction = self._redactor.redact(case)
            self.counts.update(redaction.counts)
            self.changed += bool(redaction.counts)
            yield redaction.case

    def redacting(self, cases: Iterable[Case]) -> RedactedCases:
        """Other cases, redacted in the same way."""
        return RedactedCases(cases, self._redactor)

    def with_raw(self) -> Iterator[tuple[Case, Case]]:
        """Each case as it is in the file, and redacted: marks must know a text with and without names."""
        for case in self._cases:
            yield case, self._redactor.redact(case).case

    def redacted(self, case: Case) -> Case:
        """Another text of the same cases, such as a clinician's comment, with the same rules."""
        return self._redactor.redact(case).case

    @property
    def source(self) -> Iterable[Case]:
        """The cases as they are in the file."""
        return self._cases

    @property
    def skipped(self) -> int:
        """How many rows the reader of the cases left out."""
        return self._cases.skipped if isinstance(self._cases, CaseReader) else 0

    @property
    def left_out(self) -> LeftOut:
        """What it left out, with counts."""
        return self._cases.left_out if isinstance(self._cases, CaseReader) else LeftOut()


class _Page:
    """The placeholders of one case: the same identifier, written anywhere in it, has the same number."""

    def __init__(self, detectors: list[Detector], context: int, texts: Iterable[str]) -> None:
        self._detectors = detectors
        self._context = context
        self._given: dict[tuple[str, str], str] = {}
        self._last: Counter[str] = Counter()
        for text in texts:  # a placeholder that is in the text already is somebody else's
            for kind, number in _PLACEHOLDER.findall(text):
                self._last[kind] = max(self._last[kind], int(number))
        self.counts: Counter[str] = Counter()
        self.replacements: list[Replacement] = []

    def text(self, name: str, text: str | None) -> str | None:
        if not text:
            return text
        masked = _PLACEHOLDER.sub(lambda match: "\x1f" * len(match.group()), text)
        spans = merge(span for detect in self._detectors for span in detect(masked))
        parts: list[str] = []
        end = 0
        for span in spans:
            placeholder = self._placeholder(span, text)
            parts += (text[end : span.start], placeholder)
            end = span.end
            self.counts[span.kind] += 1
            if self._context:
                left = text[max(0, span.start - self._context) : span.start]
                right = text[span.end : span.end + self._context]
                self.replacements.append(
                    Replacement(name, text[span.start : span.end], placeholder, left, right)
                )
        return "".join((*parts, text[end:]))

    def _placeholder(self, span: Span, text: str) -> str:
        words = re.findall(r"\w+", re.sub(r"['’]s\b", "", text[span.start : span.end].casefold()))
        if span.kind == "NAME":  # "Smith, Jane" is Jane Smith
            words.sort()
        key = (span.kind, " ".join(words))
        if key not in self._given:
            self._last[span.kind] += 1
            self._given[key] = f"[{span.kind}-{self._last[span.kind]}]"
        return self._given[key]


def _redact_note(page: _Page, place: int, note: Note) -> Note:
    where = f"notes[{place}]"
    return Note(
        id=page.text(f"{where}.id", note.id) or note.id,
        text=page.text(where, note.text) or "",
        date=page.text(f"{where}.date", note.date),
        kind=page.text(f"{where}.kind", note.kind),
    )


def _texts_of(case: Case, metadata: Iterable[str]) -> Iterator[str]:
    yield from (case.candidate or "", case.reference or "", *case.texts.values())
    for note in case.notes:
        yield from (note.id, note.text, note.date or "", note.kind or "")
    yield from (str(case.metadata[name]) for name in metadata if name in case.metadata)
