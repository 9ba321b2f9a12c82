"""A run that is there: its ratings, its verdict, its report and its cases, for a script or a notebook."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medjury.intake.cases import Case
from medjury.store.runs import Manifest, files
from medjury.studies._afterwards.run_cases import run_cases
from medjury.tables import RatingTable
from medjury.tables import open_run as rating_table_of

if TYPE_CHECKING:
    import polars

    from medjury.validation import Validation, Word


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """Every analysis takes it in the place of its `table`: `medjury.agreement(medjury.open_run(folder))`."""

    table: RatingTable

    @property
    def folder(self) -> Path:
        assert self.table.folder is not None
        return self.table.folder

    @property
    def manifest(self) -> Manifest:
        assert self.table.manifest is not None
        return self.table.manifest

    @property
    def ratings(self) -> polars.DataFrame:
        """Every rating, one row each; those of development cases too."""
        return self.table.everything

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """The cases that were judged, from the study's own file; redacted where the run redacted them."""
        return tuple(run_cases(self.folder, self.manifest))

    @cached_property
    def validation(self) -> Validation:
        """What every rule of the gate found."""
        from medjury.validation import validate

        return validate(self.table)

    @property
    def verdict(self) -> Word:
        """What the gate says of the first-named jury: its worst word over the dimensions."""
        from medjury.validation import worst_word

        return worst_word(self.validation, first=True)

    @property
    def report(self) -> Path:
        """The page; it is written where it is not there yet."""
        from medjury.report import write_page

        page = self.folder / files.REPORT
        return page if page.exists() else write_page(self.folder)

    def __repr__(self) -> str:
        table = self.table
        return (
            f"Run({str(self.folder)!r}: {self.manifest.status}, {table.everything.height:,} ratings, "
            f"{len(table.clinicians)} clinicians, {len(table.judges)} judges)"
        )

    def _repr_html_(self) -> str:
        return f"<p><strong>{escape(self.verdict)}</strong> {escape(repr(self))}</p>{self.validation._repr_html_()}"


def open_run(folder: str | os.PathLike[str], **settings: Any) -> Run:
    """The run in a folder; `settings` replace what the study file says under `report:`."""
    return Run(rating_table_of(folder, **settings))
