"""Only what every system answered compares systems: a mean over other items is a mean of something else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from medjury.foundation.errors import MedjuryError

if TYPE_CHECKING:
    import polars


# Names as numbers: which rows belong together is then found by whole numbers, which is quick on small tables.

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


ANSWER = ("block", "benchmark", "item", "cluster", "rater", "system")
SHOWN = 8
# Fewer cases of a system say nothing of their spread.
FEWEST_CASES = 5


def shared_items(coded: Coded) -> tuple[Coded, tuple[str, ...]]:
    """The rows of items that a rater scored for every system, benchmark by benchmark, and a warning about the
    rest.

    "Every system" are those that the rater scored anywhere on the benchmark: a system that lacks all of it is an
    empty cell, which is another matter.
    """
    rows, system, group = coded.rows, coded.codes("system"), coded.together("benchmark", "rater")
    item = coded.together("benchmark", "rater", "item")
    shared = systems_of(group, system) == systems_of(item, system)
    lost = np.bincount(group, shared) == 0
    if lost.any():
        first = int(np.flatnonzero(group == np.flatnonzero(lost)[0])[0])
        benchmark, rater = rows["benchmark"][first], rows["rater"][first]
        by = f" by the rater {rater!r}" if rater else ""
        raise MedjuryError(
            f"no item of {benchmark!r} has a score of every system{by}, so the systems cannot be compared on "
            "it. Let all systems answer the same items, or leave the benchmark or a system out."
        )
    if shared.all():
        return coded, ()
    dropped = rows.filter(~shared)
    warning = (
        f"{dropped.height} of {rows.height} scores are of items that not every system has a score on, and are "
        f"left out: {by_system(dropped)}"
    )
    return coded.part(shared), (warning,)


def one_system_each(coded: Coded) -> bool:
    """Whether every item was answered by one system alone, of two or more: a design without pairs."""
    return len(coded.names("system")) > 1 and bool((_answering(coded) == 1).all())


def refuse_strangers(coded: Coded) -> None:
    """A system none of whose items anyone else answered has no place among the others."""
    names, system = coded.names("system"), coded.codes("system")
    accompanied = np.bincount(system, _answering(coded) > 1, len(names)) > 0
    if not accompanied.all() and len(names) > 1:
        alone = names[int(np.argmin(accompanied))]
        raise MedjuryError(
            f"the system {alone!r} answered no item that another system answered, so it cannot be "
            "compared. Remove it, or let all systems answer the same items."
        )


def _answering(coded: Coded) -> NDArray[np.int64]:
    """Of every row, how many systems answered the item."""
    return systems_of(coded.together("block", "item"), coded.codes("system"))


def enough_cases(rows: polars.DataFrame) -> tuple[Coded, tuple[str, ...]]:
    """The rows of systems with enough cases on every benchmark they have, and what to tell: the systems answered
    different cases, so a difference between systems is also one between their cases."""
    import polars as pl

    cases = rows.group_by("benchmark", "system").agg(pl.col("cluster").n_unique().alias("cases"))
    least = cases.group_by("system").agg(pl.col("cases").min()).sort("system")
    few = least.filter(pl.col("cases") < FEWEST_CASES)
    kept = rows.filter(~pl.col("system").is_in(few["system"].to_list()))
    if kept["system"].n_unique() < 2:
        raise MedjuryError(
            "every case has the answer of one system, and fewer than two systems have "
            f"{FEWEST_CASES} cases or more, so they cannot be compared. Let every system answer more cases."
        )
    notes = [
        "unpaired: every case has the answer of one system, so systems are compared on different cases. A system "
        "whose cases were easier looks better; draw cases at random for each system, or let all answer the same"
    ]
    if few.height:
        named = [f"{system} {count}" for system, count in few.iter_rows()]
        shown = ", ".join(named[:SHOWN]) + (" …" if len(named) > SHOWN else "")
        notes.append(f"not ranked, for fewer than {FEWEST_CASES} cases: {shown}")
    return Coded(kept), tuple(notes)


def whole_answers(by_dimension: polars.DataFrame) -> tuple[polars.DataFrame, tuple[str, ...]]:
    """The mean over dimensions of every answer, from a row per answer and dimension (`score`, `lost`).

    An answer that lacks a dimension on which the rater scored another system's answer to the same item is left
    out, with a warning: the mean of its other dimensions would compare different things.
    """
    import polars as pl

    answer = list(ANSWER)
    scored = by_dimension.filter(pl.col("score").is_not_null())
    asked = scored.group_by("benchmark", "item", "rater").agg(pl.col("dimension").n_unique().alias("asked"))
    answers = (
        by_dimension.group_by(answer)
        .agg(pl.col("score").mean(), pl.col("score").count().alias("given"), pl.col("lost").any())
        .filter(~pl.col("lost") & (pl.col("given") > 0))
        .join(asked, on=["benchmark", "item", "rater"], how="left")
    )
    short = answers.filter(pl.col("given") < pl.col("asked"))
    kept = answers.filter(pl.col("given") == pl.col("asked")).drop("given", "asked", "lost")
    if not short.height:
        return kept, ()
    gone = sorted(set(short["system"].to_list()) - set(kept["system"].to_list()))
    if gone:
        raise MedjuryError(
            f"every answer of {gone[0]!r} lacks a dimension that other systems' answers to the same items have, so "
            "it cannot be compared. Name the dimensions that all systems have, or leave the system out."
        )
    return kept, (
        f"{short.height} of {answers.height} answers lack a dimension that another system's answer to the same "
        f"item has, and are left out: {by_system(short)}",
    )


def by_system(rows: polars.DataFrame) -> str:
    counts: Sequence[tuple[str, int]] = rows.group_by("system").len().sort("system").rows()
    listed = ", ".join(f"{system} {count}" for system, count in counts[:SHOWN])
    return listed + (" …" if len(counts) > SHOWN else "")
