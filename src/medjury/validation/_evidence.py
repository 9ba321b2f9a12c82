"""The evidence: everything a report rests on, read once from a run folder, with what is known about its raters."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from medjury.errors import MedjuryError
from medjury.instruments import Instrument, InstrumentError, list_instruments, load_instrument
from medjury.runs import (
    RECORDS_FILE,
    Check,
    GateRules,
    Records,
    ReportSettings,
    check_files,
    rules_from,
    settings_from,
    with_patients,
)
from medjury.tables import ABSENT, Grid, clean_rows, grades_of, grids, mean_of_raters

if TYPE_CHECKING:
    import polars

SCORED, UNSCORED = 1, 2
CONSENSUS = "clinicians' mean"


@dataclass(frozen=True, slots=True)
class Measured:
    """One dimension as the report needs it. `derived` ones (reversed, composites) follow from the others and
    pass no gate of their own."""

    name: str
    label: str
    grades: tuple[float, ...] | None
    higher_is_better: bool = True
    derived: bool = False


@dataclass(frozen=True, eq=False)
class Evidence:
    """A run's manifest, its ratings as a table and as one grid per dimension, and who is who in them.

    `jury` names the rater whose scores are on trial: the jury's own rows, the only judge where there is one, or
    the mean of the judges where more than half of them scored. `records` tell how ratings of several steps came
    about; they are read when a section asks for them."""

    manifest: Mapping[str, Any]
    ratings: polars.DataFrame
    dimensions: tuple[Measured, ...]
    grids: Mapping[str, Grid]
    jury: str
    judges: tuple[str, ...]
    clinicians: tuple[str, ...]
    checks: tuple[Check, ...]
    rules: GateRules
    settings: ReportSettings
    warnings: tuple[str, ...]
    records: Records = field(default_factory=Records)

    @property
    def gated(self) -> tuple[Measured, ...]:
        return tuple(each for each in self.dimensions if not each.derived)

    @property
    def systems(self) -> tuple[str, ...]:
        found = {str(name) for grid in self.grids.values() for name in np.unique(grid.systems)}
        return tuple(sorted(found - {""}))

    @property
    def voices(self) -> tuple[str, ...]:
        """The jury and its judges, each once."""
        return tuple(dict.fromkeys([self.jury, *self.judges])) if self.jury else self.judges

    def label(self, dimension: str) -> str:
        return next((each.label for each in self.dimensions if each.name == dimension), dimension)

    def reference(self, grid: Grid) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The clinicians' mean on every unit; NaN where none scored it."""
        if not self.clinicians:
            return np.full(len(grid.items), np.nan)
        return mean_of_raters(np.column_stack([grid.scores[name] for name in self.clinicians]))

    def held_out(self, grid: Grid) -> Grid:
        """The grid without the cases that served development."""
        return grid.where(~np.isin(grid.items, list(self.rules.development_cases)))

    @property
    def left_aside(self) -> int:
        """How many cases of this run served development; a name that no case has leaves nothing out."""
        there = {str(item) for grid in self.grids.values() for item in np.unique(grid.items)}
        return len(there & set(self.rules.development_cases))

    def resamples(self, units: int) -> int:
        """Fewer resamples for very large tables, whose intervals are narrow anyway."""
        return min(self.settings.resamples, 2000 if units <= 3000 else 1000 if units <= 10_000 else 400)


def read_run(folder: Path, checks: Sequence[Check] = (), **changes: Any) -> Evidence:
    """The evidence of a run folder; `checks` are findings beyond its hashes, `changes` replace report settings."""
    import polars as pl

    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        ratings = pl.read_parquet(folder / "ratings.parquet")
    except FileNotFoundError as error:
        raise MedjuryError(
            f"{folder}: not a finished run folder ({Path(error.filename or '').name} is missing); run the "
            "study first"
        ) from None
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        raise MedjuryError(
            f"{folder}: the run folder cannot be read ({error}); run the study again"
        ) from None
    own = check_files(folder, manifest)
    named = {check.what for check in own}
    others = [check for check in checks if check.what not in named]
    made = gather(manifest, with_patients(ratings, folder, manifest), (*own, *others), **changes)
    return replace(made, records=Records(folder / RECORDS_FILE))


