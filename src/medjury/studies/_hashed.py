"""Cases that are hashed as they pass: what was judged must be what was planned."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from medjury.cases import Case


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
