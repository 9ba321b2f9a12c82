"""What a study rates and with what: its instrument and its cases, read alike for judges and for clinicians, hashed
as they pass, and kept between plan and run."""

from __future__ import annotations

import hashlib
import heapq
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeVar

from medjury.foundation.documents import Document, nearest, read_document
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument, load_instrument
from medjury.intake import mapping_in
from medjury.intake.cases import (
    FIRST_ANSWER,
    PREFERENCE,
    SECOND_ANSWER,
    Case,
    CaseReader,
    CaseSource,
    PairedCases,
    RedactedCases,
    Redactor,
    Unit,
    make_redactor,
    read_cases,
)
from medjury.studies._file.models import CasesPart
from medjury.studies._file.study_file import StudyFile


def case_ids(stated: list[str] | str, folder: Path) -> list[str]:
    """The ids, from the list or from the file (relative to `folder`)."""
    if isinstance(stated, list):
        return stated
    file = folder / stated
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise MedjuryError(f"{file} cannot be read ({error}); it holds one case id per line") from None
    return [line.strip() for line in lines if line.strip()]


Made = TypeVar("Made")
_OF_ONE_ANSWER = ("claims", "closed_loop", "concordance")


@dataclass(frozen=True)
class Material:
    """The instrument, the cases as they lie in the file, and what redacts them."""

    instrument: Instrument
    source: CaseReader | PairedCases
    redactor: Redactor | None
    unit: Unit | None = None  # what is judged of each conversation

    @property
    def cases(self) -> CaseSource:
        return self.redacted(self.source)

    def redacted(self, source: CaseReader | PairedCases) -> CaseSource:
        """Any cases of the study as everybody sees them."""
        return source if self.redactor is None else RedactedCases(source, self.redactor)


def read_material(document: Document, settings: StudyFile, *, skip_bad_cases: bool = False) -> Material:
    """The instrument with the dimensions that the study names, and its cases."""
    folder = Path(document.file).resolve().parent
    instrument = named(document, ("instrument",), lambda: load_named(settings.instrument, folder))
    if settings.dimensions is not None:
        names = settings.dimensions
        instrument = named(document, ("dimensions",), lambda: only_some(instrument, names))
    named(document, ("report", "rank_by"), lambda: _can_rank_by(instrument, settings.report.rank_by or []))
    read = named(
        document,
        ("cases",),
        lambda: read_case_file(settings.cases, folder, skip_bad_cases=skip_bad_cases, unit=settings.unit),
    )
    named(document, ("design",), lambda: _can_be_paired(settings, instrument))
    source = PairedCases(read) if settings.design == "pairs" else read
    redactor = None
    away = bool(settings.allow_hosts)
    if stated := settings.redact:
        redactor = named(document, ("redact",), lambda: make_redactor(stated, folder=folder, strict=away))
    return Material(instrument, source, redactor, settings.unit)


def read_case_file(
    part: CasesPart, folder: Path, *, skip_bad_cases: bool = False, unit: Unit | None = None
) -> CaseReader:
    mapping = mapping_in(folder, part.mapping)
    on_bad: Literal["skip", "refuse"] = "skip" if skip_bad_cases else "refuse"
    return read_cases(
        folder / part.path,
        mapping=mapping,
        on_bad=on_bad,
        unit=unit,
        language=part.language,
        criteria=part.criteria_in(folder),
        answers=None if part.answers is None else folder / part.answers,
    )


def named(document: Document, place: tuple[str | int, ...], build: Callable[[], Made]) -> Made:
    """Run one step of the set-up; what goes wrong in it is reported with the line of the file that asked for it."""
    try:
        return build()
    except MedjuryError as error:
        raise MedjuryError(document.complaint(place, str(error))) from None


def load_named(name: str, folder: Path) -> Instrument:
    return load_instrument(folder / name if name.endswith((".yaml", ".yml")) else name)


