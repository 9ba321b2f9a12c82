"""Redaction: identifiers in a case's texts become placeholders before anything else sees them.

Patterns and lists find what they describe and nothing more. Redaction lowers a risk; it does not make a text
anonymous, and nothing here says that it does.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from medjury.foundation.documents import nearest
from medjury.intake._files.reading import FileError
from medjury.intake.cases._case import Case, Criterion, MetadataValue, Note
from medjury.intake.cases._identifiers import (
    Detector,
    Span,
    built_in_detectors,
    merge,
    names_detector,
    pattern_detector,
    presidio_detectors,
)
from medjury.intake.cases._language import can_detect, language_code, language_of, shown_language
from medjury.intake.cases._messages import ChatMessage
from medjury.intake.cases._read import CaseReader
from medjury.intake.cases._tally import LeftOut

NO_PROMISE = (
    "Redaction finds what its patterns and lists describe. It is not complete: names, places and rare events "
    "may remain. Case ids, patient ids and system names are not changed. "
    "Look at the result before it leaves the site."
)
_AROUND = 24  # signs shown on either side
_ESCAPED = re.compile(
    r'"[^"\\]*+\\.(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL
)  # a text of a JSON value that has an escape
_PLACEHOLDER = re.compile(r"\[([A-Z][A-Z0-9_]*)-(\d{1,6})\]")


@dataclass(frozen=True, slots=True)
class Redaction:
    """A redacted case, and how many identifiers of each kind were replaced in it. `replacements` has a line for
    each: where, what it became, and the words around it. They hold clinical text: for a person's own screen only.
    `not_known` is the case's language where the rules are for another: numbers and forms are then replaced, names
    are likely to remain."""

    case: Case
    counts: Mapping[str, int]
    replacements: tuple[str, ...] = field(default=(), repr=False)
    not_known: str = ""


class Redactor:
    """Replaces identifiers by placeholders such as [NAME-1], the same one for one identifier in a case.

    `names` are a site's own names, `patterns` its own regular expressions by kind, `keep` the kinds to leave
    (dates matter clinically), `metadata` the metadata fields that are texts to redact, and `regions` the
    countries whose phone numbers are known. `presidio=False` uses only the patterns built in here. The rules
    are for English; `languages` are others for which the site's own names and patterns are enough. A `strict`
    redactor refuses a case in any other, and one whose language nobody stated or can detect: for studies that may
    send cases away.
    """

    def __init__(
        self,
        *,
        names: Iterable[str] = (),
        patterns: Mapping[str, Sequence[str]] | None = None,
        keep: Iterable[str] = (),
        metadata: Iterable[str] = (),
        regions: Sequence[str] = ("GB", "US"),
        languages: Iterable[str] = (),
        presidio: bool = True,
        strict: bool = False,
    ) -> None:
        self._strict = strict
        self._languages = {"", "en", *map(language_code, languages)}
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
        language = language_of(case)
        if self._strict and not language and self._languages == {"", "en"} and not can_detect():
            raise FileError(
                f"case {case.id}: redaction's rules are for English, nobody stated the language of this case, and "
                "this study may send cases to other machines (allow_hosts). State it: "
                "`cases: {path: FILE, language: en}`; or have it detected: pip install 'medjury[languages]'"
            )
        not_known = "" if language in self._languages else shown_language(language)
        if not_known and self._strict:
            raise FileError(
                f"case {case.id}: redaction is not known for its language ({not_known}), and this study may send "
                "cases to other machines (allow_hosts). Where your own names and patterns are enough, say so: "
                f"`redact: {{languages: [{language}], names: FILE}}`; where the case is in English, state it: "
                "`cases: {path: FILE, language: en}`"
            )
        page = _Page(self._detectors, context, _texts_of(case, self._metadata))
        turns = case.messages
        redacted = replace(
            case,
            candidate=None if "candidate" in turns else page.text("candidate", case.candidate),
            reference=page.text("reference", case.reference),
            texts={
                name: page.text(name, text) or "" for name, text in case.texts.items() if name not in turns
            },
            messages={
                name: tuple(
                    _redact_message(page, f"{name}[{place}]", each) for place, each in enumerate(own, 1)
                )
                for name, own in turns.items()
            },
            notes=tuple(_redact_note(page, place, note) for place, note in enumerate(case.notes, 1)),
            metadata={name: self._fact(page, name, value) for name, value in case.metadata.items()},
            criteria=tuple(
                _redact_criterion(page, place, each) for place, each in enumerate(case.criteria, 1)
            ),
            images=tuple(
                replace(each, label=page.text(f"images[{place}].label", each.label) or "")
                for place, each in enumerate(case.images, 1)
            ),
        )
        return Redaction(redacted, dict(page.counts), tuple(page.replacements), not_known)

    def _fact(self, page: _Page, name: str, value: MetadataValue) -> MetadataValue:
        if name in self._metadata and isinstance(value, str):
            return page.text(name, value) or ""
        return value

    def preview(self, cases: Iterable[Case], count: int) -> Iterator[str]:
        """What would be replaced in the first cases, shown in its place, ending with the counts: clinical text, for
        the eyes at this screen."""
        counts: Counter[str] = Counter()
        for case in islice(cases, count):
            redaction = self.redact(case, _AROUND)
            counts.update(redaction.counts)
            yield f"case {case.id}{f' ({case.system})' if case.system else ''}:"
            if redaction.not_known:
                yield f"  not known for this language ({redaction.not_known}): names and places may remain"
            yield from (f"  {each}" for each in redaction.replacements or ("nothing found",))
        yield _counts_text(counts)


def not_known_text(languages: Mapping[str, int]) -> str:
    """How many cases are in a language that the rules are not for, as a sentence; "" where there are none."""
    if not languages:
        return ""
    named = ", ".join(f"{name} {count:,}" for name, count in sorted(languages.items()))
    return (
        f"not redacted for their language ({named}): the rules are for English, so names, places and dates in "
        "words remain there; where your own names and patterns are enough, name the language in `languages`"
    )


def _counts_text(counts: Mapping[str, int]) -> str:
    found = ", ".join(f"{kind} {count:,}" for kind, count in sorted(counts.items()))
    return f"replaced: {found or 'nothing'}"


class RedactedCases:
    """Cases redacted one at a time as they are read; `counts`, `changed` and `not_known` (cases by language
    that the rules are not for) are those of the latest reading."""

    def __init__(self, cases: Iterable[Case], redactor: Redactor) -> None:
        self._cases = cases
        self._redactor = redactor
        self.counts: Counter[str] = Counter()
        self.not_known: Counter[str] = Counter()
        self.changed = 0

    def __iter__(self) -> Iterator[Case]:
        self.counts, self.not_known, self.changed = Counter(), Counter(), 0
        for case in self._cases:
            redaction = self._redactor.redact(case)
            self.counts.update(redaction.counts)
            self.changed += bool(redaction.counts)
            self.not_known.update([redaction.not_known] if redaction.not_known else [])
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
    def counts_text(self) -> str:
        """How many of each kind were replaced so far."""
        return _counts_text(self.counts)

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
        self.replacements: list[str] = []

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
                first, last = max(0, span.start - self._context), span.end + self._context
                around = (text[first : span.start], text[span.start : span.end], text[span.end : last])
                left, before, right = (" ".join(each.split()) for each in around)
                self.replacements.append(f"{name}: ...{left} {{{before} -> {placeholder}}} {right}...")
        return "".join((*parts, text[end:]))

    def json(self, name: str, text: str) -> str:
        """A text that may be JSON: what its texts say is looked at too, and not only how it writes them
        (`M\\u00fcller`)."""

        def plain(match: re.Match[str]) -> str:
            try:
                said = json.loads(match.group(), strict=False)
            except ValueError:
                return match.group()
            redacted = self.json(name, said)
            return match.group() if redacted == said else json.dumps(redacted, ensure_ascii=False)

        return self.text(name, _ESCAPED.sub(plain, text)) or ""

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


def _redact_criterion(page: _Page, place: int, criterion: Criterion) -> Criterion:
    where = f"criteria[{place}]"
    return replace(
        criterion,
        text=page.text(where, criterion.text) or "",
        quote=page.text(f"{where}.quote", criterion.quote) or "",
    )


def _redact_message(page: _Page, where: str, message: ChatMessage) -> ChatMessage:
    of_a_tool = message.kind in ("call", "result")
    return replace(
        message,
        text=page.json(where, message.text) if of_a_tool else page.text(where, message.text) or "",
        name=message.name if of_a_tool else page.text(where, message.name) or "",
        at=page.text(where, message.at) or "",
    )


def _texts_of(case: Case, metadata: Iterable[str]) -> Iterator[str]:
    yield from (case.candidate or "", case.reference or "", *case.texts.values())
    for note in case.notes:
        yield from (note.id, note.text, note.date or "", note.kind or "")
    for each in case.criteria:
        yield from (each.text, each.quote)
    yield from (each.label for each in case.images)
    yield from (str(case.metadata[name]) for name in metadata if name in case.metadata)


# A study's `redact:` settings, checked with every mistake at once.

_SETTINGS = ("names", "patterns", "keep", "metadata", "regions", "languages", "presidio")


def make_redactor(
    settings: Mapping[str, Any] | bool, folder: str | Path = ".", *, strict: bool = False
) -> Redactor | None:
    """The redactor that the settings describe; None where they say `false`.

    names: a file with one name on a line, or a list of names; patterns: regular expressions by kind
    ({WARD: 'Ward \\d+'}); keep, metadata, regions, languages: lists; presidio: true or false. Paths are relative to
    `folder`, the study file's.
    """
    if isinstance(settings, bool):
        return Redactor(strict=strict) if settings else None
    faults = [
        f"{key!r} is not a setting; {nearest(str(key), _SETTINGS)}"
        for key in settings
        if key not in _SETTINGS
    ]
    patterns = _patterns(settings.get("patterns", {}), faults)
    lists = {key: _list(settings.get(key, []), key, faults) for key in ("keep", "metadata", "languages")}
    regions = _list(settings.get("regions", ["GB", "US"]), "regions", faults)
    names = _names(settings.get("names", []), Path(folder), faults)
    presidio = settings.get("presidio", True)
    if not isinstance(presidio, bool):
        faults.append("presidio must be true or false")
    faults += [
        f"regions: {region!r} is not a country code like GB" for region in regions if not _is_code(region)
    ]
    if faults:
        raise FileError("the redaction settings cannot be used: " + "; ".join(faults))
    return Redactor(
        names=names, patterns=patterns, regions=regions, presidio=bool(presidio), strict=strict, **lists
    )


def _patterns(value: object, faults: list[str]) -> dict[str, list[str]]:
    if not isinstance(value, Mapping):
        faults.append("patterns must map kinds to regular expressions")
        return {}
    found: dict[str, list[str]] = {}
    for kind, given in value.items():
        if not isinstance(kind, str) or not re.fullmatch(r"[A-Z][A-Z0-9_]*", kind):
            faults.append(f"patterns: the kind {kind!r} must be capital letters, digits and _")
            continue
        expressions = given if isinstance(given, list) else [given]
        for expression in expressions:
            problem = _problem(expression)
            if problem:
                faults.append(f"patterns.{kind}: {problem}")
        found[kind] = [each for each in expressions if isinstance(each, str)]
    return found


def _problem(expression: object) -> str:
    if not isinstance(expression, str):
        return "must be a regular expression in quotes"
    try:
        compiled = re.compile(expression)
    except re.error as error:
        return f"is not a regular expression: {error.msg} at position {error.pos}"
    return "matches the empty text; make it match at least one character" if compiled.match("") else ""


def _names(value: object, folder: Path, faults: list[str]) -> list[str]:
    if isinstance(value, list):
        return _list(value, "names", faults)
    if not isinstance(value, str):
        faults.append("names must be a file, or a list of names")
        return []
    file = folder / value
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        faults.append(f"names: there is no file {file}")
    except (OSError, UnicodeDecodeError):
        faults.append(f"names: {file} cannot be read as UTF-8 text")
    else:
        return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return []


def _list(value: object, key: str, faults: list[str]) -> list[str]:
    if isinstance(value, list | tuple) and all(isinstance(each, str) and each.strip() for each in value):
        return [str(each) for each in value]
    faults.append(f"{key} must be a list of texts")
    return []


def _is_code(region: str) -> bool:
    return bool(re.fullmatch(r"[A-Z]{2}", region))
