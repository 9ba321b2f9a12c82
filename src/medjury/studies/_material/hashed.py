"""Cases that are hashed as they pass: what was judged must be what was planned."""

from __future__ import annotations

import hashlib
import heapq
import json
from collections.abc import Iterable, Iterator

from medjury.intake.cases import Case

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
        texts += [note.text for note in case.notes]
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
