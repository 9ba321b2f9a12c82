"""A source of real judges as one YAML file: where it comes from, how its files are read, and what danger means."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from medjury.foundation.documents import Document, Place, nearest, read_document, validate
from medjury.foundation.errors import MedjuryError
from medjury.foundation.fields import Name, Optional, Part, Text
from medjury.store.ratings import Source
from medjury.store.runs import GateRules
from medjury.suites._benchmark import checked_address, checked_sha256
from medjury.tables import ID_RULES

LIBRARY = Path(__file__).parent / "library"
UNKNOWN = "unknown"


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [] if value == UNKNOWN else [value]


def _inside(value: str) -> str:
    """A place inside the source's folder: an entry may come from a stranger."""
    if value.startswith(("/", "~")) or "\\" in value or ".." in Path(value).parts:
        raise ValueError("must be a place inside the folder of the source, such as results/grades.csv")
    return value


InsidePath = Annotated[Text, AfterValidator(_inside)]
Hashes = Annotated[list[Annotated[Text, AfterValidator(checked_sha256)]], BeforeValidator(_listed)]


class FilePart(Part):
    """One file. `also` are other places where it is found; `sha256` is one hash, several, or `unknown`."""

    name: InsidePath
    also: list[InsidePath] = []
    sha256: Hashes
    address: Annotated[Optional, AfterValidator(checked_address)] = ""


class DetectorPart(Part):
    """The columns from which the detector of clinically loaded differences makes the judge's grade (`impact`). With
    `label` and `call` each call is graded by a model that learned from the other calls."""

    reference: Text
    hypothesis: Text
    question: Text | None = None
    label: Text | None = None
    call: Text | None = None


class TablePart(Source):
    """One table of scores, in the mapping language of every import. `seen_by`: who made this judge while looking at
    these very answers, on which it then proves nothing."""

    detector: DetectorPart | None = None
    seen_by: Optional = ""


class DangerPart(Part):
    """What danger means here. `grade` (from 1 on) is the grade from which on an answer is dangerous, `gap` the
    share of the scale by which a kinder judge misses it; both are the gate's own where they are not stated."""

    means: Text
    dimensions: list[Text] = Field(min_length=1)
    grade: Annotated[float, Field(ge=1)] | None = None
    gap: Annotated[float, Field(gt=0, le=1)] | None = None


class MatchPart(Part):
    """By which rule ids, and names of systems, are the same in both tables."""

    item: Text | None = None
    system: Text | None = None


class _Shared(Part):
    name: Name
    title: Text
    about: Text
    repository: Text
    commit: Text
    licence: Text
    citation: Optional = ""
    files: list[FilePart] = Field(min_length=1)
    judges: list[TablePart] = []
    notes: list[Text] = []


class EntryPart(_Shared):
    """A source: clinicians, and the judges beside them."""

    folders: list[InsidePath] = Field(min_length=1)
    clinicians: list[TablePart] = Field(min_length=1)
    no_judge: Optional = ""
    scale: list[float] | None = None
    instrument: Text | None = None
    danger: DangerPart | None = None
    rules: GateRules = GateRules()
    match: MatchPart = MatchPart()

    @model_validator(mode="after")
    def _one_scale(self) -> EntryPart:
        if (self.scale is None) == (self.instrument is None):
            raise ValueError(
                "state the `scale`, [lowest, highest] or every grade, or the `instrument` that has it"
            )
        if bool(self.judges) == bool(self.no_judge):
            raise ValueError("list `judges`, or say under `no_judge` why there is none and what is shown")
        return self


class AddedPart(_Shared):
    """Judges of answers that another entry has: its clinicians, scale, danger and rules hold."""

    adds_to: Name


@dataclass(frozen=True, slots=True)
class Table:
    """One table of scores: its file, the lines of its mapping, and the detector that makes its grades, if any."""

    file: str
    mapping: Mapping[str, Any]
    detector: DetectorPart | None = None
    seen_by: str = ""

    @property
    def rater(self) -> str:
        """Who is in it, where the mapping names one rater."""
        return str((self.mapping.get("fixed") or {}).get("rater", ""))


@dataclass(frozen=True, slots=True)
class Entry:
    """A source as read. `added` are entries whose judges stand beside its own."""

    part: EntryPart
    file: Path
    clinicians: tuple[Table, ...]
    judges: tuple[Table, ...]
    added: tuple[AddedPart, ...] = ()
    beside: tuple[Path, ...] = ()  # folders of entries that are not built in: their files may be beside them

    @property
    def files(self) -> tuple[FilePart, ...]:
        return (*self.part.files, *(each for part in self.added for each in part.files))

    @property
    def rules(self) -> GateRules:
        """The gate's rules, with the danger of this source."""
        danger = self.part.danger
        stated: dict[str, Any] = {"severe_dimensions": tuple(danger.dimensions) if danger else ()}
        if danger and danger.grade is not None:
            stated["danger"] = danger.grade
        if danger and danger.gap is not None:
            stated["gap"] = danger.gap
        return self.part.rules.model_copy(update=stated)


