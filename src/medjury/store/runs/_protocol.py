"""The protocol: what was fixed before a score was seen, in a small file that carries its own hash as its name."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import private_folder, whole_file
from medjury.store.runs._manifest_parts import ManifestHumans, ManifestInstrument, ManifestJudge, ManifestJury
from medjury.store.runs._part import RunPart, in_words
from medjury.store.runs._stated import GateRules

PREFIX = "protocol-"
EMPTY = "0" * 64  # the hash before the first line of a ledger
_SHOWN = 16  # hexadecimal digits of the hash in the file's name


class SeenRun(RunPart):
    """A run that had judged the same data, or some of them, when the protocol was registered."""

    run: str
    ratings: int
    since: str = ""


class EarlierProtocol(RunPart):
    """Another protocol that was registered for the same cases, or for some of them: for how many answers, the hash
    of its rules, and its `line` in the ledger."""

    hash: str
    registered_at: str
    study: str = ""
    cases: int = 0
    rules: str = ""
    line: int = 0


class LedgerPlace(RunPart):
    """A place in the ledger of registrations: the number of a line, and its hash."""

    line: int = 0
    hash: str = EMPTY


class Erasure(RunPart):
    """Answers that were erased after they had been registered: when, how many, and the line of the ledger."""

    at: str
    cases: int
    line: int = 0


class Registration(RunPart):
    """What the ledger held of a run's cases when the run began: where it ended, the protocol that was registered
    first for these cases, every protocol `beside` the run's own, and the erasures since. `whole`: the judged
    answers and the erased ones are together exactly those that were registered; `ratings_whole` is the same for the
    clinicians' ratings. `anchor` is the line to publish of the run's own protocol. `tried` are runs that judged the
    same cases before this one under another protocol. `problem` says what is wrong with the ledger."""

    ledger: LedgerPlace = LedgerPlace()
    first: EarlierProtocol | None = None
    beside: tuple[EarlierProtocol, ...] = ()
    erasures: tuple[Erasure, ...] = ()
    whole: bool = False
    ratings_whole: bool = False
    tried: tuple[SeenRun, ...] = ()
    anchor: str = ""
    problem: str = ""

    @property
    def erased(self) -> int:
        """How many answers were erased."""
        return sum(each.cases for each in self.erasures)


class TouchedBy(RunPart):
    """A tuning that had seen some of the cases: what it is known by, and how many of them."""

    what: str
    cases: int = 0


class Protocol(RunPart):
    """Rules, instrument, prompt, judges, jury, data and clinicians as they were when the study was registered.

    The names are those of the manifest, so that the two can be compared name by name. `humans` is None where no
    clinician had rated yet. `seen` and `earlier` are what was known then of the same data: a protocol that was made
    when its cases had been judged already says so itself. `answer_hashes` are a sample of hashes by which the same
    answers are known in another order, or among others. `touched` says which tunings had seen some of the cases:
    these are development cases, whatever study touched them. `cases_hash` is the hash of the cases in any order,
    and `ledger` the place in the ledger of registrations after which this protocol has its line."""

    format: int = 1
    medjury: str = ""
    study: str = ""
    registered_at: str = ""
    data_hash: str = ""
    cases_hash: str = ""
    answer_hashes: tuple[str, ...] = ()
    cases: int = 0
    instrument: ManifestInstrument = ManifestInstrument()
    prompt_version: str = ""
    judges: tuple[ManifestJudge, ...] = ()
    jury: ManifestJury = ManifestJury()
    juries: tuple[ManifestJury, ...] = ()
    rules: GateRules = GateRules()
    humans: ManifestHumans | None = None
    seen: tuple[SeenRun, ...] = ()
    earlier: tuple[EarlierProtocol, ...] = ()
    touched: tuple[TouchedBy, ...] = ()
    ledger: LedgerPlace = LedgerPlace()

    @classmethod
    def read(cls, path: str | Path) -> Protocol:
        """A protocol from its file; refused where it is not the one that its name promises."""
        file = Path(path)
        with in_words(
            file,
            missing=f"{file}: there is no such protocol; `medjury register STUDY` writes one",
            wrong="this is not a protocol ({})",
        ):
            content = file.read_bytes()
            found = cls.model_validate_json(content)
        if file.name != found.file_name or content != found.text().encode():
            raise MedjuryError(
                f"{file}: the file was changed or renamed after it was registered: the hash of its content does "
                "not match its name. Bring back the registered file; to state other rules, register the study "
                "again."
            )
        return found

    @classmethod
    def all_in(cls, folder: Path) -> tuple[Protocol, ...]:
        """The protocols in a folder, the oldest first; one that was changed is refused."""
        found = [cls.read(file) for file in folder.glob(f"{PREFIX}*.json")]
        return tuple(sorted(found, key=lambda each: (each.registered_at, each.hash())))

    def text(self) -> str:
        """The file: JSON in one order, so that the same protocol has one text and one hash."""
        return json.dumps(self.content(), sort_keys=True, indent=1, ensure_ascii=False) + "\n"

    def hash(self) -> str:
        """SHA-256 of the file; `sha256sum` says the same."""
        return hashlib.sha256(self.text().encode()).hexdigest()

    @property
    def line(self) -> int:
        """Its line in the ledger."""
        return self.ledger.line + 1

    def listed(self) -> EarlierProtocol:
        """What another protocol, a run or a report says of this one."""
        return EarlierProtocol(
            hash=self.hash(),
            registered_at=self.registered_at,
            study=self.study,
            cases=self.cases,
            rules=self.rules.hash(),
            line=self.line,
        )

    @property
    def file_name(self) -> str:
        return f"{PREFIX}{self.hash()[:_SHOWN]}.json"

    def write(self, folder: Path) -> Path:
        """The file in this folder; its path."""
        private_folder(folder)
        place = folder / self.file_name
        with whole_file(place) as file:
            file.write(self.text())
        return place
