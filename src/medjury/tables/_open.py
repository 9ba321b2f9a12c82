"""From ratings as they are found (a run folder, a store, a file, a frame) to a rating table."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medjury.cases import Case, read_cases
from medjury.documents import nearest
from medjury.errors import MedjuryError
from medjury.instruments import Instrument, list_instruments, load_instrument
from medjury.runs import Manifest, Records, files, read_manifest, with_patients
from medjury.tables._clean import clean_rows
from medjury.tables._grades import GradesArgument
from medjury.tables._grid import RepeatRule
from medjury.tables._jury import JuryName, JuryRule
from medjury.tables._measured import of_instrument, of_manifest, present
from medjury.tables._rating_table import RatingTable
from medjury.tables._read import read_rating_table
from medjury.tables._scales import on_scale
from medjury.tables._spelling import look_alikes

if TYPE_CHECKING:
    import polars

Cases = str | os.PathLike[str] | Iterable[Case]


def rating_table(
    source: object,
    *,
    scale: GradesArgument = None,
    instrument: Instrument | str | None = None,
    cases: Cases | None = None,
    jury: JuryName | None = None,
    quorum: int | None = None,
    repeats: RepeatRule = "mean",
) -> RatingTable:
    """Ratings made ready for every analysis.

    `source`: a run folder (then patients, scale, vendors, rules, development cases and the jury's rule come from
    it), a CSV, Parquet, JSONL or Excel file, a mapping (.yaml), a polars frame with the columns item, rater,
    dimension, score (and, where there are any, system, patient, repeat, status, reason, rater_kind, instrument,
    content_hash), a list of `Rating` objects, or a table that is ready already.

    - `scale`: (lowest, highest), all grades, or a dict of those by dimension; else the instrument's. Observed
      levels are never taken for the scale.
    - `instrument`: its name, file or object; else the built-in one that the ratings name.
    - `cases`: the cases that were judged, for their patients and the vendors of their systems.
    - `jury`: forms the jury of the judges by this rule, even where the ratings have a jury of their own.
    - `repeats`: how a rater's repeats on one unit become one score.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"item": ["1", "2"], "rater": "a", "dimension": "accuracy", "score": [4, 9]})
    >>> rating_table(frame, scale=(1, 10)).dimensions[0].grades.highest
    10
    """
    if isinstance(source, RatingTable):
        if (
            scale is None
            and instrument is None
            and cases is None
            and jury is None
            and repeats == source.repeats
        ):
            return source
        return _remade(source, scale, jury, quorum, repeats)
    folder = Path(source) if isinstance(source, str | os.PathLike) else None
    if folder is not None and (folder / files.MANIFEST).is_file():
        table = open_run(folder)
        return rating_table(table, scale=scale, jury=jury, quorum=quorum, repeats=repeats)
    frame, notes = read_rating_table(folder) if folder is not None else (source, ())
    known = load_instrument(instrument) if isinstance(instrument, str) else instrument
    vendors: dict[str, str] = {}
    if cases is not None:
        frame, vendors = _with_cases(frame, cases)
    return _made(
        frame, Manifest(), known, scale, notes, vendors, JuryRule(jury or "mean", quorum), bool(jury), repeats
    )


def open_run(folder: str | os.PathLike[str], **settings: Any) -> RatingTable:
    """The rating table of a run folder; `settings` replace what the study file says under `report:`."""
    import polars as pl

    place = Path(folder)
    manifest = read_manifest(place)
    try:
        ratings = pl.read_parquet(place / files.RATINGS)
    except FileNotFoundError:
        raise MedjuryError(
            f"{place}: not a finished run folder ({files.RATINGS} is missing); run the study first"
        ) from None
    except (OSError, pl.exceptions.PolarsError) as error:
        raise MedjuryError(f"{place}: the run folder cannot be read ({error}); run the study again") from None
    frame = with_patients(ratings, place, manifest)
    rule = JuryRule(manifest.jury.rule, manifest.jury.quorum, manifest.jury.name)
    stated = manifest.settings(**settings)
    table = _made(frame, manifest, _own_instrument(manifest), None, (), stated.system_vendors or {}, rule)
    # Beside other files that the manifest names, records that it does not name are not the run's.
    own = not manifest.files or files.RECORDS in manifest.files
    records = Records(place / files.RECORDS if own else None)
    return replace(
        table,
        manifest=manifest,
        folder=place,
        records=records,
        settings=stated,
        judge_vendors=manifest.judge_vendors,
    )


def _made(
    source: object,
    manifest: Manifest,
    instrument: Instrument | None,
    scale: GradesArgument,
    notes: Iterable[str],
    system_vendors: Mapping[str, str],
    jury: JuryRule,
    jury_asked: bool = False,
    repeats: RepeatRule = "mean",
) -> RatingTable:
    import polars as pl

    rules = manifest.rules
    if isinstance(source, pl.DataFrame) and not source.height and manifest.run:
        return RatingTable(source, source, (), {}, jury, rules=rules, settings=manifest.settings())
    rows = clean_rows(source)
    known = instrument or _named_instrument(rows)
    dimensions = of_manifest(manifest.instrument) or ([] if known is None else of_instrument(known))
    _check_scale(scale, rows)
    kept = present(dimensions, rows, scale)
    rows, warnings = on_scale(rows, kept)
    told = rows.group_by("rater").agg(pl.col("rater_kind").drop_nulls().first()).sort("rater")
    kinds = {str(rater): str(kind or "") for rater, kind in told.iter_rows()}
    served = pl.col("item").is_in(list(rules.development_cases))
    alike = look_alikes(list(kinds), partial(_rated_together, rows))
    return RatingTable(
        rows.filter(~served),
        rows.filter(served),
        kept,
        kinds,
        jury,
        jury_asked,
        rules,
        manifest.settings(),
        system_vendors=dict(system_vendors),
        instrument=known,
        repeats=repeats,
        notes=tuple(notes),
        warnings=(*warnings, *alike),
    )


def _remade(
    table: RatingTable, scale: GradesArgument, jury: JuryName | None, quorum: int | None, repeats: RepeatRule
) -> RatingTable:
    """A table that is ready, read on another scale, with another jury or other repeats."""
    made = replace(table, repeats=repeats)
    if jury is not None:
        made = replace(made, jury_rule=JuryRule(jury, quorum), jury_asked=True)
    if scale is None:
        return made
    _check_scale(scale, table.everything)
    dimensions = present(table.dimensions, table.everything, scale)
    rows, warnings = on_scale(table.rows, dimensions)
    return replace(made, rows=rows, dimensions=dimensions, warnings=(*table.warnings, *warnings))


def _with_cases(source: object, cases: Cases) -> tuple[polars.DataFrame, dict[str, str]]:
    """The ratings with the patient of each case, and the vendors of the systems that the cases name."""
    import polars as pl

    frame = clean_rows(source).drop("row", "cluster")
    patients: dict[str, str] = {}
    vendors: dict[str, str] = {}
    for case in read_cases(cases) if isinstance(cases, str | os.PathLike) else cases:
        if case.patient is not None:
            patients[case.id] = case.patient
        if case.vendor:
            vendors[case.system] = case.vendor
    if patients:
        known = pl.col("item").replace_strict(patients, default=None, return_dtype=pl.String)
        frame = frame.with_columns(known.alias("patient"))
    rated = set(frame["system"].to_list())
    return frame, {system: vendor for system, vendor in vendors.items() if system in rated}


def _own_instrument(manifest: Manifest) -> Instrument | None:
    """The built-in instrument of a run, where it is word for word the one that the run used."""
    if manifest.instrument.name not in list_instruments():
        return None
    found = load_instrument(manifest.instrument.name)
    return found if found.fingerprint() == manifest.instrument.fingerprint else None


def _named_instrument(rows: polars.DataFrame) -> Instrument | None:
    """The built-in instrument that all rows name, as NAME or NAME@VERSION."""
    named = [name for name in rows["instrument"].unique().to_list() if name]
    if len(named) != 1:
        return None
    name, _, version = named[0].partition("@")
    if name not in list_instruments():
        return None
    found = load_instrument(name)
    return found if version in ("", found.version) else None


def _check_scale(scale: GradesArgument, rows: polars.DataFrame) -> None:
    if isinstance(scale, Mapping):
        known = rows["dimension"].unique().sort().to_list()
        for name in scale:
            if name not in known:
                raise MedjuryError(
                    f"a scale is given for {name!r}, which is no dimension; {nearest(name, known)}"
                )


def _rated_together(rows: polars.DataFrame, first: str, second: str) -> bool:
    key = ["dimension", "item", "system"]
    one, two = (rows.filter(rows["rater"] == rater).select(key) for rater in (first, second))
    return one.join(two, on=key, how="semi").height > 0
