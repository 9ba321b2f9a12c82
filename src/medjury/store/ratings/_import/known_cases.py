"""Checks that a rated item is a case of the study, and that it means the same text."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from medjury.foundation.documents import nearest
from medjury.intake.cases import Case
from medjury.store.ratings._import.entries import content_hash

_MOST_COMPARED = 1_000


class UnclearSystemError(LookupError):
    """The item is a case, and several systems answered it: nobody can tell which answer a row is about."""


class KnownCases:
    """The ids of a study's cases and the systems that answered each; with `contents` a hash of what they wrote."""

    def __init__(self, cases: Iterable[Case], *, contents: bool = False) -> None:
        self._systems: dict[str, tuple[str, ...]] = {}
        self._contents: dict[tuple[str, str], str] = {}
        self._bare: dict[str, str] | None = None
        shared: dict[tuple[str, ...], tuple[str, ...]] = {}  # a million cases share a few sets of systems
        for case in cases:
            systems = (*self._systems.get(case.id, ()), case.system)
            self._systems[case.id] = shared.setdefault(systems, systems)
            if contents:
                self._contents[case.id, case.system] = content_hash(case.candidate or "")

    @property
    def answers(self) -> frozenset[tuple[str, str]]:
        """Every answer, by its item and its system."""
        return frozenset((item, system) for item, systems in self._systems.items() for system in systems)

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
            raise UnclearSystemError(
                f"was answered by {len(systems)} systems ({', '.join(sorted(systems)[:5])}); a column must say "
                "which of them was rated"
            )
        return systems[0]

    def content(self, item: str, system: str) -> str:
        return self._contents.get((item, system), "")

    def _suggest(self, item: str) -> str:
        if self._bare is None:
            self._bare = {_bare(name): name for name in self._systems}
        meant = self._bare.get(_bare(item))
        if meant is None and len(self._systems) <= _MOST_COMPARED:
            meant = next(iter(get_close_matches(item, self._systems, n=1)), None)
        if meant is not None:
            return f"did you mean {meant!r}?"
        return f"the cases have ids such as {next(iter(self._systems), '')!r}"


def _bare(name: str) -> str:
    """Spreadsheets drop leading zeros."""
    return name.casefold().lstrip("0")
