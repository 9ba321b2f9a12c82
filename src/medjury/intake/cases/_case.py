"""The case: what is judged, and everything a rater may look at while judging it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

MetadataValue = str | int | float | bool
_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=True)


@dataclass(frozen=True, slots=True)
class Note:
    """One dated document of a record, with the id by which a summary may cite it."""

    id: str
    text: str
    date: str | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a case was read from, so that an error can name file and row."""

    file: str
    row: int


@dataclass(frozen=True, slots=True)
class Case:
    """One answer of one system to one item, with the texts it must be judged against.

    `id` names the item; the pair (`id`, `system`) is unique in a study, so ten systems that answered the
    same item are ten cases with one id. `patient` groups items of one patient: resampling, folds and
    few-shot examples never split it.
    """

    id: str
    candidate: str | None = None
    reference: str | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    system: str = ""
    vendor: str = ""
    patient: str | None = None
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    origin: Origin | None = field(default=None, compare=False)
    _fingerprint: str = field(default="", init=False, repr=False, compare=False)
    _plain: bool = field(default=False, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "texts", MappingProxyType(dict(self.texts)))
        object.__setattr__(self, "metadata", MappingProxyType(dict(self.metadata)))

    def input(self, name: str) -> str | tuple[Note, ...] | None:
        """The input an instrument asks for by name, or None where the case has nothing under it."""
        if name == "candidate":
            return self.candidate
        if name == "reference":
            return self.reference
        if name == "notes" and self.notes:
            return self.notes
        if name in self.texts:
            return self.texts[name]
        value = self.metadata.get(name)
        return None if value is None else str(value)

    def fingerprint(self) -> str:
        """SHA-256 of the whole content: the same id with another text is another case. Computed once."""
        if self._fingerprint:
            return self._fingerprint
        # What JSON with sorted names would be, in ASCII: so unpaired surrogates can be hashed like any other text.
        texts = ", ".join([f"{_json(name)}: {_json(self.texts[name])}" for name in sorted(self.texts)])
        notes = ", ".join([_note_json(note) for note in self.notes])
        metadata = _ENCODER.encode(dict(self.metadata)) if self.metadata else "{}"
        text = (
            f'{{"candidate": {_json(self.candidate)}, "id": {_json(self.id)}, "metadata": {metadata}, '
            f'"notes": [{notes}], "patient": {_json(self.patient)}, "reference": {_json(self.reference)}, '
            f'"system": {_json(self.system)}, "texts": {{{texts}}}, "vendor": {_json(self.vendor)}}}'
        )
        object.__setattr__(self, "_plain", "\\" not in text)
        object.__setattr__(self, "_fingerprint", hashlib.sha256(text.encode()).hexdigest())
        return self._fingerprint

    @property
    def plain(self) -> bool:
        """Whether nothing in it has to be escaped in JSON, not even in ASCII: known with the fingerprint, so that
        who writes its texts need not look at every sign again."""
        self.fingerprint()
        return self._plain


def _note_json(note: Note) -> str:
    return f"[{_json(note.id)}, {_json(note.text)}, {_json(note.date)}, {_json(note.kind)}]"


def _json(text: str | None) -> str:
    """JSON in ASCII alone, where the delete sign is escaped as well."""
    return _ENCODER.encode(text)
