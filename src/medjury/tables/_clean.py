"""Rating tables as people bring them, made into rows to trust, or refused with the row and the fix; scores off
their scale are unscored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.foundation.frames import FORMS, as_polars
from medjury.intake.cases import MET_WORDS, NOT_APPLICABLE_WORDS, holds_pairs
from medjury.store.ratings import Rating, rating_frame
from medjury.tables._dimensions import GradesArgument, Measured
from medjury.tables._pairs import from_pairs, with_pairs

if TYPE_CHECKING:
    import polars


REQUIRED = ("item", "rater", "dimension", "score")
_OPTIONAL = ("system", "patient", "rater_kind", "instrument", "status", "reason", "content_hash")
MISALIGNED = "misaligned"
# With which probability the answer was drawn for its rater.
PROBABILITY = "probability"
# The score of a row that lies off its scale; such a row is unscored.
OFF_SCALE = "off_scale"
# Columns that are added here: one of the same name in the file keeps its content under another.
_MADE_HERE = ("row", "cluster", OFF_SCALE)
# No file has a column of this name.
_JOINED = "medjury: joined"
_STATUSES = ("scored", "unscored", "not_applicable")


def clean_rows(ratings: object, *, may_be_empty: bool = False) -> polars.DataFrame:
    """Rows of text keys and numeric or missing scores, from a polars frame or from `Rating` objects; every
    other column is kept beside them.

    Text and NaN in the score column become unscored rows (`parse`, `missing`, `out_of_range` for an
    infinity). Duplicate rows are refused: nobody but the user can know which of two scores holds."""
    import polars as pl

    frame = _as_frame(ratings)
    if holds_pairs(frame.columns):
        frame = from_pairs(frame)
    absent = [name for name in REQUIRED if name not in frame.columns]
    if absent:
        preferred = "; for judgements of pairs, preferred is missing"
        raise MedjuryError(
            f"the ratings lack the column{'s' if len(absent) > 1 else ''} {', '.join(absent)}; they have "
            f"{', '.join(frame.columns)}{preferred if {'first', 'second'} <= {*frame.columns} else ''}. Rename the "
            "columns, or describe them in a mapping file."
        )
    if not frame.height and not may_be_empty:
        raise MedjuryError("there are no ratings: the table has no rows.")
    earlier = [name for name in _MADE_HERE if name in frame.columns and f"own {name}" in frame.columns]
    frame = frame.drop(earlier).rename(
        {name: f"own {name}" for name in _MADE_HERE if name in frame.columns and name not in earlier}
    )
    frame = frame.with_row_index("row", offset=1)
    missing = [pl.lit(None, dtype=pl.String).alias(name) for name in _OPTIONAL if name not in frame.columns]
    frame = frame.with_columns(*missing)
    for name in ("item", "rater", "dimension", *_OPTIONAL):
        try:
            frame = frame.with_columns(pl.col(name).cast(pl.String))
        except pl.exceptions.PolarsError:
            kind = frame[name].dtype
            raise MedjuryError(f"the column {name} holds {kind}, which is not a name or text.") from None
    frame = frame.with_columns(
        pl.col("system").fill_null(""),
        # A cell of nothing but spaces names nobody: all such rows as one patient would be one cluster.
        *(_text_of(name).alias(name) for name in ("patient", "content_hash")),
        _text_of("rater_kind").str.to_lowercase().alias("rater_kind"),
    )
    for name in ("item", "rater", "dimension"):
        empty = frame["row"].filter(frame[name].is_null() | (frame[name].str.strip_chars() == ""))
        if len(empty):
            raise MedjuryError(f"{len(empty)} ratings have no {name}, first in row {empty[0]}; fill it in.")
    frame = _probabilities(with_pairs(_scores(_repeats(frame))))
    refuse_duplicates(frame)
    return with_clusters(_misaligned(frame))


def _text_of(name: str) -> polars.Expr:
    import polars as pl

    text = pl.col(name).str.strip_chars()
    return pl.when(text != "").then(text)


def _as_frame(ratings: object) -> polars.DataFrame:
    if (frame := as_polars(ratings)) is not None:
        return frame
    if isinstance(ratings, Iterable):
        rows = list(ratings)
        if all(isinstance(row, Rating) for row in rows):
            return rating_frame(rows)
    raise MedjuryError(f"ratings are {FORMS} or of Rating objects, not {type(ratings).__name__}.")


def _repeats(frame: polars.DataFrame) -> polars.DataFrame:
    import polars as pl

    if "repeat" not in frame.columns:
        return frame.with_columns(pl.lit(0, dtype=pl.Int64).alias("repeat"))
    try:
        numbers = frame.with_columns(pl.col("repeat").cast(pl.Int64, strict=False).alias("repeat"))
    except pl.exceptions.PolarsError:
        kind = frame["repeat"].dtype
        raise MedjuryError(f"the column repeat holds {kind}, not whole numbers.") from None
    lost = frame.filter(numbers["repeat"].is_null() & frame["repeat"].is_not_null())
    if lost.height:
        raise MedjuryError(f"row {lost['row'][0]}: the repeat {lost['repeat'][0]!r} is not a whole number.")
    return numbers.with_columns(pl.col("repeat").fill_null(0))


_NOTHING = ("", "na", "n/a", "null", "none")


def _scores(frame: polars.DataFrame) -> polars.DataFrame:
    import polars as pl

    raw = frame["score"]
    if raw.dtype == pl.Boolean:
        raw = raw.cast(pl.Int8)
    if raw.dtype == pl.String:
        frame, raw = _marks_in_words(frame, raw.str.strip_chars())
        numbers = raw.cast(pl.Float64, strict=False)
        words = (raw.is_not_null() & numbers.is_null()) & ~raw.str.to_lowercase().is_in(_NOTHING)
    elif raw.dtype.is_numeric() or raw.dtype == pl.Null:
        numbers = raw.cast(pl.Float64)
        words = pl.Series([False] * len(raw), dtype=pl.Boolean)
    else:
        raise MedjuryError(f"the score column holds {raw.dtype}, not numbers.")
    nan, infinite = numbers.is_nan().fill_null(value=False), numbers.is_infinite().fill_null(value=False)
    status = frame["status"].str.strip_chars().str.to_lowercase()
    odd = frame.filter(status.is_not_null() & ~status.is_in([*_STATUSES, ""]))
    if odd.height:
        raise MedjuryError(
            f"row {odd['row'][0]}: the status {odd['status'][0]!r} is unknown; use {', '.join(_STATUSES)}."
        )
    usable = numbers.is_not_null() & ~nan & ~infinite
    stated = status.is_in(["unscored", "not_applicable"]).fill_null(value=False)
    both = frame.filter(stated & usable)
    if both.height:
        raise MedjuryError(
            f"row {both['row'][0]}: the status is {both['status'][0]!r} but there is a score; "
            "an unscored rating has none. Clear the score or correct the status."
        )
    return frame.with_columns(
        pl.when(usable).then(numbers).alias("score"),
        pl.when(stated)
        .then(status)
        .when(usable)
        .then(pl.lit("scored"))
        .otherwise(pl.lit("unscored"))
        .alias("status"),
        pl.when(stated)
        .then(pl.col("reason"))
        .when(usable)
        .then(None)
        .when(words)
        .then(pl.lit("parse"))
        .when(infinite)
        .then(pl.lit("out_of_range"))
        .otherwise(pl.lit("missing"))
        .alias("reason"),
    )


_SKIPS = sorted(NOT_APPLICABLE_WORDS - {*_NOTHING})
_MARKS = {word: f"{mark:g}" for word, mark in MET_WORDS.items()} | dict.fromkeys(_SKIPS)


def _marks_in_words(frame: polars.DataFrame, raw: polars.Series) -> tuple[polars.DataFrame, polars.Series]:
    """Marks of criteria as people write them, each by itself where the table states points. Elsewhere one other
    word or number in the column, and they stay words: that somebody wrote "not applicable" among grades is no
    mark, but an answer without a score."""
    import polars as pl

    words = raw.str.to_lowercase()
    plain = {"met", "not met", "not applicable"}
    alone = set(words.drop_nulls()) <= {*plain, *_NOTHING} and not {"met", "not met"}.isdisjoint(words)
    if "points" not in frame.columns and not alone:
        return frame, raw
    no_mark = words.is_in(_SKIPS) & frame["status"].is_null()
    status = pl.when(no_mark).then(pl.lit("not_applicable")).otherwise(pl.col("status")).alias("status")
    return frame.with_columns(status), words.replace(_MARKS)


def _probabilities(frame: polars.DataFrame) -> polars.DataFrame:
    """The column `probability` as numbers above 0 and at most 1; missing where everyone was asked."""
    import polars as pl

    raw = frame[PROBABILITY] if PROBABILITY in frame.columns else None
    if raw is None or raw.null_count() == len(raw):  # as nearly always: nobody drew
        return frame.with_columns(pl.lit(None, dtype=pl.Float64).alias(PROBABILITY))
    given = raw.cast(pl.String).str.strip_chars()
    numbers = given.cast(pl.Float64, strict=False)
    odd = frame.filter(
        given.fill_null("") != "",
        ~((numbers > 0.0) & (numbers <= 1.0)).fill_null(value=False),
    )
    if odd.height:
        raise MedjuryError(
            f"row {odd['row'][0]}: the probability {odd[PROBABILITY][0]!r} is not above 0 and at most 1; it is "
            "that with which the answer was drawn for the rater. Correct it, or give the column another name."
        )
    frame = frame.with_columns(numbers.alias(PROBABILITY))
    # It is that of the answer for this rater: dimensions that say nothing of it have the one of the others.
    whose = ["item", "system", "rater"]
    own = pl.col(PROBABILITY)
    two = frame.filter((own.min().over(whose) != own.max().over(whose)).fill_null(value=False))
    if two.height:
        item, system, rater = two.select(whose).row(0)
        raise MedjuryError(
            f"row {two['row'][0]}: {rater!r} has two probabilities for item {item!r}"
            f"{f' of system {system!r}' if system else ''}; an answer is drawn for a rater once. Correct "
            "one of them."
        )
    return frame.with_columns(own.min().over(whose))


def refuse_duplicates(frame: polars.DataFrame) -> None:
    import polars as pl

    key = ["item", "system", "rater", "dimension", "repeat"]
    if frame.select(key).hash_rows().n_unique() == frame.height:  # two rows that are the same have one hash
        return
    twice = (
        frame.group_by(key)
        .agg(pl.col("row"))
        .filter(pl.col("row").list.len() > 1)
        .sort(pl.col("row").list[0])
    )
    if not twice.height:
        return
    item, system, rater, dimension, repeat, rows = twice.row(0)
    of = f" of system {system!r}" if system else ""
    raise MedjuryError(
        f"{twice.height} ratings appear more than once: {rater!r} rated item {item!r}{of} on "
        f"{dimension!r} (repeat {repeat}) in rows {', '.join(map(str, rows[:5]))}. Remove the copies, or "
        "number real repeats in a column `repeat`."
    )


def _misaligned(frame: polars.DataFrame) -> polars.DataFrame:
    """Raters who name different contents under one id cannot be compared there: those scores are unscored."""
    import polars as pl

    if frame["content_hash"].null_count() == frame.height:  # as in every run: nobody names contents
        return frame
    key = ["item", "system"]
    contents = frame.group_by(key).agg(pl.col("content_hash").drop_nulls().n_unique().alias("contents"))
    odd = contents.filter(pl.col("contents") > 1).select(*key, pl.lit(value=True).alias(_JOINED))
    if not odd.height:
        return frame
    hit = pl.col(_JOINED).fill_null(value=False)
    return (
        frame.join(odd, on=key, how="left", maintain_order="left")
        .with_columns(
            pl.when(hit).then(None).otherwise(pl.col("score")).alias("score"),
            pl.when(hit).then(pl.lit("unscored")).otherwise(pl.col("status")).alias("status"),
            pl.when(hit).then(pl.lit(MISALIGNED)).otherwise(pl.col("reason")).alias("reason"),
        )
        .drop(_JOINED)
    )


def with_clusters(frame: polars.DataFrame) -> polars.DataFrame:
    """The cluster is the patient where one is named, else the item; an item has one patient at most. Items with the
    same content are one cluster, whatever their ids."""
    import polars as pl

    if frame["patient"].null_count() == frame.height:
        return _same_contents(frame.with_columns(("item " + pl.col("item")).alias("cluster")))
    patients = frame.group_by("item").agg(pl.col("patient").drop_nulls().unique().sort())
    two = patients.filter(pl.col("patient").list.len() > 1).sort("item")
    if two.height:
        raise MedjuryError(
            f"item {two['item'][0]!r} has {two['patient'].list.len()[0]} patients: "
            f"{', '.join(two['patient'][0].to_list()[:3])}. An item belongs to one patient."
        )
    one = patients.select("item", pl.col("patient").list.first().alias(_JOINED))
    # A prefix keeps a patient called 7 apart from an item called 7.
    named = (
        pl.when(pl.col(_JOINED).is_null())
        .then("item " + pl.col("item"))
        .otherwise("patient " + pl.col(_JOINED))
    )
    joined = frame.join(one, on="item", how="left", maintain_order="left")
    return _same_contents(joined.with_columns(named.alias("cluster")).drop(_JOINED))


def _same_contents(frame: polars.DataFrame) -> polars.DataFrame:
    """Clusters that share a content become the first of them."""
    import polars as pl

    pairs = frame.select("cluster", "content_hash").drop_nulls().unique(maintain_order=True)
    if pairs["cluster"].n_unique() < 2 or pairs["content_hash"].n_unique() == pairs.height:
        return frame
    first: dict[str, str] = {}  # of each content
    leader: dict[str, str] = {}

    def lead(name: str) -> str:
        while leader.get(name, name) != name:
            name = leader[name]
        return name

    for cluster, content in pairs.iter_rows():
        leader[lead(cluster)] = lead(first.setdefault(content, cluster))
    moved = {name: lead(name) for name in leader if lead(name) != name}
    return frame.with_columns(pl.col("cluster").replace(moved)) if moved else frame


# Scores against their scale: one that lies off it is no score, and most of them off it is a wrong scale.


def on_scale(
    rows: polars.DataFrame, dimensions: Sequence[Measured]
) -> tuple[polars.DataFrame, tuple[str, ...]]:
    """The rows with scores off the scale as unscored (`out_of_range`), and a warning for each dimension that has
    any. A text metric's numbers are on a scale of their own. What lay off an earlier scale is read anew."""
    import polars as pl

    if OFF_SCALE in rows.columns:
        off_before = pl.col(OFF_SCALE).is_not_null()
        rows = rows.with_columns(
            pl.when(off_before).then(pl.col(OFF_SCALE)).otherwise(pl.col("score")).alias("score"),
            pl.when(off_before).then(pl.lit("scored")).otherwise(pl.col("status")).alias("status"),
            pl.when(off_before).then(None).otherwise(pl.col("reason")).alias("reason"),
        )
    warnings = []
    off = pl.lit(value=False)
    rated = rows.filter(pl.col("rater_kind").ne_missing("metric"), pl.col("score").is_not_null())
    for each in dimensions:
        if each.grades is None:
            continue
        lowest, highest, source = each.grades.lowest, each.grades.highest, each.grades.source
        own = rated.filter(pl.col("dimension") == each.name)
        scores = own["score"].to_numpy()
        off_scale = ~each.grades.holds(scores)
        outside = int(off_scale.sum())
        if 2 * outside > len(scores):
            raise MedjuryError(
                f"dimension {each.name!r}: {outside} of {len(scores)} scores lie off the scale {lowest:g} to "
                f"{highest:g} ({source}); the scale is probably wrong. "
                f"Scores run from {scores.min():g} to {scores.max():g}."
            )
        if outside:
            warnings.append(
                f"dimension {each.name!r}: {outside} scores lie off the scale {lowest:g} to {highest:g} and "
                f"count as unscored (out_of_range): {whose(own.filter(off_scale)['rater'].to_list())}"
            )
            far = ~pl.col("score").is_between(lowest - 1e-9, highest + 1e-9)
            off = off | ((pl.col("dimension") == each.name) & pl.col("rater_kind").ne_missing("metric") & far)
    off = off.fill_null(value=False)
    changed = rows.with_columns(
        pl.when(off).then(pl.col("score")).alias(OFF_SCALE),
        pl.when(off).then(None).otherwise(pl.col("score")).alias("score"),
        pl.when(off).then(pl.lit("unscored")).otherwise(pl.col("status")).alias("status"),
        pl.when(off).then(pl.lit("out_of_range")).otherwise(pl.col("reason")).alias("reason"),
    )
    return changed, (*warnings, *_misaligned_warning(rows))


