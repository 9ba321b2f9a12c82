"""Who made each answering system, as the cases say."""

from __future__ import annotations

from medjury.intake.cases import Case


class CaseVendors:
    """Collects the vendor of every system; one for which the cases name two has none that is known."""

    def __init__(self) -> None:
        self._named: dict[str, set[str]] = {}

    def add(self, case: Case) -> None:
        if case.vendor:
            self._named.setdefault(case.system, set()).add(case.vendor)

    def known(self) -> dict[str, str]:
        return {system: next(iter(names)) for system, names in self._named.items() if len(names) == 1}
