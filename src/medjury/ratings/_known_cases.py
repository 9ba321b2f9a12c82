"""Checks that a rated item is a case of the study, and that it means the same text."""

from __future__ import annotations

from collections.abc import Iterable

from medjury.cases import Case
from medjury.documents import nearest
from medjury.ratings._entries import content_hash


class KnownCases:
    """The ids of a study's cases, the systems that answered each, and a hash of what they wrote."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self._systems: dict[str, dict[str, str]] = {}
        for case in cases:
            self._systems.setdefault(case.id, {})[case.system] = content_hash(case.candidate or "")

    def system_of(self, item: str, system: str) -> str:
        """The system meant by a row: the only one that answered the item, where the row names none.

        Raises `LookupError` with what is wrong and what may be meant.
        """
        systems = self._systems.get(item)
        if systems is None:
            raise LookupError(f"is not the id of a case; {self._suggest(item)}")
        if system in systems:
            return system
        if system:
            raise LookupError(f"was not answered by system {system!r}; {nearest(system, sorted(systems))}")
        if len(systems) > 1:
            raise LookupError(
                f"was answered by {len(systems)} systems ({', '.join(sorted(systems)[:5])}); a column must say "
                "which of them was rated"
            )
        return next(iter(systems))

    def content(self, item: str, system: str) -> str:
        return self._systems[item][system]

    def _suggest(self, item: str) -> str:
        same = [name for name in self._systems if name.casefold().lstrip("0") == item.casefold().lstrip("0")]
        if same:
            return f"did you mean {same[0]!r}?"
        known = list(self._systems)
        return nearest(item, known) if len(known) <= 1_000 else "see the file of cases"
