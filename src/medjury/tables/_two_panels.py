"""Two tables, clinicians' and judges' scores of the same answers, as one rating table: no run is needed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument
from medjury.store.runs import GateRules, Protocol
from medjury.tables._clean import OFF_SCALE
from medjury.tables._dimensions import GradesArgument
from medjury.tables._jury import JuryName
from medjury.tables._open import rating_table, with_rules
from medjury.tables._panel import KEYS, KINDS, Meaning, Panel, melted, open_panel
from medjury.tables._panel_doubts import (
    MATCHED,
    id_doubt,
    no_case,
    reversed_doubt,
    scale_doubt,
    with_paired_dimensions,
)
from medjury.tables._rating_table import RatingTable

if TYPE_CHECKING:
    import polars

DIMENSION = "score"
IN_DOUBT = "in doubt: "
_UNIT = ["item", "system", "dimension"]
# Names that people give to raters; in both tables they say nothing of what the columns are.
_A_RATER = re.compile(
    r"(rater|annotator|reviewer|expert|doctor|dr|clinician|physician|human|judge|juror|model|llm)s?[ ._-]?\w{0,3}",
    re.I,
)


class UnclearColumnsError(MedjuryError):
    """Nobody can tell whether the columns of a wide table are raters or dimensions."""

    def __init__(self, panel: Panel) -> None:
        self.side = "humans" if panel.role == "clinician" else "judges"
        self.title, self.columns = panel.title, panel.scores
        super().__init__(
            f"{panel.title}: are the columns {', '.join(panel.scores)} raters or dimensions? The tables do not "
            "tell. Say --columns raters or --columns dimensions, and name the score columns with --scores where "
            "some are not."
        )


def two_panels(
    humans: object,
    judges: object,
    *,
    item: str | None = None,
    system: str | None = None,
    patient: str | None = None,
    scores: Sequence[str] | None = None,
    columns: Meaning | None = None,
    dimension: str | None = None,
    scale: GradesArgument = None,
    instrument: Instrument | str | None = None,
    jury: JuryName | None = None,
    rules: GateRules | None = None,
    protocol: Protocol | None = None,
) -> RatingTable:
    """The rating table of two files, or frames, long (item, rater, dimension, score) or wide (a column for each
    rater, or for each dimension), each as it comes. `notes` says how every column was read, and what is on one
    side only.

    `columns` says what the columns of wide tables are. Where it is not given: dimensions, where both tables have
    the same columns or a column names the rater; raters, where the tables share none. Anything between is refused.
    An answer that clinicians rated and a judge's table does not have counts as one that this judge did not score.
    Ids and scales that the tables seem to write differently are reported in `notes`, and taken as they are.
    """
    sides = read_panels(
        humans, judges, item=item, system=system, patient=patient, scores=scores, columns=columns,
        dimension=dimension,
    )  # fmt: skip
    found = table_of(sides, scale=scale, instrument=instrument, jury=jury, rules=rules, protocol=protocol)
    return replace(found, notes=(*_in_doubt(sides, found), *found.notes))


def _in_doubt(sides: Sequence[Panel], table: RatingTable) -> list[str]:
    """What the command line would ask before anything is compared: here nobody can answer, so it is reported."""
    grades = {each.name: each.grades for each in table.counted}

    def known(dimension: str) -> tuple[float, float] | None:
        found = grades.get(dimension)
        return None if found is None else (found.lowest, found.highest)

    doubts = [id_doubt(sides, name) for name in MATCHED if name != "dimension"]
    doubts += [scale_doubt(sides, known, {}), reversed_doubt(sides, known, None, None)]
    return [f"{IN_DOUBT}{each.question}" for each in doubts if each is not None]


def read_panels(
    humans: object,
    judges: object,
    *,
    item: str | None = None,
    system: str | None = None,
    patient: str | None = None,
    scores: Sequence[str] | None = None,
    columns: Meaning | None = None,
    dimension: str | None = None,
    mappings: Sequence[Mapping[str, Any]] = ({}, {}),
    pairs: Mapping[str, str] | None = None,
) -> list[Panel]:
    """Both tables as long ones, each by its mapping where it has one; nothing of them is compared yet. Names of
    dimensions that differ in capitals and signs alone are one name; `pairs` are others, the judges' first."""
    named = {ours: theirs for ours, theirs in zip(KEYS, (item, system, patient), strict=True) if theirs}
    sides = [open_panel(humans, "clinician", named=named, scores=scores, mapping=mappings[0])]
    sides.append(open_panel(judges, "judge", named=named, scores=scores, mapping=mappings[1]))
    _check_keys(sides, named)
    known = _dimensions(sides)
    name = dimension or (known[0] if len(known) == 1 else DIMENSION)
    meanings = [_meaning(each, sides[1 - place], columns, known) for place, each in enumerate(sides)]
    found = [
        _whole(melted(each, meaning, name) if meaning else each, name)
        for each, meaning in zip(sides, meanings, strict=True)
    ]
    return with_paired_dimensions(found, pairs)


