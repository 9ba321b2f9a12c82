"""Which cases are of the same patient: they go together in every interval, since three visits are not three
patients. The file names a patient by a number of its own, never by the hospital's."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from medjury.cases import Case
from medjury.errors import MedjuryError
from medjury.files import whole_file
from medjury.runs import files


class PatientGroups:
    """Gathers the patients of cases as they pass."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._of: dict[str, int] = {}

    def add(self, case: Case) -> None:
        if not case.patient:
            return
        number = self._numbers.setdefault(case.patient, len(self._numbers) + 1)
        if self._of.setdefault(case.id, number) != number:
            raise MedjuryError(
                f"case {case.id!r} is of two patients; the answers of all systems to a case are about one patient"
            )

    def shared(self) -> dict[str, int]:
        """Case to number, of the patients that have several cases; the others need no group."""
        cases = Counter(self._of.values())
        return {item: number for item, number in self._of.items() if cases[number] > 1}


def write_patients(groups: Mapping[str, int], folder: Path) -> list[str]:
    """Write the groups into a run folder, and name the files written: none where no patient has two cases."""
    file = folder / files.PATIENTS
    if not groups:
        file.unlink(missing_ok=True)
        return []
    with whole_file(file) as opened:
        rows = csv.writer(opened, lineterminator="\n")
        rows.writerow(("item", "patient"))
        rows.writerows(sorted(groups.items()))
    return [files.PATIENTS]
