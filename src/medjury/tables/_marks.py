"""Marks of criteria in a rating table: the unit is a criterion of a case, the cluster stays the case or the
patient.

Every case has criteria of its own, so that a mark's own dimension is met in one case only. For an analysis the
marks of all criteria are one dimension, `criterion`, and those of criteria with negative points another,
`harm`, on which "met" is the danger. What an answer is worth is derived, as `criteria`: see
`medjury.analysis.ranking.criteria_scores`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument, load_instrument
from medjury.intake.cases import Criterion, criteria_of, id_of, ids_by_name
from medjury.tables._clean import refuse_duplicates

if TYPE_CHECKING:
    import polars

CASE, CRITERION, POINTS = "case", "criterion", "points"
MET, HARM, TOTAL = "criterion", "harm", "criteria"
_BETWEEN = " › "  # in the name of a unit, between the case and the criterion
_JOINED = "medjury: joined"
_SAME = 1e-9
_SPENT = ("calls", "tokens_in", "tokens_out", "seconds", "cost")
Criteria = Mapping[str, tuple[Criterion, ...]]  # by case


def by_case_instrument(rows: polars.DataFrame, known: Instrument | None) -> Instrument | None:
    """The instrument by which the rows are marks, where they are."""
    if known is not None:
        return known if known.by_case else None
    named = {str(name).partition("@")[0] for name in rows["instrument"].drop_nulls().unique().to_list()}
    return load_instrument(TOTAL) if TOTAL in named or _stated(rows) else None


def with_marks(rows: polars.DataFrame, criteria: Criteria) -> tuple[polars.DataFrame, Criteria]:
    """Clean rows with every mark under its pooled dimension, and the totals that follow from them; and the criteria
    of all cases, which the rows may name themselves (`points`, `tags`). Where nobody knows the points, no total
    follows, and every mark counts as that of a criterion without harm."""
    import polars as pl

    known = {**_named_by(rows), **criteria}
    if POINTS in rows.columns:
        rows = rows.drop(POINTS)
    rows = _with_ids(rows, known)
    points = pl.DataFrame(
        [(case, each.id, each.points) for case, own in known.items() for each in own],
        schema={"item": pl.String, "dimension": pl.String, POINTS: pl.Float64},
        orient="row",
    )
    _refuse_strangers(rows, known)
    mark = ~pl.col("dimension").is_in([MET, HARM, TOTAL])
    worth = pl.col(POINTS)
    made = rows.join(points, on=["item", "dimension"], how="left", maintain_order="left").with_columns(
        pl.col("item").alias(CASE), pl.when(mark).then("dimension").alias(CRITERION)
    )
    pooled = made.with_columns(
        pl.when(mark).then(pl.col("item") + _BETWEEN + pl.col("dimension")).otherwise("item").alias("item"),
        pl.when(mark & (worth < 0)).then(pl.lit(HARM)).when(mark).then(pl.lit(MET)).otherwise("dimension").alias(
            "dimension"
        ),
    )  # fmt: skip
    named = pooled.filter(pl.col(CRITERION).is_not_null()).select("item", CASE, CRITERION).unique()
    if (alike := named.filter(pl.col("item").is_duplicated())["item"].sort()).len():
        raise MedjuryError(f"two criteria of two cases are both called {alike[0]!r} here; rename one of them")
    totals = _totals(pooled, known)
    twice = pooled.filter(dimension=TOTAL).join(totals, on=[CASE, "system", "rater", "repeat"], how="semi")
    if twice.height:
        row, case, rater = twice.select("row", CASE, "rater").row(0)
        raise MedjuryError(
            f"row {row}: {rater!r} has a score {TOTAL!r} on {case!r} beside the marks that it follows from; take "
            "the row out"
        )
    return pl.concat([pooled, totals]), known


def without_marks(rows: polars.DataFrame) -> polars.DataFrame:
    """The rows as they were before `with_marks`, without points."""
    import polars as pl

    if CASE not in rows.columns:
        return rows
    own = rows.filter(pl.col(CRITERION).is_not_null() | (pl.col("dimension") != TOTAL))
    return own.with_columns(
        pl.col(CASE).alias("item"), pl.coalesce(CRITERION, "dimension").alias("dimension")
    ).drop(CASE, CRITERION, POINTS)


def case_column(rows: polars.DataFrame) -> str:
    """The column that names the case: not the item, where an item is a criterion of one."""
    return CASE if CASE in rows.columns else "item"


def of_cases(rows: polars.DataFrame) -> polars.DataFrame:
    """The rows under their cases, of which a mark of a criterion is not one."""
    return rows.with_columns(rows[case_column(rows)].alias("item"))


def _totals(pooled: polars.DataFrame, criteria: Criteria) -> polars.DataFrame:
    """A row for each rater's marks of an answer: points met over positive points. What does not apply counts on
    neither side; one mark that is missing leaves no score, and an answer without positive points has none."""
    import polars as pl

    key = [CASE, "system", "rater", "repeat"]
    worth, applies = pl.col(POINTS), pl.col("status") != "not_applicable"
    # A number beside the two grades is no mark; it is taken out only where all scores meet their scales.
    given = pl.col("score").is_between(-_SAME, 1 + _SAME).fill_null(value=False)
    expected, good = (
        pl.col(CASE).replace_strict(counts, default=0, return_dtype=pl.Int64)
        for counts in (
            {case: len(own) for case, own in criteria.items()},
            {case: sum(each.points > 0 for each in own) for case, own in criteria.items()},
        )
    )
    marks = pooled.filter(pl.col(CRITERION).is_not_null())
    sums = marks.group_by(key, maintain_order=True).agg(
        pl.all().first(),
        worth.is_null().any().alias("unknown"),
        (worth * pl.col("score")).filter(given).sum().alias("met"),
        worth.filter(applies & (worth > 0)).sum().alias("positive"),
        (worth > 0).sum().alias("good"),
        (applies & ~given).sum().alias("unscored"),
        pl.len().alias("marked"),
    )
    missing = (pl.col("unscored") > 0) | (pl.col("marked") < expected)
    # What has no row may apply, and have positive points.
    none = (pl.col("positive") <= 0) & (pl.col("good") >= good)
    spent = [name for name in _SPENT if name in pooled.columns]
    return (
        sums.filter(~pl.col("unknown"))
        .with_columns(
            pl.col(CASE).alias("item"),
            pl.lit(TOTAL).alias("dimension"),
            pl.when(none | missing).then(None).otherwise(pl.col("met") / pl.col("positive")).alias("score"),
            pl.when(none).then(pl.lit("not_applicable")).when(missing).then(pl.lit("unscored")).otherwise(
                pl.lit("scored")
            ).alias("status"),
            pl.when(missing & ~none).then(pl.lit("missing")).alias("reason"),
            pl.lit(None, dtype=pl.String).alias(CRITERION),
            pl.lit(None, dtype=pl.Float64).alias(POINTS),
            *(pl.col(name) * 0 for name in spent),  # the marks have it already
        )
        .select(pooled.columns)
    )  # fmt: skip


def _stated(rows: polars.DataFrame) -> bool:
    """Whether the rows state the points of their criteria themselves."""
    return POINTS in rows.columns and rows[POINTS].null_count() < rows.height


def _named_by(rows: polars.DataFrame) -> Criteria:
    """The criteria that the rows state themselves."""
    if not _stated(rows):
        return {}
    names = [name for name in ("text", "tags") if name in rows.columns]
    stated: dict[str, dict[str, dict[str, object]]] = {}
    for row in rows.select("row", "item", "dimension", POINTS, *names).iter_rows(named=True):
        if row[POINTS] is None:
            continue
        if row["dimension"] in (MET, HARM, TOTAL):
            raise MedjuryError(
                f"row {row['row']}: a criterion with points is called {row['dimension']!r}, as scores over several "
                "criteria are; give the criterion another name"
            )
        own = {"id": row["dimension"], "text": row.get("text") or row["dimension"]}
        own |= {"points": row[POINTS], "tags": row.get("tags")}
        if stated.setdefault(row["item"], {}).setdefault(row["dimension"], own) != own:
            raise MedjuryError(
                f"row {row['row']}: the criterion {row['dimension']!r} of {row['item']!r} has other points, tags "
                "or words than in an earlier row; a criterion has one of each"
            )
    return {item: criteria_of(list(own.values())) for item, own in stated.items()}


def _with_ids(rows: polars.DataFrame, criteria: Criteria) -> polars.DataFrame:
    """The rows of criteria that are named by their words, under the ids of these criteria."""
    import polars as pl

    ids = {case: ids_by_name(own) for case, own in criteria.items()}
    named = [
        (case, name, found)
        for case, name in rows.select("item", "dimension").unique().iter_rows()
        if case in ids and (found := id_of(ids[case], name)) is not None
    ]
    if not named:
        return rows
    known = pl.DataFrame(named, schema=["item", "dimension", _JOINED], orient="row")
    joined = rows.join(known, on=["item", "dimension"], how="left", maintain_order="left")
    joined = joined.with_columns(pl.coalesce(_JOINED, "dimension").alias("dimension")).drop(_JOINED)
    refuse_duplicates(joined)  # a criterion may be named by its id in one row and by its words in another
    return joined


def _refuse_strangers(rows: polars.DataFrame, criteria: Criteria) -> None:
    """A mark of a criterion that its case does not have would be left out of the score."""
    ids = {case: {each.id for each in own} for case, own in criteria.items()}
    for item, dimension in rows.select("item", "dimension").unique(maintain_order=True).iter_rows():
        if item in ids and dimension not in ids[item] and dimension not in (MET, HARM, TOTAL):
            raise MedjuryError(
                f"{dimension!r} is not a criterion of case {item!r}, or the words of two; it has "
                f"{', '.join(sorted(ids[item])[:5])}"
            )
