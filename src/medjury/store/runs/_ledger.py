"""The ledger of registrations beside a study file: every protocol and every erasure has its line.

Each line holds the hash of the line before it. So a line that is changed or taken out in the middle is found by the
next one. Lines that are cut off at the end are found by whoever remembers them: protocols, manifests, and the line
that was published elsewhere.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import ValidationError

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import write_whole
from medjury.store.runs._manifest import Manifest
from medjury.store.runs._part import Check, RunPart, first_problem
from medjury.store.runs._protocol import (
    EarlierProtocol,
    Erasure,
    LedgerPlace,
    Protocol,
    Registration,
)

LEDGER = "registrations.jsonl"


class LedgerLine(RunPart):
    """A protocol that was registered, or an erasure. `cases_hash` is that of the registered cases; `answers` is the
    sample by which the same answers are recognised among others. `erased` and `ratings` hold one hash for each
    erased answer, and for what clinicians had said of each erased case."""

    line: int
    at: str
    event: Literal["registered", "erased"]
    study: str = ""
    protocol: str = ""
    rules: str = ""
    cases: int = 0
    cases_hash: str = ""
    answers: tuple[str, ...] = ()
    erased: tuple[str, ...] = ()
    ratings: tuple[str, ...] = ()
    previous: str

    def text(self) -> str:
        return json.dumps(self.content(), ensure_ascii=True) + "\n"

    def listed(self) -> Erasure:
        """What a manifest says of an erasure: when, how many, and where."""
        return Erasure(at=self.at, cases=self.cases, line=self.line)


@dataclass(frozen=True, slots=True)
class Ledger:
    """The lines of a ledger as far as their chain is whole, the hash of each, and what is wrong with the rest."""

    NAME: ClassVar[str] = LEDGER

    file: Path
    lines: tuple[LedgerLine, ...] = ()
    hashes: tuple[str, ...] = ()
    problem: str = ""

    @classmethod
    def read(cls, folder: Path) -> Ledger:
        """The ledger in a study's folder; one without a line where there is none."""
        file = folder / LEDGER
        try:
            content = file.read_bytes()
        except FileNotFoundError:
            return cls(file)
        except OSError as error:
            raise MedjuryError(f"{file}: cannot be read ({error.strerror})") from None
        lines: list[LedgerLine] = []
        hashes: list[str] = []
        for number, text in enumerate(content.splitlines(keepends=True), 1):
            try:
                line = LedgerLine.model_validate_json(text)
            except ValidationError as error:
                return cls(
                    file,
                    tuple(lines),
                    tuple(hashes),
                    f"line {number:,} cannot be read ({first_problem(error)})",
                )
            if line.line != number or line.previous != (hashes[-1] if hashes else LedgerPlace().hash):
                words = f"line {number - 1:,} was changed, or a line before line {number:,} was taken out"
                return cls(
                    file,
                    tuple(lines),
                    tuple(hashes),
                    words if number > 1 else "its first lines were taken out",
                )
            lines.append(line)
            hashes.append(hashlib.sha256(text).hexdigest())
        return cls(file, tuple(lines), tuple(hashes))

    @classmethod
    def enter_protocol(cls, folder: Path, made: Protocol) -> tuple[Protocol, Ledger]:
        """Add a protocol to the ledger of a study's folder: the protocol with its place, and the ledger. The line
        is written before the protocol's own file, so that a protocol without its line was never registered here."""
        with _held(folder):
            ledger = _kept(folder)
            earlier = ledger.of(made.cases_hash, made.answer_hashes)
            known = {each.hash for each in earlier}
            earlier += tuple(each for each in made.earlier if each.hash not in known)
            whole = made.replaced(earlier=earlier, ledger=ledger.end)
            return whole, _added(ledger, _line_of(whole))

    @classmethod
    def enter_erasure(
        cls, folder: Path, cases_hash: str, erased: Iterable[str], ratings: Iterable[str], at: str
    ) -> LedgerLine | None:
        """Add an erasure of registered cases: a hash for each answer, and for what clinicians had said of each
        case. None where all of them are in the ledger already."""
        with _held(folder):
            ledger = _kept(folder)
            known = {hash for line in ledger.erasures(cases_hash) for hash in (*line.erased, *line.ratings)}
            gone = tuple(sorted(each for each in erased if each not in known))
            given = tuple(sorted(each for each in ratings if each not in known))
            if not gone:
                return None
            line = LedgerLine(
                line=0, at=at, event="erased", cases=len(gone), cases_hash=cases_hash, erased=gone, ratings=given,
                previous="",
            )  # fmt: skip
            return _added(ledger, line).lines[-1]

    @property
    def end(self) -> LedgerPlace:
        """The last line."""
        return self.place(len(self.lines))

    def place(self, line: int) -> LedgerPlace:
        return LedgerPlace(line=line, hash=self.hashes[line - 1]) if line else LedgerPlace()

    def holds(self, place: LedgerPlace) -> bool:
        """Whether the ledger is the one of this place, or grew from it."""
        return place.line <= len(self.lines) and self.place(place.line).hash == place.hash

    def registered(self, protocol: str) -> LedgerLine | None:
        """The line of the protocol with this hash."""
        return next((each for each in self.lines if each.protocol == protocol), None)

    def of(self, cases_hash: str, answers: Collection[str]) -> tuple[EarlierProtocol, ...]:
        """The protocols for these cases, or for some of them, in the order in which they were registered."""
        wanted = {*answers}
        return tuple(
            EarlierProtocol(
                hash=each.protocol,
                registered_at=each.at,
                study=each.study,
                cases=each.cases,
                rules=each.rules,
                line=each.line,
            )
            for each in self.lines
            if each.event == "registered"
            and (not wanted.isdisjoint(each.answers) or ("" != each.cases_hash == cases_hash))
        )

    def erasures(self, cases_hash: str) -> tuple[LedgerLine, ...]:
        """What was erased of the cases that were registered under this hash."""
        return tuple(each for each in self.lines if each.event == "erased" and each.cases_hash == cases_hash)

    def anchor_line(self, protocol: Protocol) -> str:
        """The line to publish: when, the hashes of protocol and cases, and the line of the ledger with its hash, in
        which every line before it is bound."""
        place = self.place(protocol.line)
        return (
            f"medjury registration {protocol.registered_at} protocol {protocol.hash()} cases {protocol.cases_hash} "
            f"line {place.line} {place.hash}"
        )

    def lacks(self, known: Protocol) -> str:
        """Why the ledger is not the one that this protocol was written into; nothing where it is."""
        name = f"protocol {known.hash()[:16]}"
        if not self.lines:
            return f"is missing, but {name} was written on its line {known.line:,}"
        line = self.registered(known.hash())
        if line is None or line.line != known.line or not self.holds(known.ledger):
            return f"does not hold {name} on line {known.line:,}: lines were changed or taken out"
        return ""


