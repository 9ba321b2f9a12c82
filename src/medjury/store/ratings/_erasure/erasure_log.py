"""The log of erasures: an entry for each, chained by hashes. It holds no id and no text, so that nothing of it ever
has to be erased, and the chain stays whole."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from medjury.store.ratings._store.store_error import StoreError

_FIRST = "0" * 64
_ROUNDS = 100_000  # ids are short: whoever tries them all shall need time for each


@dataclass(frozen=True, slots=True)
class ErasureEntry:
    """One erasure: what was named (a patient, a case, a date), when, and how many rows went."""

    number: int
    at: str
    by: str
    marks: tuple[str, ...]  # a salted hash of each id that was named; of a date the date itself
    salt: str
    rows: Mapping[str, int]
    hash: str

    def names(self, by: str, ids: Iterable[str]) -> bool:
        """True where this entry is of these very ids."""
        return self.by == by and tuple(mark_of(each, self.salt) for each in sorted(ids)) == self.marks


def mark_of(name: str, salt: str) -> str:
    """The slow, salted hash of an id."""
    mark = hashlib.pbkdf2_hmac("sha256", name.encode("utf-8", "surrogatepass"), bytes.fromhex(salt), _ROUNDS)
    return mark.hex()


def new_salt() -> str:
    return secrets.token_hex(16)


def write_entry(previous: ErasureEntry | None, at: str, by: str, marks: Iterable[str], salt: str,
                rows: Mapping[str, int]) -> tuple[int, str]:  # fmt: skip
    """The number and the text of the entry that follows `previous`."""
    number = 1 if previous is None else previous.number + 1
    body = {
        "n": number, "at": at, "event": "erasure", "by": by, "of": list(marks), "salt": salt, "rows": dict(rows),
        "previous": _FIRST if previous is None else previous.hash,
    }  # fmt: skip
    return number, json.dumps({**body, "hash": _hash(body)})


def read_entries_of(lines: Iterable[str], place: str) -> list[ErasureEntry]:
    """The entries of a chain that is whole; a `StoreError` names the first one that is not."""
    found: list[ErasureEntry] = []
    for number, line in enumerate(lines, 1):
        body: dict[str, Any] = json.loads(line)
        digest = body.pop("hash", "")
        before = found[-1].hash if found else _FIRST
        if body.get("n") != number or body.get("previous") != before or digest != _hash(body):
            raise StoreError(f"{place}: entry {number} of the log of erasures was changed, or one is missing")
        entry = ErasureEntry(
            number, body["at"], body["by"], tuple(body["of"]), body["salt"], body["rows"], digest
        )
        found.append(entry)
    return found


def _hash(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