def table_of(
    sides: Sequence[Panel],
    *,
    scale: GradesArgument = None,
    instrument: Instrument | str | None = None,
    jury: JuryName | None = None,
    rules: GateRules | None = None,
    protocol: Protocol | None = None,
) -> RatingTable:
    """The rating table of two panels."""
    _check_names(sides)
    frame, notes = _joined(sides)
    found = rating_table(frame, scale=scale, instrument=instrument, jury=jury)
    _check_raters(found)
    reported = (*(each for side in sides for each in side.reported), *notes, *_assumed(found))
    found = replace(
        found,
        notes=reported,
        run=replace(found.run, protocol=protocol, name=" and ".join(each.file for each in sides)),
    )
    return found if rules is None else with_rules(found, rules)


def _check_keys(sides: Sequence[Panel], named: dict[str, str]) -> None:
    for ours in ("system", "patient"):
        there = [each for each in sides if each.has(ours)]
        if ours in named and not there:
            raise MedjuryError(f"neither table has the column {named[ours]!r} (--{ours})")
        if ours == "system" and len(there) == 1:
            lacking = next(each for each in sides if each not in there)
            raise MedjuryError(
                f"{there[0].title} says which system wrote each answer and {lacking.title} does not, so nobody "
                "knows which scores belong together; add the column there (or name it with --system COLUMN)"
            )


def _check_names(sides: Sequence[Panel]) -> None:
    mine, theirs = (set(each.frame["rater"].drop_nulls().to_list()) for each in sides)
    if both := sorted(mine & theirs):
        raise MedjuryError(
            f"the rater {both[0]!r} is in both tables, and a rater cannot be its own yardstick; where these are "
            "two raters, give them two names, and where the columns are dimensions, say --columns dimensions"
        )


def _dimensions(sides: Sequence[Panel]) -> list[str]:
    """The dimensions that are named: in a column, or as columns beside one that names the rater."""
    found: dict[str, None] = {}
    for each in sides:
        if each.scores and (each.has("rater") or each.meaning == "dimensions"):
            found |= dict.fromkeys(each.scores)
        if each.has("dimension"):
            found |= dict.fromkeys(each.frame["dimension"].cast(str).drop_nulls().unique(maintain_order=True))
    return [str(name) for name in found]


def _meaning(panel: Panel, other: Panel, asked: Meaning | None, known: Sequence[str]) -> Meaning | None:
    """What the columns of a wide table are; None for a long one."""
    if not panel.scores:
        return None
    by_column: Meaning | None = (
        "dimensions" if panel.has("rater") else "raters" if panel.has("dimension") else None
    )
    if asked is not None and by_column is not None and asked != by_column:
        raise MedjuryError(
            f"{panel.title}: the table has a column {'rater' if asked == 'raters' else 'dimension'}, so its other "
            f"columns cannot be {asked}"
        )
    if by_column or panel.meaning or asked:
        return by_column or panel.meaning or asked
    if known:
        if _plain(panel.scores) & _plain(known):
            return "dimensions"  # no rater is called as what is graded
        if len(known) == 1 and not set(panel.scores) & set(known):
            return "raters"
    else:
        mine, theirs = _plain(panel.scores), _plain(other.scores)
        if mine == theirs and (len(mine) == 1 or not any(_A_RATER.fullmatch(name) for name in mine)):
            return "dimensions"
        if not mine & theirs:
            return "raters"
    raise UnclearColumnsError(panel)


def _plain(names: Sequence[str]) -> set[str]:
    return {no_case(name) for name in names}


def _whole(panel: Panel, dimension: str) -> Panel:
    """The rows with rater, dimension and kind; who is not named is the clinician, or the judge."""
    import polars as pl

    frame, words = panel.frame, []
    if not panel.has("rater"):
        frame = frame.with_columns(rater=pl.lit(panel.role))
        words.append(f"no column names the rater: all scores are those of one {panel.role}")
    if not panel.has("dimension"):
        frame = frame.with_columns(dimension=pl.lit(dimension))
        words.append(f"no column names the dimension: it is called {dimension!r}")
    kind = pl.lit(panel.role)
    if "rater_kind" in frame.columns:
        stated = pl.col("rater_kind").cast(pl.String).str.strip_chars().str.to_lowercase()
        kind = pl.when(stated.is_in(KINDS[panel.role])).then(stated).otherwise(pl.lit(panel.role))
    score = pl.col("score").cast(pl.String).str.strip_chars()
    numbers = score.cast(pl.Float64, strict=False)
    lost = ~numbers.is_finite().fill_null(value=False)
    if "status" in frame.columns:  # what does not apply is no score that is missing
        lost &= pl.col("status").cast(pl.String).fill_null("") != "not_applicable"
    unread = frame.filter(lost).height
    if unread:
        words.append(
            f"{unread:,} of {frame.height:,} scores are empty or not a number: they count as unscored"
        )
    text = [name for name in (*KEYS, "rater", "dimension", "status", "reason") if name in frame.columns]
    frame = frame.with_columns(
        kind.alias("rater_kind"), score, *(pl.col(name).cast(pl.String) for name in text)
    )
    for name in ("item", "rater", "dimension"):
        empty = (frame[name].fill_null("").str.strip_chars() == "").arg_true()
        if len(empty):
            raise MedjuryError(
                f"{panel.title}: {len(empty):,} scores have no {name}, first the one numbered {empty[0] + 1:,}; "
                "fill it in"
            )
    raters = ", ".join(frame["rater"].drop_nulls().unique(maintain_order=True).to_list()[:12])
    return replace(panel, frame=frame).saying(*words, f"{frame.height:,} ratings by {raters}")