def only_some(instrument: Instrument, names: list[str]) -> Instrument:
    """The instrument with some of its dimensions, and only what still follows from them."""
    known = [dimension.name for dimension in instrument.dimensions]
    if instrument.by_case:
        if set(names) != set(known):
            raise MedjuryError(f"{instrument.name} marks the criteria of each case; take `dimensions` out")
        return instrument
    for name in names:
        if name not in known:
            raise MedjuryError(f"{instrument.name} has no dimension {name!r}; {nearest(name, known)}")
    dimensions = tuple(each for each in instrument.dimensions if each.name in names)
    for each in dimensions:
        if each.skip and each.skip.dimension not in names:
            raise MedjuryError(f"{each.name!r} depends on {each.skip.dimension!r}; add it to the list")
    reversed_ = tuple(each for each in instrument.reversed if each.of in names)
    there = {*names, *(each.name for each in reversed_)}
    composites = tuple(each for each in instrument.composites if set(each.weights) <= there)
    return replace(instrument, dimensions=dimensions, reversed=reversed_, composites=composites)


def _can_be_paired(settings: StudyFile, instrument: Instrument) -> None:
    """Pairs are asked by an instrument of pairs, and by nothing that grades one answer."""
    inputs = {each.name for each in instrument.inputs}
    of_pairs = {FIRST_ANSWER, SECOND_ANSWER} <= inputs
    if settings.design != "pairs":
        if of_pairs:
            raise MedjuryError(f"{instrument.name} compares two answers; add `design: pairs` to the study")
        return
    grades = [each.values for each in instrument.dimensions if each.name == PREFERENCE]
    even = bool(grades) and 0 in grades[0] and sorted(grades[0]) == sorted(-grade for grade in grades[0])
    if not of_pairs or not even or len(instrument.dimensions) > 1:
        raise MedjuryError(
            f"pairs need an instrument with the inputs `{FIRST_ANSWER}` and `{SECOND_ANSWER}` and one dimension, "
            f"`{PREFERENCE}`, whose grades are 0 and as many below it (A is better) as above it; {instrument.name} "
            "is none. Use `pairs`, `pairs_graded` or a file of your own"
        )
    graded = {
        "drafting": settings.drafting,
        "metrics": settings.metrics,
        "audits.injection": settings.audits.injection,
        "tuning": settings.tuning,
        "watch": settings.watch,
    }
    if there := next((name for name, part in graded.items() if part), ""):
        raise MedjuryError(f"`{there}` is about single answers, and this study compares two; take it out")
    for judge in settings.judges:
        if (way := judge.strategy["name"]) in _OF_ONE_ANSWER:
            raise MedjuryError(f"the strategy `{way}` judges one answer, and pairs have two; use `single`")


def refuse_lost_criteria(study: Path, settings: StudyFile) -> None:
    """Before anybody drafts, the file of criteria need not be there; without it, nobody judges by all criteria."""
    file = settings.cases.criteria_in(study.resolve().parent)
    if file is not None and not file.exists():
        problem = (
            f"{settings.cases.criteria} does not exist, so the criteria in it are lost: correct the name, let "
            "`medjury criteria draft` write it, or take `criteria` out"
        )
        raise MedjuryError(read_document(study).complaint(("cases", "criteria"), problem))


def _can_rank_by(instrument: Instrument, names: list[str]) -> None:
    known = [each.name for each in instrument.dimensions]
    known += [each.name for each in instrument.reversed] + [each.name for each in instrument.composites]
    for name in names:
        if name not in known:
            raise MedjuryError(
                f"{instrument.name} has no dimension or composite {name!r}; {nearest(name, known)}"
            )


_LEAF = 32  # hexadecimal digits of the hash of one case
_BLANKS = str.maketrans("\t\n\v\f\r\x1c\x1d\x1e\x1f", " " * 9)


