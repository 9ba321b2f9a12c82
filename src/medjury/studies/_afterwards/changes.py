"""What changed where stored replies were read again: every rating before and after, by judge and dimension."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from medjury.foundation.files import whole_file
from medjury.instruments import TRANSIENT
from medjury.intake.cases import clean_text
from medjury.store.ratings import Rating, Store, guard_frame

CHANGES_FILE = "changes.csv"
Kind = Literal["same", "changed", "gained", "lost", "reason", "added", "removed"]
# "Not applicable" counts as a score here: it is an answer.
_WORDS: dict[Kind, str] = {
    "same": "the same",
    "changed": "with another score",
    "gained": "scored now and not before",
    "lost": "scored before and not now",
    "reason": "unscored for another reason",
    "added": "not in the earlier run",
    "removed": "only in the earlier run",
}


@dataclass(frozen=True)
class Changes:
    """The counts by judge and dimension. `no_reply` are ratings without a score because no reply is stored."""

    counts: dict[tuple[str, str], Counter[Kind]] = field(default_factory=lambda: defaultdict(Counter))
    no_reply: Counter[tuple[str, str]] = field(default_factory=Counter)

    def total(self, kind: Kind) -> int:
        return sum(each[kind] for each in self.counts.values())

    @property
    def read(self) -> int:
        return sum(each.total() for each in self.counts.values()) - self.total("removed")

    def rows(self) -> list[dict[str, Any]]:
        """One row per judge and dimension, for the manifest."""
        rows: list[dict[str, Any]] = []
        for (rater, dimension), counted in sorted(self.counts.items()):
            row: dict[str, Any] = {"rater": rater, "dimension": dimension}
            row |= {kind: counted[kind] for kind in _WORDS}
            rows.append(row | {"no_reply": self.no_reply[rater, dimension]})
        return rows

    def lines(self) -> list[str]:
        """The counts in words, all first, then each judge and dimension where something changed."""
        whole: Counter[Kind] = Counter()
        for counted in self.counts.values():
            whole.update(counted)
        lines = [f"{self.read:,} ratings read again: {_in_words(whole)}"]
        for (rater, dimension), counted in sorted(self.counts.items()):
            if counted["same"] < counted.total():
                lines.append(f"  {rater}, {dimension}: {_in_words(counted)}")
        return lines


def find_changes(store: Store, earlier: str, run: str, folder: Path) -> Changes:
    """Compare the judges' ratings of two runs, one at a time, and write those that differ to a table."""
    import polars

    changes = Changes()
    rows: list[tuple[Any, ...]] = []
    for before, after in _pairs(_judged(store, earlier), _judged(store, run)):
        one = after or before
        assert one is not None
        kind = _kind(before, after)
        changes.counts[one.rater, one.dimension][kind] += 1
        if after is not None and after.reason in TRANSIENT:
            changes.no_reply[one.rater, one.dimension] += 1
        if kind != "same":
            names = (one.item, one.system, one.rater, one.dimension)
            rows.append((*map(clean_text, names), one.repeat, kind, *_columns(before), *_columns(after)))
    sides = [f"{column}_{side}" for side in ("before", "after") for column in ("status", "score", "reason")]
    columns = ("item", "system", "rater", "dimension", "repeat", "change", *sides)
    types = {each: polars.Float64 if "score" in each else polars.String for each in columns}
    frame = polars.DataFrame(rows, schema=types | {"repeat": polars.Int64}, orient="row")
    with whole_file(folder / CHANGES_FILE) as file:
        file.write(guard_frame(frame).write_csv())
    return changes


def _judged(store: Store, run: str) -> Iterator[Rating]:
    return (row for row in store.ratings(run) if row.rater_kind == "judge")


def _pairs(
    before: Iterator[Rating], after: Iterator[Rating]
) -> Iterator[tuple[Rating | None, Rating | None]]:
    """Both runs side by side; a store gives the ratings of every run in one order."""
    old, new = next(before, None), next(after, None)
    while old is not None or new is not None:
        first = min(_order(row) for row in (old, new) if row is not None)
        one = old if old is not None and _order(old) == first else None
        two = new if new is not None and _order(new) == first else None
        yield one, two
        old = old if one is None else next(before, None)
        new = new if two is None else next(after, None)


def _order(row: Rating) -> tuple[bytes, bytes, bytes, bytes, int]:
    """The store's order: that of the bytes."""
    names = (row.item, row.system, row.rater, row.dimension)
    item, system, rater, dimension = (each.encode("utf-8", "surrogatepass") for each in names)
    return item, system, rater, dimension, row.repeat


def _kind(before: Rating | None, after: Rating | None) -> Kind:
    if before is None or after is None:
        return "added" if before is None else "removed"
    if (before.status, before.score, before.reason) == (after.status, after.score, after.reason):
        return "same"
    failed = before.reason is not None, after.reason is not None
    if failed == (True, True):
        return "reason"
    return "gained" if failed[0] else "lost" if failed[1] else "changed"


def _columns(row: Rating | None) -> tuple[str, float | None, str]:
    if row is None:
        return "", None, ""
    return row.status, row.score, "" if row.reason is None else row.reason.value


def _in_words(counted: Counter[Kind]) -> str:
    named = (kind for kind in _WORDS if counted[kind] or kind == "same")
    return ", ".join(f"{counted[kind]:,} {_WORDS[kind]}" for kind in named)