def judge_sources(more: Sequence[str | os.PathLike[str]] = (), only: Sequence[str] = ()) -> tuple[Entry, ...]:
    """The built-in sources by name, and those in the files `more`, each a source or judges added to one; those that
    `only` names, where it names any."""
    entries = {file.stem: read_entry(file) for file in sorted(LIBRARY.glob("*.yaml"))}
    adding: list[tuple[Document, AddedPart]] = []
    for place in map(Path, more):
        document = read_document(place)
        if isinstance(document.value, dict) and "adds_to" in document.value:
            adding.append((document, _checked(document, AddedPart)))
            continue
        entry = read_entry(place)
        if entry.part.name in entries:
            raise MedjuryError(
                f"{place}: there is a source {entry.part.name!r} already; give this one another name"
            )
        entries[entry.part.name] = entry
    for document, part in adding:
        entries[part.adds_to] = _with_added(document, part, entries)
    if unknown := [name for name in only if name not in entries]:
        raise MedjuryError(f"there is no source {unknown[0]!r}; {nearest(unknown[0], list(entries))}")
    return tuple(each for name, each in entries.items() if not only or name in only)


def read_entry(file: Path) -> Entry:
    """One source, or every fault of it with its line."""
    document = read_document(file)
    part = _checked(document, EntryPart)
    beside = () if file.parent == LIBRARY else (file.resolve().parent,)
    return Entry(part, file, _tables(document, "clinicians"), _tables(document, "judges"), (), beside)


def _with_added(document: Document, part: AddedPart, entries: Mapping[str, Entry]) -> Entry:
    base = entries.get(part.adds_to)
    if base is None:
        text = f"there is no source {part.adds_to!r}; {nearest(part.adds_to, list(entries))}"
        raise MedjuryError(document.complaint(("adds_to",), text))
    if not part.judges:
        raise MedjuryError(document.complaint(("judges",), "is missing; list the judges that are added"))
    taken = {each.name for each in base.files} & {each.name for each in part.files}
    if taken:
        text = f"{base.part.name} has a file {taken.pop()!r} too; give yours another name"
        raise MedjuryError(document.complaint(("files",), text))
    beside = (*base.beside, Path(document.file).resolve().parent)
    judges = (*base.judges, *_tables(document, "judges"))
    return Entry(base.part, base.file, base.clinicians, judges, (*base.added, part), beside)


def _checked(document: Document, kind: type[Any]) -> Any:
    part = validate(document, kind)
    if faults := sorted(
        (document.line(place), document.complaint(place, text)) for place, text in _faults(part)
    ):
        raise MedjuryError("\n".join(text for _, text in faults))
    return part


def _faults(part: EntryPart | AddedPart) -> Iterator[tuple[Place, str]]:
    """What pydantic cannot see: names that must fit one another."""
    names = [each.name for each in part.files]
    if len(set(names)) < len(names):
        yield ("files",), "a file appears twice"
    sides: list[tuple[Literal["clinicians", "judges"], list[TablePart]]] = [("judges", part.judges)]
    if isinstance(part, EntryPart):
        sides.append(("clinicians", part.clinicians))
        for field in ("item", "system"):
            rule = getattr(part.match, field)
            if rule is not None and rule not in ID_RULES:
                yield ("match", field), f"there is no rule {rule!r}; {nearest(rule, list(ID_RULES))}"
        for wrong in set(part.rules.model_fields_set) & {"severe_dimensions", "danger", "gap"}:
            yield ("rules", wrong), "belongs under `danger`"
        for unknown in part.rules.others:
            yield (
                ("rules", unknown),
                f"there is no such rule; {nearest(unknown, list(GateRules.model_fields))}",
            )
    for side, tables in sides:
        for number, table in enumerate(tables):
            if str(table.file) not in names:
                yield (side, number, "file"), f"is not among the `files`; {nearest(str(table.file), names)}"


def _tables(document: Document, side: str) -> tuple[Table, ...]:
    made = []
    for lines in document.value.get(side, ()):
        mapping = {
            name: value for name, value in lines.items() if name not in ("file", "detector", "seen_by")
        }
        detector = DetectorPart.model_validate(lines["detector"]) if "detector" in lines else None
        made.append(Table(str(lines["file"]), mapping, detector, lines.get("seen_by", "")))
    return tuple(made)
