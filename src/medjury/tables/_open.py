"""From ratings as they are found (a run folder, a store, a file, a frame) to a rating table."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from medjury.foundation import limits
from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument, list_instruments, load_instrument
from medjury.intake.cases import Case, CaseCriteria, Criterion
from medjury.store.runs import (
    GateRules,
    Manifest,
    ManifestHumans,
    ManifestJury,
    ManifestPanel,
    Records,
    RunFolder,
    files,
)
from medjury.tables._case_columns import found_columns
from medjury.tables._clean import check_scale, clean_rows, on_scale, with_clusters
from medjury.tables._dimensions import GradesArgument, Measured, of_instrument, of_manifest, present
from medjury.tables._grid import RepeatRule
from medjury.tables._jury import JuryName, JuryRule
from medjury.tables._marks import by_case_instrument, case_column, with_marks, without_marks
from medjury.tables._pairs import SHOWN_FIRST
from medjury.tables._rating_table import RatingTable, RunDetails
from medjury.tables._roles import Names, People, look_alikes

if TYPE_CHECKING:
    import polars


# Ratings from a store: all of it, or the runs that are named.

_SQLITE = b"SQLite format 3\x00"


def is_store(place: str) -> bool:
    """Whether a place is a database: an address such as `postgresql://…`, or a file that SQLite wrote."""
    if "://" in place:
        return True
    file = Path(place)
    if not file.is_file():
        return False
    with file.open("rb") as content:
        return content.read(len(_SQLITE)) == _SQLITE


def read_store(place: str, run: Names | None) -> tuple[polars.DataFrame, Manifest | None]:
    """The ratings of the named runs, or of all, and the manifest where one run is named that has an instrument."""
    import polars as pl

    from medjury.store.ratings import open_store

    with open_store(place, create=False) as store:
        runs = {each.name: each for each in store.runs()}
        wanted = (run,) if isinstance(run, str) else tuple(run or ())
        for name in wanted:
            if name not in runs:
                raise MedjuryError(f"{store.place} has no run {name!r}; {nearest(name, list(runs))}")
        frames = [store.frame(name) for name in wanted or (None,)]
        # Runs that share an answer share its rows.
        frame = pl.concat(frames).unique(["key", "dimension"], maintain_order=True)
        if not frame.height:
            raise MedjuryError(f"{store.place} has no ratings; judge cases, or import ratings, first.")
    if len(runs) > 1 and not wanted:
        _refuse_mixed(frame, place, list(runs))
    stated = runs[wanted[0]].manifest if len(wanted) == 1 else {}
    return frame, Manifest.model_validate(stated) if "instrument" in stated else None


def _refuse_mixed(frame: polars.DataFrame, place: str, runs: list[str]) -> None:
    """Two runs of one study rate the same answers: nobody but the user knows which of them is meant."""
    key = ["item", "system", "rater", "dimension", "repeat"]
    if frame.select(key).is_duplicated().any():
        shown = ", ".join(runs[:5]) + (" …" if len(runs) > 5 else "")
        raise MedjuryError(
            f"several runs of this store rated the same answers; name the run, or the runs, to read (--run). "
            f"There are {shown}."
        )


# What the cases know of the ratings: which patient each item is of, and who made each system.

Cases = str | os.PathLike[str] | Iterable[Case]


def with_cases(
    rows: polars.DataFrame, cases: Cases
) -> tuple[polars.DataFrame, Mapping[str, str], CaseCriteria]:
    """The rows with the patient of each case, the vendors of the systems that the cases name, and their criteria.
    The cases count more than what the ratings say."""
    import polars as pl

    from medjury.intake.cases import read_cases

    patients: dict[str, str] = {}
    vendors: dict[str, str] = {}
    criteria = CaseCriteria()
    for case in read_cases(cases) if isinstance(cases, str | os.PathLike) else cases:
        if case.patient is not None:
            patients[case.id] = case.patient
        if case.vendor:
            vendors[case.system] = case.vendor
        criteria.add(case)
    if patients:
        known = pl.col("item").replace_strict(patients, default=None, return_dtype=pl.String)
        rows = with_clusters(rows.with_columns(pl.coalesce(known, "patient").alias("patient")))
    rated = set(rows["system"].to_list())
    return rows, {system: vendor for system, vendor in vendors.items() if system in rated}, criteria


def rating_table(
    source: object,
    *,
    scale: GradesArgument = None,
    instrument: Instrument | str | None = None,
    cases: Cases | None = None,
    jury: JuryName | None = None,
    quorum: int | None = None,
    repeats: RepeatRule | None = None,
    run: Names | None = None,
    mapping: Mapping[str, Any] | str | os.PathLike[str] | None = None,
) -> RatingTable:
    """Ratings made ready for every analysis.

    `source`: a run folder (then patients, scale, vendors, rules, development cases and the jury's rule come from
    it), a store (a SQLite file, `postgresql://…`), a CSV, Parquet, JSONL or Excel file, a mapping (.yaml), a polars
    frame with the columns item, rater, dimension, score (and, where there are any, system, patient, repeat, status,
    reason, rater_kind, instrument, content_hash), a list of `Rating` objects, or a table that is ready already.

    - `scale`: (lowest, highest), all grades, or a dict of those by dimension; else the instrument's. Observed
      levels are never taken for the scale.
    - `instrument`: its name, file or object; else the one of the run, or the built-in one that the ratings name.
    - `cases`: the cases that were judged, for their patients and the vendors of their systems.
    - `jury`, `quorum`: forms the jury of the judges by this rule, even where the ratings have a jury of their own.
      What is not given stays as the run has it: its quorum, or more than half.
    - `repeats`: how a rater's repeats on one unit become one score, "mean" (the default) or "median".
    - `run`: the run, or the runs, to read from a store.
    - `mapping`: how a file, or a frame, with other columns is read: a mapping file, or its lines as a dict.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"item": ["1", "2"], "rater": "a", "dimension": "accuracy", "score": [4, 9]})
    >>> rating_table(frame, scale=(1, 10)).dimensions[0].grades.highest
    10
    """
    source = getattr(source, "table", source)  # a run that is open has one
    place = os.fspath(source) if isinstance(source, str | os.PathLike) else None
    if run is not None and (place is None or not is_store(place)):
        raise MedjuryError("a run is chosen from a store; these ratings are in no store. Leave `run` out.")
    if mapping is not None:
        from medjury.tables._read import read_mapped

        frame, notes = read_mapped(source, mapping)
        table = replace(_made(frame), notes=notes)
    elif isinstance(source, RatingTable):
        # An analysis that weights says so itself; that another one did is no leave for this one.
        table = replace(source, weighted=False) if source.weighted else source
    elif place is None:
        table = _made(source)
    elif is_store(place):
        table = _made(*read_store(place, run))
    elif (Path(place) / files.MANIFEST).is_file():
        table = open_run(place)
    else:
        from medjury.tables._read import read_rating_table

        frame, notes = read_rating_table(place)
        table = replace(_made(frame), notes=notes)
    if repeats is not None:
        table = replace(table, repeats=repeats)
    if quorum is not None and quorum < 1:
        raise MedjuryError(f"a quorum is how many judges must have given a score, from 1 on, not {quorum}.")
    if jury is not None or quorum is not None:
        own = table.jury_rule
        # Who has no vote in the run's jury has none in another rule's.
        rule = JuryRule(jury or own.rule, own.quorum if quorum is None else quorum, members=own.members)
        table = replace(table, jury_rule=rule, jury_asked=True)
    if mapping is None and place is not None and place.endswith((".yaml", ".yml")):
        mapping = place
    if mapping is not None and scale is None and instrument is None:
        from medjury.tables._read import grades_in_mapping

        scale = grades_in_mapping(mapping, [each.name for each in table.dimensions if each.grades is None])
    if scale is None and instrument is None and cases is None:
        return table
    return _remade(table, scale, instrument, cases)


def with_rules(table: RatingTable, rules: GateRules) -> RatingTable:
    """The same ratings under other rules of the gate: the development cases that they name are set aside."""
    return replace(table, **_ready(table.everything, table.dimensions, rules), rules=rules)


def open_run(folder: str | os.PathLike[str], **settings: Any) -> RatingTable:
    """The rating table of a run folder; `settings` replace what the study file says under `report:`."""
    import polars as pl

    place = Path(folder)
    manifest = RunFolder(place).manifest
    try:
        ratings = limits.read_parquet(place / files.RATINGS, times=limits.OWN)
    except FileNotFoundError:
        raise MedjuryError(
            f"{place}: not a finished run folder ({files.RATINGS} is missing); run the study first"
        ) from None
    except (OSError, pl.exceptions.PolarsError, limits.UnreadableParquetError) as error:
        raise MedjuryError(f"{place}: the run folder cannot be read ({error}); run the study again") from None
    stated = manifest.settings(**settings)
    # Beside other files that the manifest names, records that it does not name are not the run's.
    own = not manifest.files or files.RECORDS in manifest.files
    criteria = RunFolder(place).criteria(manifest)
    return replace(
        _made(RunFolder(place).with_facts(ratings, manifest), manifest, criteria.of),
        settings=stated,
        run=RunDetails(
            manifest=manifest,
            folder=place,
            records=Records(place / files.RECORDS if own else None),
            labels=RunFolder(place).labels(manifest),
            profiles=RunFolder(place).profiles(manifest),
            lengths=criteria.lengths,
            case_tags=criteria.tags,
            judge_vendors=manifest.judge_vendors,
            system_vendors={**manifest.system_vendors, **(stated.system_vendors or {})},
        ),
    )


def _made(
    source: object,
    manifest: Manifest | None = None,
    criteria: Mapping[str, tuple[Criterion, ...]] = MappingProxyType({}),
) -> RatingTable:
    """The table of ratings as they are; a run may have none yet, where nothing else may."""
    stated = manifest or Manifest()
    rows = clean_rows(source, may_be_empty=manifest is not None)
    known = _own_instrument(stated) or _named_instrument(rows)
    marked = by_case_instrument(rows, known)
    if criteria or marked is not None:
        known = marked
        rows, criteria = with_marks(rows, criteria)
    dimensions = of_manifest(stated.instrument) or ([] if known is None else of_instrument(known))
    return RatingTable(
        **_ready(rows, present(dimensions, rows, None), stated.rules),
        **_stated_roles(stated, rows),
        rules=stated.rules,
        settings=stated.settings(),
        instrument=known,
        criteria=criteria,
    )


def _stated_roles(manifest: Manifest, rows: polars.DataFrame) -> dict[str, Any]:
    """Who is who, as the run states it; somebody without a rating in it cannot be."""
    humans, there = manifest.humans or ManifestHumans(), set(rows["rater"].unique().to_list())
    panel = humans.second_panel or ManifestPanel(name="")
    named = [*humans.reference, *panel.members, *([humans.adjudicator] if humans.adjudicator else [])]
    if lacking := [name for name in named if there and name not in there]:
        raise MedjuryError(
            f"the study gives {lacking[0]!r} a part among its clinicians, and none of the ratings is "
            "theirs; run the study "
            "again, which asks no question twice"
        )
    juries = tuple(_jury_rule(each) for each in manifest.all_juries)
    people = People(
        humans.reference if there else (),
        panel.members if there else (),
        panel.name,
        humans.consensus,
        humans.adjudicator or "" if there else "",
    )
    # Of votes on pairs the mean would be near a tie where two of three are for one answer.
    own = JuryRule("median" if SHOWN_FIRST in rows.columns else "mean")
    return {"people": people, "jury_rule": juries[0] if juries else own, "juries": juries}


def _jury_rule(stated: ManifestJury) -> JuryRule:
    rule: JuryName = "mean" if stated.rule == "none" else stated.rule
    return JuryRule(rule, stated.quorum, stated.name, stated.members)


def _remade(
    table: RatingTable, scale: GradesArgument, instrument: Instrument | str | None, cases: Cases | None
) -> RatingTable:
    """A table that is ready, read on another scale, with another instrument or with the patients of its cases."""
    rows, found, vendors = without_marks(table.everything), CaseCriteria(), dict(table.run.system_vendors)
    check_scale(scale, table.everything)
    known = load_instrument(instrument) if isinstance(instrument, str) else instrument
    dimensions = table.dimensions if known is None else of_instrument(known)
    if cases is not None:
        rows, named, found = with_cases(rows, cases)
        vendors |= named
    criteria: Mapping[str, tuple[Criterion, ...]] = table.criteria
    marked = by_case_instrument(rows, known or table.instrument)
    if marked is not None:
        rows, criteria = with_marks(rows, {**criteria, **found.of})
        dimensions = tuple(of_instrument(marked))
    return replace(
        table,
        **_ready(rows, present(dimensions, rows, scale), table.rules),
        run=replace(
            table.run,
            system_vendors=vendors,
            lengths={**table.run.lengths, **found.lengths},
            case_tags={**table.run.case_tags, **found.tags},
        ),
        instrument=known or table.instrument,
        criteria=criteria,
    )


def _ready(rows: polars.DataFrame, dimensions: tuple[Measured, ...], rules: GateRules) -> dict[str, Any]:
    """What follows from clean rows and the dimensions they are on: the fields of a `RatingTable`."""
    import polars as pl

    rows, warnings = on_scale(rows, dimensions)
    raters = _kinds(rows)
    _, left_out = found_columns(rows, rules.parts or ())
    columns = [f"the column {name} is not a part of the cases: {why}" for name, why in left_out.items()]
    served = pl.col(case_column(rows)).is_in(list(rules.development_cases))
    rated = rows.group_by("dimension").agg(pl.col("rater").unique())
    # Somebody chose the names of people and models; a text metric has that of its kind (chrf and chrf++ are two).
    chosen = [name for name, kind in raters.items() if kind != "metric"]
    spelled = look_alikes(chosen, partial(_rated_together, rows))
    return {
        "rows": rows.filter(~served),
        "development_rows": rows.filter(served),
        "dimensions": dimensions,
        "raters": raters,
        "warnings": (*warnings, *spelled, *columns),
        "seats": {str(name): frozenset(names) for name, names in rated.iter_rows()},
    }


def _kinds(rows: polars.DataFrame) -> dict[str, str]:
    """Every rater's kind, "" where none is named."""
    import polars as pl

    named = rows.group_by("rater").agg(pl.col("rater_kind").drop_nulls().unique().sort()).sort("rater")
    two = named.filter(pl.col("rater_kind").list.len() > 1)
    if two.height:
        name, kinds = two.row(0)
        raise MedjuryError(
            f"the rater {name!r} is called both {kinds[0]} and {kinds[1]} in the column rater_kind; a rater is of "
            "one kind. Correct the kind, or give the two raters two names."
        )
    return {str(name): str(kinds[0]) if kinds else "" for name, kinds in named.iter_rows()}


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


def _rated_together(rows: polars.DataFrame, first: str, second: str) -> bool:
    key = ["dimension", "item", "system"]
    one, two = (rows.filter(rows["rater"] == rater).select(key) for rater in (first, second))
    return one.join(two, on=key, how="semi").height > 0
