"""What an import warns of, or refuses, because it is wrong more often than not: columns that no row fills, one
person under two names, times in the wrong unit."""

from __future__ import annotations

import re
import statistics
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from medjury.intake import FileError, is_blank
from medjury.store.ratings._import.layout import Layout

Answer = tuple[str, str, str]  # item, system, rater
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
        """Refuse what no row fills; warn of what may well be empty (remarks, a dimension that is skipped)."""
        warnings = []
        for each, rows in self.rows.items():
            if each in self.filled:
                continue
            column, what = each
            message = (
                f"{', '.join(self.files[each])}: the column {column!r} ({what}) is empty in all {rows:,} rows"
            )
            if what not in ("explanation", *may_be_empty):
                raise FileError(f"{message}; name the column that holds it, or take it out of the mapping")
            warnings.append(message)
        return warnings


def _named(layout: Layout) -> Iterator[Named]:
    source = layout.source
    for name, column in layout.fields.items():
        if source.column(name) is not None:
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


# Rater names that are probably one person spelled two ways. We warn and suggest; we never merge.

_WORD = re.compile(r"\w+")
_TITLES = frozenset({"dr", "doctor", "prof", "professor", "mr", "mrs", "ms", "miss", "md", "phd", "mbbs"})


@dataclass(slots=True)
class RaterSeen:
    """A rater by the name that may be shown (a pseudonym, perhaps), and where the name comes first."""

    shown: str
    first: str
    ratings: int = 0


def look_alikes(raters: Mapping[str, RaterSeen]) -> list[str]:
    """A warning for each set of names alike but for case, signs, titles and order. It points at rows, and shows
    a name only where names are kept.

    >>> seen = RaterSeen("clinician-3f9a2c41", "file.csv, row 2", 40)
    >>> look_alikes({"Dr Smith": seen, "Dr Jones": seen})
    []
    >>> len(look_alikes({"Dr Smith": seen, "smith, DR.": seen}))
    1
    """
    alike: dict[tuple[str, ...], list[RaterSeen]] = defaultdict(list)
    for name, seen in raters.items():
        words = _WORD.findall(unicodedata.normalize("NFKC", name).casefold())
        alike[tuple(sorted(set(words) - _TITLES)) or tuple(words)].append(seen)
    return [
        f"raters {' and '.join(f'{each.shown!r} ({each.ratings:,} x, first in {each.first})' for each in group)} "
        "look like one person spelled two ways; correct the file if they are"
        for group in alike.values()
        if len(group) > 1
    ]


# How long clinicians took: what was measured, and whether its unit can be right.

# Nobody reads a record and grades an answer in less; whole numbers below it are minutes more often than seconds.
_SHORTEST_SECONDS = 20
_FEWEST = 5


@dataclass(slots=True)
class Times:
    """Gathers the seconds of each rater's answer. A time of 0 was not measured."""

    seconds: dict[Answer, float] = field(default_factory=dict)
    zeros: set[Answer] = field(default_factory=set)
    whole: bool = True

    def add(self, answer: Answer, measured: float | None, share: int, as_seconds: bool) -> None:
        """`share` is how many ratings the time was measured for; only times that are stated in seconds can be
        minutes by mistake."""
        if measured == 0:
            self.zeros.add(answer)
        if not measured or not as_seconds:
            return
        self.whole = self.whole and measured == int(measured)
        self.seconds[answer] = self.seconds.get(answer, 0.0) + measured / share

    def warnings(self) -> list[str]:
        """What a reader should look at."""
        found = []
        if self.zeros:
            found.append(f"the time of {len(self.zeros):,} answers is 0: it counts as not measured")
        middle = statistics.median(self.seconds.values()) if len(self.seconds) >= _FEWEST else None
        if middle is not None and self.whole and middle < _SHORTEST_SECONDS:
            found.append(
                f"the times are whole numbers with a median of {middle:g} seconds for an answer: are they minutes? "
                "Then say `minutes: COLUMN` in the mapping file instead of `seconds: COLUMN`, or call the column "
                "`minutes`"
            )
        return found
