"""One table of one panel's scores, clinicians' or judges', long or wide, and how its columns were read."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.foundation.frames import FORMS, as_polars
from medjury.intake import READ_BY_CELLS, joined_id, read_table
from medjury.tables._case_columns import CASE_PARTS, tells_groups
from medjury.tables._read import read_plain_table, read_rating_table, with_patients

if TYPE_CHECKING:
    import polars

_CHANGED = re.compile(r"True|False|\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?")  # as cells with a type are written
Role = Literal["clinician", "judge"]
Meaning = Literal["raters", "dimensions"]
KEYS = ("item", "system", "patient")
KINDS = {"clinician": ("clinician",), "judge": ("judge", "jury", "metric")}
# Columns that are never scores.
_KNOWN = (
    *KEYS, "rater", "dimension", "score", "repeat", "status", "reason", "rater_kind", "instrument", "content_hash",
    "explanation", "seconds", "created_at", "key", "calls", "cost", "tokens_in", "tokens_out",
    *(name for name in CASE_PARTS if name != "language"),  # which may be what is graded
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Panel:
    """A table under our own names of its columns. `scores` are the columns of a wide one; a long one has none.
    `reported` says how it was read."""

    file: str
    role: Role
    frame: polars.DataFrame
    scores: tuple[str, ...] = ()
    reported: tuple[str, ...] = ()
    meaning: Meaning | None = None  # what the columns of a wide table are, where its mapping says so
    wide: tuple[str, ...] = ()  # the columns that a wide table had before it became a long one

    @property
    def title(self) -> str:
        return f"{'HUMANS' if self.role == 'clinician' else 'JUDGES'} ({self.file})"

    def has(self, column: str) -> bool:
        return column in self.frame.columns

    def saying(self, *words: str) -> Panel:
        return replace(self, reported=(*self.reported, *(f"{self.title}: {each}" for each in words)))


def open_panel(
    path: object,
    role: Role,
    *,
    named: dict[str, str],
    scores: Sequence[str] | None = None,
    mapping: Mapping[str, Any] | None = None,
) -> Panel:
    """The table in a file, or a frame; `named` says which of its columns is the item, the system or the patient,
    `scores` which columns of a wide table hold scores, and `mapping` both, for this table. What is not a score
    column is reported, and what is not clear is refused."""
    if not isinstance(path, str | os.PathLike):
        given = as_polars(path)
        if given is None:
            raise MedjuryError(f"two tables are files, or {FORMS} each, not {type(path).__name__}")
        return _long_or_wide(Panel("table", role, given), named, scores, mapping or {})
    place = Path(path)
    if mapping and needs_import(mapping):
        ready, words = imported_frame(place, role, mapping)
        return _of_role(Panel(place.name, role, _without_empty_system(ready)).saying(*words))
    frame = None if place.suffix.lower() in (".yaml", ".yml") or place.is_dir() else read_plain_table(place)
    if frame is None and place.suffix.lower() in (".csv", ".tsv") and _is_text(place):
        raise MedjuryError(
            f"{'HUMANS' if role == 'clinician' else 'JUDGES'} ({place.name}): some row has more cells than the "
            "header names; look for a stray separator or quotation mark"
        )
    if frame is None or {"key", "created_at", "explanation"} <= set(frame.columns):
        # A mapping, a run folder, our own export, or a refusal in words.
        frame, notes = read_rating_table(place)
        if place.suffix.lower() in (".yaml", ".yml") and role == "judge":
            import polars as pl

            # A mapping that says nothing of the kind means clinicians; here the place of the file says it.
            kinds = ["judge" if kind == "clinician" else str(kind) for kind in frame["rater_kind"]]
            frame = frame.with_columns(rater_kind=pl.Series(kinds, dtype=pl.String))
        return _of_role(Panel(place.name, role, _without_empty_system(frame)).saying(*notes))
    panel = Panel(place.name, role, frame)
    if place.suffix.lower() in READ_BY_CELLS:
        panel = panel.saying(*read_table(place).reported)
    return _long_or_wide(panel, named, scores, mapping or {}, by_cells=place.suffix.lower() in READ_BY_CELLS)


def _long_or_wide(
    panel: Panel,
    named: dict[str, str],
    scores: Sequence[str] | None,
    mapping: Mapping[str, Any],
    *,
    by_cells: bool = False,
) -> Panel:
    """The table under our names, a long one by its kinds of raters, a wide one with its columns of scores."""
    if isinstance(several := mapping.get("item"), list):
        panel, mapping = _with_item_of(panel, list(map(str, several))), {**mapping, "item": "item"}
    panel = _under_our_names(panel, named, mapping)
    if listed := wide_columns(mapping):
        scores, meaning = listed
        panel = replace(panel, meaning=meaning)
    panel = _without_nested(panel, scores or ())
    if by_cells:
        _refuse_changed_ids(panel)
    if not panel.frame.height:
        raise MedjuryError(f"{panel.title}: the table has no rows")
    if panel.has("score") and scores is None:
        _refuse_decimal_commas(panel, ["score"])
        return _of_role(panel.saying("long: one score in each row"))
    wide = _score_columns(panel, scores)
    return replace(panel, scores=wide)


def _without_empty_system(frame: polars.DataFrame) -> polars.DataFrame:
    """A column of systems in which no row names one says nothing: the other table need not have it."""
    if "system" in frame.columns and not any(frame["system"].unique().to_list()):
        return frame.drop("system")
    return frame


def _is_text(place: Path) -> bool:
    try:
        place.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError):
        return False
    return True


def _with_item_of(panel: Panel, columns: Sequence[str]) -> Panel:
    """A case that several columns name together, in a column `item`."""
    import polars as pl

    for name in columns:
        if name not in panel.frame.columns:
            raise MedjuryError(
                f"{panel.title}: there is no column {name!r}; {nearest(name, panel.frame.columns)}"
            )
    rows = panel.frame.select(pl.col(name).cast(pl.String).fill_null("") for name in columns).iter_rows()
    frame = panel.frame.with_columns(
        item=pl.Series([joined_id(each) or None for each in rows], dtype=pl.String)
    )
    return replace(panel, frame=frame).saying(f"item is the columns {', '.join(columns)} together")


def _under_our_names(panel: Panel, named: dict[str, str], mapping: Mapping[str, Any]) -> Panel:
    columns = panel.frame.columns
    renamed = {}
    for ours, theirs in (named | names_of(panel.title, columns, mapping)).items():
        if theirs in columns:
            renamed[theirs] = ours
            if ours in columns and ours != theirs:
                stated = f"--{ours} names" if ours in named else f"{ours} is, by the mapping,"
                raise MedjuryError(
                    f"{panel.title}: {stated} the column {theirs!r}, but there is a column {ours!r} too; "
                    "rename one of them"
                )
        elif ours == "item":
            raise MedjuryError(f"{panel.title}: there is no column {theirs!r}; {nearest(theirs, columns)}")
    frame = panel.frame.rename(renamed)
    if "item" not in frame.columns:
        raise MedjuryError(
            f"{panel.title}: which column names the case? It has {', '.join(columns)}. Say it with --item COLUMN."
        )
    words = [f"{ours} is the column {theirs!r}" for theirs, ours in renamed.items() if ours != theirs]
    return replace(panel, frame=frame).saying(*words)


def _without_nested(panel: Panel, scores: Sequence[str]) -> Panel:
    """The table without columns that hold lists or objects, as JSON files may: they are named. One that is to say
    which answer is meant, or to hold its scores, is refused."""
    nested = [name for name, kind in panel.frame.schema.items() if kind.is_nested()]
    for name in nested:
        if name in (*_KNOWN, *scores):
            raise MedjuryError(
                f"{panel.title}: the column that is to hold the {'scores' if name in scores else name} holds lists "
                "or objects, not one text or number in each row; name another one, or describe the file in a "
                "mapping (docs/importing-ratings.md)"
            )
    words = [f"not read, as they hold lists or objects: {', '.join(nested)}"] if nested else []
    return replace(panel, frame=panel.frame.drop(nested)).saying(*words)


def _refuse_changed_ids(panel: Panel) -> None:
    """A spreadsheet turns ids such as 3-1 into dates, and others into TRUE."""
    for row, item in enumerate(panel.frame["item"], start=2):
        if _CHANGED.fullmatch(item or ""):
            raise MedjuryError(
                f"{panel.title}, row {row}, column 'item': {item} is a date or TRUE, not an id: format the "
                "column as text and enter it again"
            )


def _refuse_decimal_commas(panel: Panel, columns: Sequence[str]) -> None:
    """`4,5` is no number here and would count as a missing score, or as a column that holds none."""
    import polars as pl

    for name in columns:
        found = (
            panel.frame[name].cast(pl.String).str.strip_chars().str.extract(r"^([+-]?\d+,\d+)$").drop_nulls()
        )
        if len(found):
            raise MedjuryError(
                f"{panel.title}: {len(found):,} score{'s' if len(found) > 1 else ''} in the column {name!r} "
                f"{'have' if len(found) > 1 else 'has'} a decimal comma (first: {found[0]!r}); write "
                f"{found[0].replace(',', '.')}"
            )


def _score_columns(panel: Panel, scores: Sequence[str] | None) -> tuple[str, ...]:
    others = [
        name for name in panel.frame.columns if name not in _KNOWN or name in ("score", *(scores or ()))
    ]
    if scores is not None:
        found = tuple(name for name in others if name in scores)
        if not found:
            raise MedjuryError(
                f"{panel.title}: none of the columns named with --scores is there; it has {others}"
            )
        _refuse_decimal_commas(panel, found)
        return found
    _refuse_decimal_commas(panel, others)
    found = tuple(name for name in others if _numbers(panel.frame[name]))
    if not found:
        raise MedjuryError(
            f"{panel.title}: no column holds scores. A long table has the columns item, rater, dimension, score; a "
            "wide one has item and a column of numbers for each rater, or for each dimension. Anything else can be "
            "described in a mapping file (docs/importing-ratings.md)."
        )
    return found


def _numbers(column: polars.Series) -> int:
    import polars as pl

    if column.dtype == pl.Boolean or not (column.dtype.is_numeric() or column.dtype == pl.String):
        return 0
    text = column.cast(pl.String).str.strip_chars()
    return int(text.cast(pl.Float64, strict=False).is_finite().sum() or 0)


def _of_role(panel: Panel) -> Panel:
    """The rows of raters who have this role, where the table tells kinds; the others are reported, not taken."""
    import polars as pl

    if not panel.has("rater_kind"):
        return panel
    kind = pl.col("rater_kind").cast(pl.String).str.strip_chars().str.to_lowercase()
    fits = panel.frame.filter(kind.is_null() | (kind == "") | kind.is_in(KINDS[panel.role]))
    left = panel.frame.height - fits.height
    if not fits.height:
        raise MedjuryError(f"{panel.title}: no rating is of the kind {' or '.join(KINDS[panel.role])}")
    words = [f"{left:,} ratings of another kind of rater are left out"] if left else []
    return replace(panel, frame=fits).saying(*words)


def _groups(frame: polars.DataFrame, name: str) -> bool:
    """Whether the words of a column tell groups of cases apart; one of another kind is not kept."""
    import polars as pl

    if frame[name].dtype != pl.String:
        return False
    values = {text for each in frame[name].unique().to_list() if each and (text := each.strip())}
    return tells_groups(name, values, frame["item"].n_unique())


def melted(panel: Panel, meaning: Meaning, dimension: str) -> Panel:
    """A wide table as a long one: its columns are raters, or dimensions. An empty cell of a clinician is a case
    that was not rated; one of a judge is an answer that was not scored."""
    import polars as pl

    free = [name for name in panel.frame.columns if name not in panel.scores]
    groups = [
        name for name in free if name in CASE_PARTS or (name not in _KNOWN and _groups(panel.frame, name))
    ]
    kept = [name for name in free if name in (*_KNOWN, "panel") or name in groups]
    frame = panel.frame.with_columns(pl.col(name).cast(pl.String) for name in panel.scores)
    name = "rater" if meaning == "raters" else "dimension"
    long = frame.unpivot(panel.scores, index=kept, variable_name=name, value_name="score")
    if "dimension" not in long.columns:
        long = long.with_columns(dimension=pl.lit(dimension))
    words = [f"wide: the columns {', '.join(panel.scores)} are {meaning}"]
    words += [f"kept as what tells cases apart: {', '.join(groups)}"] if groups else []
    unread = [each for each in panel.frame.columns if each not in (*kept, *panel.scores)]
    words += [f"not read as scores: {', '.join(unread)}"] if unread else []
    if panel.role == "clinician":
        empty = pl.col("score").is_null() | (pl.col("score").str.strip_chars() == "")
        blank = long.filter(empty).height
        long = long.filter(~empty)
        words += [f"{blank:,} empty cells: not rated"] if blank else []
    return replace(panel, frame=long, scores=(), wide=panel.scores, meaning=meaning).saying(*words)


# What a mapping says of one of two tables: names for its columns, or a form that the import of ratings reads.

# One column each, under our own name.
COLUMNS = ("item", "system", "patient", "rater", "dimension", "score", "repeat")
# Said of a table here, and not in the mapping of an import.
_HERE = ("scores", "rescale", "reversed")


def needs_import(mapping: Mapping[str, Any]) -> bool:
    """True where names of columns are not enough: JSON in cells, patterns of names, forms of REDCap."""
    return bool(mapping.keys() - {*COLUMNS, *_HERE, "dimensions", "raters"})


def wide_columns(
    mapping: Mapping[str, Any],
) -> tuple[tuple[str, ...], Meaning | None] | None:
    """The columns that hold scores, and what they are; None for a mapping that lists none."""
    for name, meaning in (("raters", "raters"), ("dimensions", "dimensions"), ("scores", None)):
        if mapping.get(name):
            return tuple(map(str, mapping[name])), meaning  # type: ignore[return-value]
    return None


def names_of(title: str, columns: Sequence[str], mapping: Mapping[str, Any]) -> dict[str, str]:
    """By our own name, the column that the mapping gives it; one that is not there is refused."""
    found = {ours: str(mapping[ours]) for ours in COLUMNS if mapping.get(ours)}
    for key in ("raters", "dimensions"):
        given = mapping.get(key) or {}
        found |= {str(n): str(c) for n, c in given.items()} if isinstance(given, Mapping) else {}
    listed = [name for key in ("raters", "dimensions", "scores") for name in _listed(mapping.get(key))]
    for column in (*found.values(), *listed):
        if column not in columns:
            raise MedjuryError(
                f"{title}: the mapping names the column {column!r}, which is not there; "
                f"{nearest(column, list(columns))}"
            )
    return found


def _listed(given: Any) -> list[str]:
    return [] if isinstance(given, Mapping) else [str(each) for each in given or ()]


def imported_frame(
    place: Path | polars.DataFrame, role: Role, mapping: Mapping[str, Any]
) -> tuple[polars.DataFrame, tuple[str, ...]]:
    """The rows of a table that the import of ratings reads, with the patients that it names, and what is reported.
    Who is not named is the clinician, or the judge."""
    from medjury.store.ratings import rating_frame, read_ratings  # most tables need no import

    settings = {name: value for name, value in mapping.items() if name not in _HERE}
    fixed = dict(settings.get("fixed") or {})
    pattern = str(settings.get("columns") or "")
    named = settings.get("rater") or settings.get("raters") or "rater" in (settings.get("sheets") or {})
    if not (named or fixed.get("rater") or "{rater}" in pattern):
        fixed["rater"] = role
    if not (
        settings.get("dimension")
        or settings.get("dimensions")
        or fixed.get("dimension")
        or "dimension" in (settings.get("sheets") or {})
        or "{dimension}" in pattern
    ):
        fixed["dimension"] = "score"
    settings["fixed"] = fixed
    settings.setdefault("rater_kind", role)
    imported = read_ratings(place, mapping=settings, on_bad="unscored")
    text = imported.report.text()
    notes = [line.strip() for line in text.splitlines() if not line.startswith("warning:")]
    if imported.patients:
        notes.append(f"patient is the column {mapping.get('patient', 'patient')!r}")
    return with_patients(rating_frame(imported.ratings), imported.patients), tuple(notes)
