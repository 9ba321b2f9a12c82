"""Remembers which answers were seen at some sixteen bytes each: a million cases need little memory."""

from __future__ import annotations

from array import array
from hashlib import blake2b


class Seen:
    """A set of 8-byte digests in an open-addressed table.

    Two different keys collide with probability about n²/2⁶⁵: 3 in 10⁸ for a million cases. A set of Python
    integers would need five times the memory.
    """

    def __init__(self) -> None:
        self._mask = 1023
        self._table = array("Q", bytes(8 * (self._mask + 1)))
        self._count = 0

    def add(self, *parts: str) -> bool:
        """Remember the key; False where it was there already."""
        joined = "\x00".join(parts).encode("utf-8", "surrogatepass")
        digest = (
            int.from_bytes(blake2b(joined, digest_size=8).digest(), "little") or 1
        )  # 0 marks a free place
        place = self._find(digest)
        if self._table[place]:
            return False
        self._table[place] = digest
        self._count += 1
        if self._count * 3 > self._mask * 2:
            self._grow()
        return True

    def _find(self, digest: int) -> int:
        place = digest & self._mask
        while self._table[place] not in (0, digest):
            place = (place + 1) & self._mask
        return place

    def _grow(self) -> None:
        old = self._table
        self._mask = self._mask * 2 + 1
        self._table = array("Q", bytes(8 * (self._mask + 1)))
        for digest in old:
            if digest:
                self._table[self._find(digest)] = digest