def _line_of(protocol: Protocol) -> LedgerLine:
    return LedgerLine(
        line=0,
        at=protocol.registered_at,
        event="registered",
        study=protocol.study,
        protocol=protocol.hash(),
        rules=protocol.rules.hash(),
        cases=protocol.cases,
        cases_hash=protocol.cases_hash,
        answers=protocol.answer_hashes,
        previous="",
    )


def _kept(folder: Path) -> Ledger:
    """The ledger, once it is known to be whole."""
    ledger = Ledger.read(folder)
    problem = ledger.problem or next(filter(None, map(ledger.lacks, Protocol.all_in(folder))), "")
    if problem:
        raise MedjuryError(
            f"{ledger.file}: {problem}. Bring back {LEDGER} from a copy. Without one, whoever reads these "
            "studies cannot know which protocol was the first; nothing was written"
        )
    return ledger


def _added(ledger: Ledger, line: LedgerLine) -> Ledger:
    end = ledger.end
    whole = line.replaced(line=end.line + 1, previous=end.hash)
    before = ledger.file.read_bytes() if ledger.lines else b""
    text = whole.text().encode()
    try:
        write_whole(ledger.file, before + text)
    except OSError as error:
        raise MedjuryError(f"{ledger.file}: cannot be written ({error.strerror})") from None
    return Ledger(ledger.file, (*ledger.lines, whole), (*ledger.hashes, hashlib.sha256(text).hexdigest()))


@contextlib.contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Of two that add a line at once, one waits for the other. (Windows has no such lock here.)"""
    try:
        import fcntl
    except ImportError:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def registration_now(folder: Path | None, manifest: Manifest) -> Registration | None:
    """What the run's manifest holds of the ledger, and what the ledger beside the study file says since, where it
    is still there: protocols that were registered later, and that it was cut or taken away."""
    stated = manifest.registration
    ledger = None if stated is None else _live(folder, manifest)
    if stated is None or ledger is None:
        return stated
    problem = ledger.problem or _not_held(ledger, stated.ledger)
    if problem:
        return stated.replaced(problem=stated.problem or f"{LEDGER}: {problem}")
    known = {manifest.protocol_hash, *(each.hash for each in stated.beside)}
    later = (
        each for each in ledger.of(manifest.cases_hash, manifest.answer_hashes) if each.hash not in known
    )
    return stated.replaced(beside=(*stated.beside, *later))


def _live(folder: Path | None, manifest: Manifest) -> Ledger | None:
    """The ledger beside the run's study file; None where the study file is not there."""
    study = None if folder is None or not manifest.study_file else folder / manifest.study_file
    return Ledger.read(study.resolve().parent) if study is not None and study.is_file() else None


