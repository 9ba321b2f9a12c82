"""One file of ratings and how to read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from medjury.store.ratings._files.reading import Reading
from medjury.store.ratings._import.cell import Codes, GradeRange
from medjury.store.ratings._rating import RaterKind


@dataclass(frozen=True, slots=True)
class Source:
    """One file and how to read it. Texts name columns; `fixed` values hold for every row."""

    path: Path
    sheet: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    header_rows: int = 1
    rows: str | None = None
    item: str | None = None
    system: str | None = None
    rater: str | None = None
    repeat: str | None = None
    dimension: str | None = None
    score: str | None = None
    explanation: str | None = None
    explanations: Mapping[str, str] = field(default_factory=dict)
    seconds: str | None = None
    minutes: str | None = None
    probability: str | None = None
    panel: str | None = None
    years: str | None = None
    specialty: str | None = None
    seniority: str | None = None
    affiliation: str | None = None
    content: str | None = None
    content_hash: str | None = None
    dimensions: Mapping[str, str] | None = None  # name: its column, JSON field or word in the file
    columns: str | None = None
    json_cells: bool = False
    take: str | None = None
    decimal: str = "."
    guard_forms: bool = True
    fixed: Mapping[str, str] = field(default_factory=dict)
    rater_kind: RaterKind = "clinician"
    labels: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # by dimension; "" for all
    not_applicable: frozenset[str] = frozenset()
    not_rated: frozenset[str] = frozenset()
    only: Mapping[str, frozenset[str]] = field(default_factory=dict)
    scales: Mapping[str, GradeRange] = field(default_factory=dict)  # by dimension; "" for all

    @property
    def reading(self) -> Reading:
        """How the table in the file is read."""
        names = [self.item, self.system, self.rater, self.repeat, self.dimension, self.score, self.seconds]
        names += [self.minutes, self.panel, self.years, self.specialty, self.seniority, self.affiliation]
        names += [
            self.probability,
            self.content,
            self.content_hash,
            self.explanation,
            *self.explanations.values(),
            *self.only,
        ]
        if self.dimension is None and self.columns is None and not self.json_cells:
            names += (self.dimensions or {}).values()
        columns = tuple(dict.fromkeys(name.strip() for name in names if name))
        return Reading(
            self.sheet, self.delimiter, self.encoding, self.header_rows, self.rows, columns, self.columns
        )

    def codes(self, dimension: str) -> Codes:
        labels = {**self.labels.get("", {}), **self.labels.get(dimension, {})}
        return Codes(labels, self.not_applicable, self.not_rated, self.decimal)

    def scale(self, dimension: str) -> GradeRange | None:
        return self.scales.get(dimension, self.scales.get(""))


@dataclass(frozen=True, slots=True)
class RatingMapping:
    """A mapping as read: its sources, and the instrument it names."""

    sources: tuple[Source, ...]
    instrument: str | None = None
    described: bool = False  # by a mapping file, rather than by our own column names
