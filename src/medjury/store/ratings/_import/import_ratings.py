"""Brings ratings in from files: read, check everything, then take all of it or nothing."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medjury.foundation.clock import utc_now
from medjury.instruments import Instrument, load_instrument
from medjury.intake import (
    LEFT_SHEETS,
    FileError,
    Given,
    NoRowsError,
    Row,
    Table,
    is_blank,
    read_table,
    shown_of,
)
from medjury.intake.cases import (
    PAIR_COLUMNS,
    PREFERENCE,
    Case,
    holds_pairs,
    is_marks_file,
    marks_table,
    pair_name,
    read_preference,
)
from medjury.store.ratings._export import unguard, write_ratings
from medjury.store.ratings._frame import INTEGER, REAL, rating_of_row
from medjury.store.ratings._import.build import Builder, OnBad, OnUnknown
from medjury.store.ratings._import.cell import refused
from medjury.store.ratings._import.entries import Entry, read_entries
from medjury.store.ratings._import.known import CaseLabels, KnownCases
from medjury.store.ratings._import.layout import find_layout
from medjury.store.ratings._import.mapping import RatingMapping, Source, rating_mapping
from medjury.store.ratings._import.report import ImportReport, Problem, refuse, short
from medjury.store.ratings._import.suspicious import EmptyColumns, look_alikes
from medjury.store.ratings._pseudonyms import Pseudonyms
from medjury.store.ratings._rating import Rating
from medjury.store.ratings._store.statements import RATING_COLUMNS
from medjury.store.ratings._store.store import Store

if TYPE_CHECKING:
    import polars

_ADVICE = (
    "Correct the file. To keep bad scores as unscored rows instead, with their reason and counted: "
    "on_bad=unscored (--on-bad unscored); to leave out items that are not among the cases: "
    "on_unknown=drop (--on-unknown drop)."
)

_TABLE = "table"  # what a polars table is called in messages


Location = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class ImportedRatings:
    """The ratings of an import, and what became of every cell. `profiles` describe the raters by their names in the
    ratings, `labels` the cases; `entered_as` tells which name in the file became which in the ratings."""

    ratings: tuple[Rating, ...]
    report: ImportReport
    profiles: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    entered_as: Mapping[str, str] = field(default_factory=dict)
    label_columns: frozenset[str] = frozenset()  # the labels whose column a file has
    unknown: Mapping[tuple[str, str, str], int] = field(default_factory=dict)  # rater, item, system: left out
    patients: Mapping[str, str] = field(default_factory=dict)  # by item, where the files name them
    pseudonyms: Pseudonyms | None = None  # None where names are kept


def read_ratings(
    path: Location | polars.DataFrame,
    *,
    mapping: Given | None = None,
    instrument: Instrument | Location | None = None,
    cases: Iterable[Case] | KnownCases | None = None,
    pseudonyms: Pseudonyms | None = None,
    on_bad: OnBad = "refuse",
    on_unknown: OnUnknown = "refuse",
    labels: Mapping[str, str] | None = None,
    advice: str = _ADVICE,
    one_rater: str = "",
    every_cell: bool = False,
) -> ImportedRatings:
    """Read ratings from a CSV, Excel, Parquet or JSON file, a polars table, or the files a mapping (`.yaml`) names.

    Without a mapping the table has the columns `item, rater, dimension, score`. Scores are checked against the
    instrument, or the mapping's `scale`; with `cases` the ids are checked too. All problems are reported at
    once, as one `FileError`. Names stay as they are unless `pseudonyms` are given. `labels` names 0/1 columns
    that say something of the case: the label and its column. What the instrument skips is not applicable.
    A mapping may be given as a dict too. `advice` ends the list of problems, in the words of whoever asked.
    `one_rater` gave every score of a file in which no column names the rater. Clinicians may leave a cell empty;
    with `every_cell` it is an unscored row, for the reason `empty`.
    """
    plan = _plan(path, mapping)
    chosen = instrument if instrument is not None else plan.instrument
    builder = Builder(
        ImportReport(),
        utc_now(),
        chosen if chosen is None or isinstance(chosen, Instrument) else load_instrument(chosen),
        cases
        if cases is None or isinstance(cases, KnownCases)
        else KnownCases(cases, contents=any(each.content for each in plan.sources)),
        pseudonyms,
        on_bad,
        on_unknown,
        every_cell=every_cell,
        labels=CaseLabels(labels or {}),
    )
    found: set[str] = set()
    empty = EmptyColumns()
    for source in plan.sources:
        found |= _read(source, path, builder, empty, described=plan.described, rater=one_rater)
    builder.settle()
    report = builder.report
    report.warnings += look_alikes(builder.raters)
    if builder.unchecked:
        report.warnings.append(
            f"no scale is known for {', '.join(sorted(builder.unchecked))}: scores were not checked against a "
            "range; give an instrument, or a `scale` in the mapping"
        )
    if report.problems:
        raise refuse(report.problems, advice)
    report.warnings += empty.settle(builder.skippable)
    if not builder.ratings:
        raise NoRowsError(
            f"{', '.join(report.files)}: there are no ratings in it; every rating needs a row. {report.text()}"
        )
    if pseudonyms is not None:
        pseudonyms.keep()
    return ImportedRatings(
        tuple(builder.ratings),
        report,
        builder.profiles.of_raters(),
        builder.labels.of,
        {name: seen.shown for name, seen in builder.raters.items()},
        frozenset(found),
        builder.unknown,
        builder.patients,
        pseudonyms,
    )


def import_ratings(
    target: Store | Location,
    path: Location,
    *,
    run: str | None = None,
    mapping: Given | None = None,
    instrument: Instrument | Location | None = None,
    cases: Iterable[Case] | None = None,
    keep_names: bool = False,
    names_key: Location | None = None,
    on_bad: OnBad = "refuse",
    on_unknown: OnUnknown = "refuse",
) -> ImportedRatings:
    """Read ratings, check them, and add them to a store or write them to a file, clinicians under pseudonyms unless
    `keep_names`.

    The secret of the pseudonyms is kept in a file beside the target, or in `names_key`. Importing the same file
    into a store again adds nothing; a corrected file adds the corrected ratings, and the old ones stay on record.
    """
    imported = read_ratings(
        path, mapping=mapping, instrument=instrument, cases=cases, on_bad=on_bad, on_unknown=on_unknown,
        pseudonyms=None if keep_names else Pseudonyms.open(names_key or _key_file_beside(target)),
    )  # fmt: skip
    if not isinstance(target, Store):
        write_ratings(imported.ratings, target)
        return imported
    name = run or f"import of {Path(path).name}"
    target.put_run(
        name, {"kind": "import", "files": _hashes(path, mapping), "ratings": imported.report.ratings}
    )
    target.write_ratings(name, imported.ratings)
    return imported


def _key_file_beside(target: Store | Location) -> Path:
    """Where the secret of pseudonyms lies that belongs to a file."""
    file = target.path if isinstance(target, Store) else Path(target)
    if file is None:
        raise FileError(
            f"{target.place if isinstance(target, Store) else target}: name a file that keeps the secret of the "
            "pseudonyms (names_key=FILE, --names-key FILE), or keep the names (keep_names=True, --keep-names)"
        )
    return file.with_name(f"{file.name}.names-key")


def _plan(data: Location | polars.DataFrame, mapping: Given | None) -> RatingMapping:
    path = Path(data) if isinstance(data, str | os.PathLike) else Path(_TABLE)
    if mapping is not None:
        return rating_mapping(mapping, path)
    if path.suffix.lower() in (".yaml", ".yml"):
        return rating_mapping(path)
    return RatingMapping((Source(file=path),))


def _read(
    source: Source,
    data: Location | polars.DataFrame,
    builder: Builder,
    empty: EmptyColumns,
    described: bool,
    rater: str = "",
) -> set[str]:
    """Read one file into the builder; the labels whose column it has."""
    if isinstance(data, str | os.PathLike):
        marked = not described and is_marks_file(source.file)
        table = marks_table(source.file) if marked else read_table(source.file, source.reading())
    else:
        table = Table(
            _TABLE, data.columns, (Row(n, list(row)) for n, row in enumerate(data.iter_rows(), start=1))
        )
    builder.report.files.append(table.file)
    if not described and is_ours(table):
        for rating, entry in read_own(table, builder.report):
            builder.add_rating(rating, entry)
        return set()
    if not described:
        table = _of_pairs(table)
    dimensions = [each.name for each in builder.instrument.dimensions] if builder.instrument else []
    try:
        layout = find_layout(table.file, table.header, source, dimensions, builder.labels.columns, rater)
    except FileError as error:
        raise FileError(" ".join([str(error), *table.reported])) from None
    if layout.unused:
        builder.report.unused_columns[table.file] = layout.unused
    for entry in read_entries(table, layout, builder.report, empty):
        builder.add(entry, layout.source)
    builder.report.notes += table.reported
    _count_not_read(source, table, builder)
    return set(layout.labels)


def _count_not_read(source: Source, table: Table, builder: Builder) -> None:
    """A sheet of a workbook that another part of the mapping reads is not left out."""
    left = Counter(table.left_out)
    if others := builder.sheets.setdefault(source.file, set()):
        left[LEFT_SHEETS] = 0 if source.sheet in others else -1
    others.add(source.sheet)
    builder.report.not_read.update(left)


def table_files(path: Location, mapping: Given | None = None) -> tuple[Path, ...]:
    """The tables that are read: the file itself, or those that a mapping names."""
    return tuple(dict.fromkeys(source.file for source in _plan(path, mapping).sources))


def _hashes(path: Location, mapping: Given | None) -> dict[str, str]:
    """SHA-256 of each file that was read, by its name."""
    files = [*table_files(path, mapping)]
    files += [Path(each) for each in (path, mapping) if isinstance(each, str | os.PathLike)]
    names = [file.name for file in files]
    return {
        file.name if names.count(file.name) == 1 else str(file): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in dict.fromkeys(files)
    }


# Judgements of pairs as clinicians' files have them: who was shown first, who second, and who is preferred.


def _of_pairs(table: Table) -> Table:
    """The table as one of scores where it holds judgements of pairs; any other as it is. What is no preference
    is refused by its row: a 1 would be a score, and may have meant the first."""
    if not holds_pairs(table.header):
        return table
    places = [table.header.index(name) for name in PAIR_COLUMNS[1:]]
    kept = [at for at in range(len(table.header)) if at not in places]

    def rows() -> Iterator[Row]:
        for row in table.rows:
            first, second, preferred = (shown_of(row.cells[at]).strip() for at in places)
            score: object
            try:
                score = read_preference(first, second, preferred)
            except ValueError as error:
                empty = not (first or second or preferred)
                score = None if empty else refused(preferred, f"is no preference: {error}")
            yield row._replace(
                cells=[*(row.cells[at] for at in kept), pair_name(first, second), PREFERENCE, score]
            )

    header = [*(table.header[at] for at in kept), "system", "dimension", "score"]
    return replace(table, header=header, rows=rows())


# Reads back a table that we wrote: every field of every rating, exactly.

_ABSENT = frozenset({"reason", "model_asked", "model_answered"})  # texts that may not be there at all


def is_ours(table: Table) -> bool:
    """True where the table has every column of a rating."""
    return set(RATING_COLUMNS) <= set(table.header)


def read_own(table: Table, report: ImportReport) -> Iterator[tuple[Rating, Entry]]:
    """The ratings of the table, each with its place."""
    index = [table.header.index(name) for name in RATING_COLUMNS]
    guarded = table.file.lower().endswith((".csv", ".tsv"))
    if extra := [name for name in table.header if name not in RATING_COLUMNS]:
        report.unused_columns[table.file] = extra
    for number, cells, *_ in table.rows:
        report.rows += 1
        try:
            row = [_value(name, cells[at], guarded) for name, at in zip(RATING_COLUMNS, index, strict=True)]
            rating = rating_of_row(row)
        except (ValueError, TypeError) as error:
            report.problems.append(
                Problem(table.file, number, "", "", f"is not a rating: {short(str(error))}")
            )
            continue
        yield rating, Entry(table.file, number, "score", rating.score, {})


def _value(name: str, cell: Any, guarded: bool) -> Any:
    if name in REAL:
        return None if is_blank(cell) else float(cell)
    if name in INTEGER:
        return None if is_blank(cell) else int(cell)
    if cell is None or (name in _ABSENT and cell == ""):
        return None if name in _ABSENT else ""
    return unguard(str(cell)) if guarded else str(cell)