class HashedCases:
    """The cases, and after the last of them the hash of them all; `hash` is empty until then."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self._cases = cases
        self.hash = ""

    def __iter__(self) -> Iterator[Case]:
        digest = hashlib.sha256()
        self.hash = ""
        for case in self._cases:
            digest.update(case.fingerprint().encode())
            yield case
        self.hash = digest.hexdigest()


class AnswerHashes:
    """Gathers, as cases pass, the smallest hashes of their contents: as many of two studies as share answers have
    some in common, whatever the order, the names and the number of their cases. Broder (1997)."""

    # A study that holds one in a hundred of the answers of another is recognised with 9,999 chances in 10,000.
    MOST = 1024

    def __init__(self) -> None:
        self._kept: list[int] = []  # negative, so that the largest is the first to go

    def add(self, case: Case) -> None:
        texts = [case.candidate, case.reference, *[case.texts[name] for name in sorted(case.texts)]]
        texts += [*(note.text for note in case.notes), *(each.hash for each in case.images)]
        written = _plainly_spaced if case.plain else _spaced
        # Another space, or another name of the case, makes no other answer.
        words = b"[%s]" % b", ".join([written(text or "") for text in texts])
        hash = -int.from_bytes(hashlib.sha256(words).digest()[:8], "big")
        if len(self._kept) == self.MOST and hash < self._kept[0]:
            return  # larger than all that are kept, as most are
        if hash in self._kept:
            return
        if len(self._kept) < self.MOST:
            heapq.heappush(self._kept, hash)
        else:
            heapq.heapreplace(self._kept, hash)

    @property
    def kept(self) -> tuple[str, ...]:
        return tuple(f"{-hash:016x}" for hash in sorted(self._kept, reverse=True))


class CaseLeaves:
    """One hash for each case that passes, and one for all of them in whatever order. Erased cases are known by
    their hashes alone: with the cases that are left they must give the hash of those that were registered."""

    def __init__(self) -> None:
        self._digests = bytearray()

    def add(self, case: Case) -> None:
        self._digests += bytes.fromhex(case_leaf(case))

    def __iter__(self) -> Iterator[str]:
        size = _LEAF // 2
        return (self._digests[at : at + size].hex() for at in range(0, len(self._digests), size))

    def hash(self, erased: Iterable[str] = ()) -> str:
        """The hash of all cases that passed, and of those that were erased."""
        return leaves_hash([*self, *erased])


def case_leaf(case: Case) -> str:
    """The hash by which a case is known when it is no longer there. It is one of the fingerprint, which is kept
    nowhere: who has neither the text nor the fingerprint learns nothing from it."""
    return hashlib.sha256(f"case {case.fingerprint()}".encode()).hexdigest()[:_LEAF]


def leaves_hash(leaves: Iterable[str]) -> str:
    """The hash of hashes in whatever order; nothing where there are none."""
    ordered = "\n".join(sorted(leaves))
    return hashlib.sha256(ordered.encode()).hexdigest() if ordered else ""


def _spaced(text: str) -> bytes:
    """The words of a text as JSON, with one space between any two."""
    if not text.isascii():
        words = json.dumps(" ".join(text.split()), ensure_ascii=False)
        return words.encode("utf-8", "surrogatepass")
    return json.dumps(_single_spaced(text.translate(_BLANKS)), ensure_ascii=False).encode()


def _plainly_spaced(text: str) -> bytes:
    """The same for a text in which nothing is to be escaped, and so no other blank than the space."""
    return b'"%s"' % _single_spaced(text).encode()


def _single_spaced(text: str) -> str:
    words = text.strip(" ")
    while "  " in words:
        words = words.replace("  ", " ")
    return words


# Beyond so many characters the file is read a second time: memory does not grow with the number of cases.
_MOST_CHARACTERS = 64_000_000
_CHARACTERS_PER_CASE = 1_000  # about what a case takes beside its texts


class KeptCases:
    """Reads the cases of a file once, and has them again as long as the file is the same. A file that was changed
    is read anew: what was judged is then found not to be what was planned."""

    def __init__(self, cases: CaseReader) -> None:
        self._cases = cases
        self._read_at: tuple[int, ...] | None = None
        self._kept: list[Case] = []

    def reading(self) -> Iterator[Case]:
        """The cases from the file, before all of them are known to be good: bad rows are refused after the last."""
        before, size, kept = self._stamp(), 0, []
        for case in self._cases.unchecked():
            size += _CHARACTERS_PER_CASE + _characters(case)
            if size <= _MOST_CHARACTERS:
                kept.append(case)
            else:
                kept.clear()
            yield case
        if kept and before == self._stamp():
            self._kept, self._read_at = kept, before

    def again(self) -> Iterable[Case]:
        """The same cases for who judges them."""
        unchanged = self._read_at is not None and self._read_at == self._stamp()
        return self._kept if unchanged else self._cases

    def _stamp(self) -> tuple[int, ...] | None:
        """What changes when a file is written; None where there is no one file to look at."""
        file = self._cases.file
        if file is None or not file.is_file():
            return None
        found = file.stat()
        return found.st_mtime_ns, found.st_size, found.st_ino


def _characters(case: Case) -> int:
    texts = (
        case.candidate or "",
        case.reference or "",
        *case.texts.values(),
        *(each.text for each in case.notes),
        *(each.text for each in case.criteria),
    )
    return sum(map(len, texts)) + sum(len(each.content) for each in case.images)