def gather(
    manifest: Mapping[str, Any], ratings: polars.DataFrame, checks: Sequence[Check] = (), **changes: Any
) -> Evidence:
    """The evidence of ratings in memory."""
    import polars as pl

    if not ratings.height:
        nothing = settings_from(manifest.get("report"))
        return Evidence(
            manifest,
            ratings,
            (),
            {},
            "",
            (),
            (),
            tuple(checks),
            rules_from(manifest.get("gate")),
            nothing,
            (),
        )
    dimensions = _dimensions(manifest, ratings)
    names = [each.name for each in dimensions]
    clean = clean_rows(ratings.filter(pl.col("dimension").is_in(names)))
    scale = {each.name: grades_of(each.grades) for each in dimensions if each.grades}
    made = grids(clean, scale=scale)
    kinds = {
        kind: tuple(clean.filter(pl.col("rater_kind") == kind)["rater"].unique().sort().to_list())
        for kind in ("clinician", "judge", "jury")
    }
    jury, by_name = _jury(
        manifest, kinds["jury"], kinds["judge"], {grid.dimension: grid for grid in made.grids}
    )
    stated = {
        **manifest.get("report", {}),
        **{name: value for name, value in changes.items() if value is not None},
    }
    return Evidence(
        manifest,
        ratings,
        dimensions,
        by_name,
        jury,
        kinds["judge"],
        kinds["clinician"],
        tuple(checks),
        rules_from(manifest.get("gate")),
        settings_from(stated),
        made.warnings,
    )


def _jury(
    manifest: Mapping[str, Any], juries: Sequence[str], judges: Sequence[str], found: dict[str, Grid]
) -> tuple[str, dict[str, Grid]]:
    named = manifest.get("jury", {}).get("name", "jury")
    if juries:
        return (named if named in juries else juries[0]), found
    if len(judges) < 2:
        return (judges[0] if judges else ""), found
    made = {}
    for name, grid in found.items():
        table = np.column_stack([grid.scores[judge] for judge in judges])
        enough = 2 * (~np.isnan(table)).sum(axis=1) > len(judges)
        asked = np.any([grid.states[judge] != ABSENT for judge in judges], axis=0)
        states = np.where(enough, SCORED, np.where(asked, UNSCORED, ABSENT)).astype(np.uint8)
        made[name] = grid.with_rater("jury", np.where(enough, mean_of_raters(table), np.nan), states)
    return "jury", made


def _dimensions(manifest: Mapping[str, Any], ratings: polars.DataFrame) -> tuple[Measured, ...]:
    """In the instrument's order; dimensions it does not know come last, with no scale."""
    present = [str(name) for name in ratings["dimension"].unique(maintain_order=True).to_list()]
    stated = manifest.get("instrument", {})
    known = [
        Measured(
            each["name"],
            each.get("label") or each["name"],
            tuple(float(grade) for grade in each["grades"]) if each.get("grades") else None,
            bool(each.get("higher_is_better", True)),
            bool(each.get("derived", False)),
        )
        for each in stated.get("dimensions", ())
    ]
    if not known:
        known = _of_instrument(_built_in(str(stated.get("name", "")), str(stated.get("fingerprint", ""))))
    kept = [each for each in known if each.name in present]
    names = {each.name for each in kept}
    return (*kept, *(Measured(name, name, None) for name in present if name not in names))


def _built_in(name: str, fingerprint: str) -> Instrument | None:
    try:
        instrument = load_instrument(name) if name in list_instruments() else None
    except InstrumentError:
        return None
    return instrument if instrument is not None and instrument.fingerprint() == fingerprint else None


def _of_instrument(instrument: Instrument | None) -> list[Measured]:
    if instrument is None:
        return []
    own = [
        Measured(
            each.name, each.label or each.name, tuple(float(g) for g in each.values), each.higher_is_better
        )
        for each in instrument.dimensions
    ]
    by_name = {each.name: each for each in own}
    reverse = [
        Measured(
            each.name,
            each.label or each.name,
            by_name[each.of].grades,
            not by_name[each.of].higher_is_better,
            True,
        )
        for each in instrument.reversed
    ]
    return [
        *own,
        *reverse,
        *(Measured(each.name, each.label or each.name, None, True, True) for each in instrument.composites),
    ]
