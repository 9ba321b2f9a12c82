"""Shares of a study's cases: numbers and a hash, never a text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from medjury.intake.cases import Case, CaseReader, CaseSource, RedactedCases

_MOST_CASES = 250
_SHARES_PER_WORKER = 8  # so that the last ones end at about the same time


@dataclass(frozen=True, slots=True)
class Share:
    """The cases from `start` up to `stop`, counted from 0, and the hash of what they say."""

    number: int
    start: int
    stop: int
    hash: str


def share_size(cases: int, workers: int) -> int:
    """How many cases a share has."""
    return max(1, min(_MOST_CASES, -(-cases // (_SHARES_PER_WORKER * workers))))


def cut(cases: Iterable[Case], size: int) -> Iterator[Share]:
    """The shares, one after another as they are asked for; no more cases are in memory than one has."""
    waiting, start = iter(cases), 0
    number = 0
    while some := list(islice(waiting, size)):
        yield Share(number, start, start + len(some), cases_hash(some))
        start, number = start + len(some), number + 1


def cases_hash(cases: Iterable[Case]) -> str:
    digest = hashlib.sha256()
    for case in cases:
        digest.update(case.fingerprint().encode())
    return digest.hexdigest()


class Window:
    """Reads the cases of one share after another. Those of other workers are passed over without being redacted;
    only for a share that lies behind is the file read from its start again."""

    def __init__(self, cases: CaseSource) -> None:
        self._cases = cases
        self._place = 0
        self._waiting = self._open()

    def take(self, share: Share) -> list[Case]:
        if share.start < self._place:
            self._waiting, self._place = self._open(), 0
        found = list(islice(self._waiting, share.start - self._place, share.stop - self._place))
        self._place = share.stop
        redacted = self._cases
        return list(redacted.redacting(found)) if isinstance(redacted, RedactedCases) else found

    def _open(self) -> Iterator[Case]:
        source = self._cases.source if isinstance(self._cases, RedactedCases) else self._cases
        return source.again() if isinstance(source, CaseReader) else iter(source)