def _joined(sides: Sequence[Panel]) -> tuple[polars.DataFrame, list[str]]:
    """Both sides as one table, every answer that clinicians rated in it for every judge."""
    import polars as pl

    humans, judges = (
        side.frame if "system" in side.frame.columns else side.frame.with_columns(system=pl.lit(""))
        for side in sides
    )
    humans, judges = (each.with_columns(pl.col("system").fill_null("")) for each in (humans, judges))
    rated, scored = humans.select(_UNIT).unique(), judges.select(_UNIT).unique()
    both = rated.join(scored, on=_UNIT, how="semi").height
    if not both:
        meet = set(rated["item"]) & set(scored["item"])
        ids = "" if meet else " No id is in both, even where case, signs and leading zeros do not count."
        raise MedjuryError(
            "no answer is in both tables, so nothing can be compared: are items, systems and dimensions "
            f"written alike? {_first(sides[0].title, rated)}; {_first(sides[1].title, scored)}.{ids} Say which "
            "columns name the case (--map humans.item=COLUMN --map judges.item=COLUMN), or which dimension is "
            "which (--map match.dimensions.THEIRS=OURS)."
        )
    notes = [f"answers, counted for each dimension: {both:,} are in both tables"]
    absent = _absent(rated, judges)
    alone = rated.join(scored, on=_UNIT, how="anti").height
    if absent.height:
        notes.append(
            f"{absent.height:,} scores of judges are not in the table, for answers that clinicians rated: they "
            f"count as unscored ({alone:,} of these answers have no judge's score at all)"
        )
    if more := scored.join(rated, on=_UNIT, how="anti").height:
        notes.append(f"{more:,} only the judges scored: nothing to compare them with")
    whole = pl.concat([humans, judges, absent], how="diagonal_relaxed")
    return whole.with_columns(_nothing(whole)), notes


def _nothing(frame: polars.DataFrame) -> list[polars.Expr]:
    """What a run records of its ratings and a table of scores does not have: it is there, and empty."""
    import polars as pl

    kinds = {"explanation": pl.String, "created_at": pl.String, "key": pl.String, "seconds": pl.Float64,
             "cost": pl.Float64, "tokens_in": pl.Int64, "tokens_out": pl.Int64, "calls": pl.Int64}  # fmt: skip
    return [pl.lit(None, dtype=kind).alias(name) for name, kind in kinds.items() if name not in frame.columns]


def _absent(rated: polars.DataFrame, judges: polars.DataFrame) -> polars.DataFrame:
    import polars as pl

    seats = judges.select("rater", "rater_kind", "dimension").unique(maintain_order=True)
    wanted = rated.join(seats, on="dimension").sort("rater", *_UNIT)
    missing = wanted.join(judges.select("rater", *_UNIT).unique(), on=["rater", *_UNIT], how="anti")
    return missing.with_columns(status=pl.lit("unscored"), reason=pl.lit("missing"))


def _check_raters(table: RatingTable) -> None:
    """Refuse a rater most of whose numbers lie off the scale: it is a column of something else."""
    import polars as pl

    off = pl.col(OFF_SCALE).is_not_null()
    numbers = table.everything.filter(off | pl.col("score").is_not_null())
    counted = numbers.group_by("rater", "dimension").agg(off.sum().alias("off"), pl.len().alias("all"))
    for rater, dimension, outside, count in counted.sort("rater", "dimension").iter_rows():
        if 2 * outside > count:
            raise MedjuryError(
                f"{outside:,} of {count:,} scores of {rater!r} on {dimension!r} lie off the scale. Where this is "
                "not a rater, name the columns that hold scores with --scores C,C2; else correct the scale."
            )


def _first(title: str, units: polars.DataFrame) -> str:
    first = units.sort(_UNIT).row(0)
    return f"{title} begins with {', '.join(repr(each) for each in first if each)}"


def _assumed(table: RatingTable) -> list[str]:
    unscaled = [each.name for each in table.counted if each.grades is None]
    words = []
    if unscaled:
        words.append(
            f"no scale is known for {', '.join(unscaled)}: no kappa and no severe errors; say --scale LOW HIGH"
        )
    if table.instrument is None:
        words.append("higher scores are taken as better; an --instrument may say otherwise")
    return words