def whose(raters: Sequence[str]) -> str:
    """Who gave these scores, those with the most first."""
    counts = Counter(raters).most_common()
    if len(counts) == 1:
        return f"{'all ' if len(raters) > 1 else ''}given by {counts[0][0]}"
    shown = ", ".join(f"{count} by {name}" for name, count in counts[:4])
    return f"{shown}, {sum(count for _, count in counts[4:])} by others" if counts[4:] else shown


def check_scale(scale: GradesArgument, rows: polars.DataFrame) -> None:
    """Refuse a scale for a dimension that the rows do not have."""
    if isinstance(scale, Mapping):
        known = rows["dimension"].unique().sort().to_list()
        for name in scale:
            if name not in known:
                raise MedjuryError(
                    f"a scale is given for {name!r}, which is not a dimension; {nearest(name, known)}"
                )


def _misaligned_warning(rows: polars.DataFrame) -> tuple[str, ...]:
    import polars as pl

    odd = rows.filter(pl.col("reason") == MISALIGNED).select("item", "system").unique(maintain_order=True)
    if not odd.height:
        return ()
    shown = ", ".join(f"{item} {system}".strip() for item, system in odd.head(5).iter_rows())
    return (
        f"{odd.height} ids name different contents in different rows (first: {shown}); "
        "their scores count as unscored (misaligned)",
    )
