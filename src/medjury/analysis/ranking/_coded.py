"""Names as numbers: which rows belong together is then found by whole numbers, which is quick on small tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars

Codes = NDArray[np.int64]
# Numbers of several columns in one stay below this.
_LARGEST = 1 << 40


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """The rows of a table by the numbers of their names; a column's names are sorted, and each of them occurs."""

    rows: polars.DataFrame
    known: dict[str, tuple[tuple[str, ...], Codes]] = field(default_factory=dict)

    def names(self, column: str) -> tuple[str, ...]:
        return self._coded(column)[0]

    def codes(self, column: str) -> Codes:
        return self._coded(column)[1]

    def together(self, *columns: str) -> Codes:
        """One number for each combination that occurs, from 0, in the order of the columns' names."""
        found, size = np.zeros(self.rows.height, dtype=np.int64), 1
        for column in columns:
            found = found * len(self.names(column)) + self.codes(column)
            size *= max(len(self.names(column)), 1)
            if size > _LARGEST:
                found, size = _from_zero(found)
        return _from_zero(found)[0]

    def part(self, kept: NDArray[np.bool_]) -> Coded:
        """Some of the rows."""
        known = {}
        for column, (names, codes) in self.known.items():
            present, places = np.unique(codes[kept], return_inverse=True)
            known[column] = tuple(names[place] for place in present.tolist()), places.astype(np.int64)
        return Coded(self.rows.filter(kept), known)

    def _coded(self, column: str) -> tuple[tuple[str, ...], Codes]:
        if column not in self.known:
            import polars as pl

            names = self.rows[column]
            kind = names.dtype
            if not isinstance(kind, pl.Enum):
                names = names.cast(pl.String)
                kind = pl.Enum(names.unique().sort())
                names = names.cast(kind)
            categories = kind.categories.to_list()
            present, codes = np.unique(names.to_physical().to_numpy(), return_inverse=True)
            self.known[column] = (
                tuple(str(categories[place]) for place in present.tolist()),
                codes.astype(np.int64),
            )
        return self.known[column]


def systems_of(group: Codes, system: Codes) -> Codes:
    """How many systems the group of every row has."""
    size = int(system.max()) + 1 if len(system) else 1
    pairs = np.unique(group * size + system)
    return np.asarray(np.bincount(pairs // size)[group])


def _from_zero(values: Codes) -> tuple[Codes, int]:
    present, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.int64), len(present)
