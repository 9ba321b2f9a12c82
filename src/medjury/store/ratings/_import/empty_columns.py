"""A column that a mapping names and that no row fills is the wrong column more often than not."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from medjury.store.ratings._files.problems import RatingsError
from medjury.store.ratings._files.table import is_blank
from medjury.store.ratings._import.layout import Layout

Named = tuple[str, str]  # the column, and what the mapping says that it holds


@dataclass(slots=True)
class EmptyColumns:
    """The columns that the mapping names and that were empty so far, in how many rows of which files."""

    rows: dict[Named, int] = field(default_factory=dict)
    files: dict[Named, list[str]] = field(default_factory=dict)
    filled: set[Named] = field(default_factory=set)

    def watch(
        self, file: str, layout: Layout, rows: Iterator[tuple[int, list[Any]]]
    ) -> Iterator[tuple[int, list[Any]]]:
        """The same rows, having looked which of the named columns they fill."""
        named = list(_named(layout))
        for each in named:
            self.files.setdefault(each, []).append(file)
        for number, cells in rows:
            for each in named:
                self.rows[each] = self.rows.get(each, 0) + 1
                if each not in self.filled and not is_blank(cells[layout.index[each[0]]]):
                    self.filled.add(each)
            yield number, cells

    def settle(self, may_be_empty: Collection[str]) -> list[str]:
        """Refuse what no row fills; what may well be empty (remarks, a dimension that is skipped) is told."""
        told = []
        for each, rows in self.rows.items():
            if each in self.filled:
                continue
            column, what = each
            message = (
                f"{', '.join(self.files[each])}: the column {column!r} ({what}) is empty in all {rows:,} rows"
            )
            if what not in ("explanation", *may_be_empty):
                raise RatingsError(f"{message}; name the column that holds it, or take it out of the mapping")
            told.append(message)
        return told


def _named(layout: Layout) -> Iterator[Named]:
    source = layout.source
    for name, column in layout.fields.items():
        if getattr(source, name, None) is not None:
            yield column, name
    if source.content is not None:
        yield source.content, "content"
    if source.columns is None:  # a pattern names no single column
        yield from _scores(layout)


def _scores(layout: Layout) -> Iterator[Named]:
    scores: Sequence[Any] = layout.scores
    for each in scores:
        if layout.source.score is not None or each.says:
            yield each.name, each.says.get("dimension", "score")
        if each.explanation is not None:
            yield each.explanation, "explanation"
