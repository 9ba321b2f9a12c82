"""What the gate looks at part by part (specialty, site, sex) is written into the run folder, and nothing else that
is known of a case: a run folder may travel."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from medjury.cases import Case
from medjury.files import whole_file
from medjury.runs import files


class CaseParts:
    """Gathers, as cases pass, what their metadata say under these names."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self.of: dict[str, dict[str, str]] = {}

    def add(self, case: Case) -> None:
        known = {name: str(case.metadata[name]) for name in self._names if name in case.metadata}
        if known:
            self.of.setdefault(case.id, {}).update(known)


def write_parts(parts: Mapping[str, Mapping[str, str]], folder: Path) -> list[str]:
    """Write the parts into a run folder, and name the files written: none where nothing is known."""
    file = folder / files.PARTS
    if not parts:
        file.unlink(missing_ok=True)
        return []
    names = sorted({name for known in parts.values() for name in known})
    with whole_file(file) as opened:
        rows = csv.writer(opened, lineterminator="\n")
        rows.writerow(("item", *names))
        rows.writerows(
            (item, *(known.get(name, "") for name in names)) for item, known in sorted(parts.items())
        )
    return [files.PARTS]
