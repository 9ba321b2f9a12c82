"""The texts that were judged: read once, checked against the run, and kept in memory alone, compressed; and the
names of answers in addresses and on pages: every answer has one address that stays.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from urllib.parse import quote, unquote

from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import Case, Image
from medjury.store.runs import Manifest
from medjury.studies import Run

Key = tuple[str, str]  # item and system
_IMAGE_BYTES = 500_000_000  # of all images together that are kept; answers beyond it are shown without theirs


@dataclass(frozen=True)
class Texts:
    """Cases by item and system; none of them where `why_not` says why. Nothing is written anywhere."""

    why_not: str = ""
    _packed: dict[Key, bytes] = field(default_factory=dict, repr=False)
    _of_item: dict[str, Key] = field(default_factory=dict, repr=False)
    _images: dict[Key, tuple[Image, ...]] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self._packed)

    @property
    def size(self) -> int:
        """How many bytes they take in memory."""
        return sum(map(len, self._packed.values()))

    def case(self, key: Key) -> Case | None:
        packed = self._packed.get(key)
        return None if packed is None else replace(_unpacked(packed), images=self._images.get(key, ()))

    def of_item(self, item: str) -> Case | None:
        """A case with the same source, for an answer that came about later (a revised draft, say)."""
        key = self._of_item.get(item)
        return None if key is None else self.case(key)

    def searchable(self) -> Iterator[tuple[Key, str]]:
        """All that a case says, for the index; one at a time."""
        for key, packed in self._packed.items():
            case = _unpacked(packed)
            parts = [
                case.candidate,
                case.reference,
                *case.texts.values(),
                *(note.text for note in case.notes),
            ]
            parts += [str(value) for value in case.metadata.values()]
            yield key, "\n".join(part for part in parts if part)


def read_texts(folder: Path, manifest: Manifest, file: str | Path | None = None) -> Texts:
    """The texts of a run, or why they are not shown. A `file` that was named and does not hold them is refused."""
    packed: dict[Key, bytes] = {}
    of_item: dict[str, Key] = {}
    images: dict[Key, tuple[Image, ...]] = {}
    known: dict[tuple[str, str], Image] = {}  # one object for all answers about it
    room = _IMAGE_BYTES
    try:
        cases = Run.cases_of(folder, manifest, file)
        for case in cases:
            key = (case.id, case.system)
            packed[key] = _packed(case)
            of_item.setdefault(case.id, key)
            new = [each for each in case.images if (each.hash, each.label) not in known]
            room -= sum(len(each.content) for each in new)
            if case.images and room >= 0:
                known |= {(each.hash, each.label): each for each in new}
                images[key] = tuple(known[each.hash, each.label] for each in case.images)
    except MedjuryError as error:
        if file is not None:
            raise
        return Texts(f"the cases cannot be read: {error}")
    if cases.hash != manifest.data_hash:
        where = "the file of cases" if file is None else str(file)
        why = (
            f"{where} is not what this run judged (the hash of its content is different): what it says "
            "now may not be "
            "what was judged, so it is not shown. Name the file as it was (--cases FILE), or run the study again"
        )
        if file is not None:
            raise MedjuryError(why)
        return Texts(why)
    return Texts("", packed, of_item, images)


_KEPT = [each.name for each in fields(Case) if each.init and each.name not in ("images", "origin")]


def _packed(case: Case) -> bytes:
    """A case without its images, in memory alone."""
    row = {
        name: dict(value) if isinstance(value := getattr(case, name), Mapping) else value for name in _KEPT
    }
    return zlib.compress(pickle.dumps(row), 1)


def _unpacked(packed: bytes) -> Case:
    return Case(**pickle.loads(zlib.decompress(packed)))  # noqa: S301 - what this process packed itself


_EMPTY = "~"


def in_address(name: str) -> str:
    """A name as one part of an address, whatever it holds: `ward/1` is `ward~2F1`, and no name is `.` or empty."""
    if not name:
        return _EMPTY
    quoted = quote(name, safe="", errors="surrogatepass").replace("~", "%7E")
    return (quoted.replace(".", "%2E") if set(name) == {"."} else quoted).replace("%", "~")


def from_address(part: str) -> str:
    """The name again; an error is a name that nobody has."""
    return "" if part == _EMPTY else unquote(part.replace("~", "%"), errors="surrogatepass")


def shown_name(key: Key) -> str:
    """`case-01 · system`, or the case alone where no system is named."""
    item, system = key
    return f"{item} · {system}" if system else item