def _not_held(ledger: Ledger, place: LedgerPlace) -> str:
    if ledger.holds(place):
        return ""
    if not ledger.lines:
        return f"is missing; it had {place.line:,} lines when the run began"
    if len(ledger.lines) < place.line:
        return f"was cut: it has {len(ledger.lines):,} lines, and had {place.line:,} when the run began"
    return f"was changed: its line {place.line:,} is not the one it was when the run began"


_ANCHOR = re.compile(
    r"medjury registration (?P<at>\S+) protocol (?P<protocol>[0-9a-f]{64}) cases (?P<cases>[0-9a-f]{64}) "
    r"line (?P<line>[0-9]{1,9}) (?P<hash>[0-9a-f]{64})"
)


def check_ledger(folder: Path, manifest: Manifest, anchor: str = "") -> tuple[Check, ...]:
    """The ledger beside the run's study file: its chain, and that it still holds what the run found. With an
    `anchor`, the line that was published when the study was registered: that the run's protocol is that one, that
    the ledger holds it there, and that it was the first for these cases."""
    stated, ledger = manifest.registration, _live(folder, manifest)
    if not anchor and (stated is None or not stated.ledger.line):
        return ()
    found = [] if ledger is None else [_whole(ledger, stated)]
    if not anchor:
        return tuple(found)
    match = _ANCHOR.fullmatch(" ".join(anchor.split()))
    if match is None:
        raise MedjuryError(
            "--anchor: this is not a line that `medjury register` prints; it begins with `medjury registration` "
            "and ends with a hash of 64 digits. Name it whole, in quotation marks"
        )
    text = _of_protocol(manifest.protocol, match)
    if text:
        return (*found, Check("anchor", False, text))
    if ledger is None:
        text = f"the run's study file ({manifest.study_file or 'not known'}) is not there, so that {LEDGER}, which"
        return (
            *found,
            Check("anchor", False, f"{text} lies beside it, cannot be read; put the study's folder back"),
        )
    return (*found, *_in_ledger(ledger, match))


def _whole(ledger: Ledger, stated: Registration | None) -> Check:
    problem = ledger.problem or ("" if stated is None else _not_held(ledger, stated.ledger) or stated.problem)
    return Check(LEDGER, not problem, problem or f"{len(ledger.lines):,} lines, the chain is whole")


def _of_protocol(protocol: Protocol | None, match: re.Match[str]) -> str:
    """Why the line is not that of the run's protocol; nothing where it is."""
    if protocol is None:
        return "the run has no registered protocol"
    if protocol.hash() != match["protocol"]:
        return f"the line is of protocol {match['protocol'][:16]}, and the run is of {protocol.hash()[:16]}"
    if protocol.cases_hash != match["cases"]:
        return "the line is of other cases than the run's protocol"
    if protocol.registered_at != match["at"]:
        return f"the line is of {match['at']}, and the protocol was registered at {protocol.registered_at}"
    return ""


def _in_ledger(ledger: Ledger, match: re.Match[str]) -> Iterator[Check]:
    number = int(match["line"])
    if not ledger.holds(LedgerPlace(line=number, hash=match["hash"])) or not number:
        what = "is missing" if not ledger.lines else f"has another line {number:,}, or none"
        yield Check(
            "anchor",
            False,
            f"{LEDGER} {what}: it was changed, cut or written again since the line was published",
        )
        return
    line = ledger.lines[number - 1]
    if line.protocol != match["protocol"]:
        yield Check(
            "anchor", False, f"line {number:,} of {LEDGER} is of another protocol than the published line"
        )
        return
    first = ledger.of(line.cases_hash, line.answers)[0]
    same = first.line == number
    yield Check(
        "anchor",
        same,
        f"protocol {line.protocol[:16]}, line {number:,} of {LEDGER}, the first for these cases"
        if same
        else f"protocol {first.hash[:16]} was registered first for these cases (line {first.line:,}, "
        f"{first.registered_at}); the published line is line {number:,}",
    )
