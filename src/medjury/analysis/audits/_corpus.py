"""The corpus: how many answers, of what kind and how long, group by group, and whether the groups differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from medjury.foundation.errors import MedjuryError
from medjury.statistics import Floats, Printable, Result, Row, p_value, percent, shown
from medjury.tables import CASE_PARTS, RatingTable, of_cases, rating_table

if TYPE_CHECKING:
    import polars

HELD_OUT, DEVELOPMENT, ALL = "held out", "development", "all"
ANSWERS = "answers"
LENGTHS = {
    "length": "words of the answer",
    "note_length": "words of the notes",
    "tokens_in": "tokens judges read",
}
# More levels are ids or free text, and no groups; more numbers than this are measured, not grouped.
MOST_LEVELS, MOST_NUMBERS = 40, 6
SMALL = 5.0


@dataclass(frozen=True, slots=True)
class CorpusRow(Row):
    """One line of the table in one group: the count and share of a `level`, or median and quartiles of a number
    (then `level` is empty). `p_value` is of "the groups do not differ" in this characteristic, by `test`."""

    characteristic: str
    level: str
    group: str
    n: int
    share: float | None = None
    median: float | None = None
    q1: float | None = None
    q3: float | None = None
    p_value: float | None = None
    test: str = ""

    def cell(self) -> str:
        """As a paper prints it: `14 (35 %)` or `250 (179 to 414)`."""
        if self.median is not None:
            return f"{shown(self.median, 0)} ({shown(self.q1, 0)} to {shown(self.q3, 0)})"
        return f"{self.n:,}" if self.share is None else f"{self.n:,} ({percent(self.share)})"


@dataclass(frozen=True, slots=True)
class Corpus(Result[CorpusRow]):
    """The rows of all groups; `groups` in their order."""

    rows: tuple[CorpusRow, ...]
    groups: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    def shown_rows(self) -> list[dict[str, Printable]]:
        """A line for each characteristic and level, a column for each group."""
        found: dict[tuple[str, str], dict[str, Printable]] = {}
        for row in self.rows:
            start: dict[str, Printable] = {"characteristic": row.characteristic, "level": row.level}
            line = found.setdefault((row.characteristic, row.level), start | dict.fromkeys(self.groups, ""))
            line[row.group] = row.cell()
            line["p"] = "" if row.p_value is None else p_value(row.p_value)
            line["test"] = row.test
        return list(found.values())


def corpus(table: object, features: polars.DataFrame | None = None) -> Corpus:
    """Describe the answers of a rating table: development and held-out ones apart, else by system, else all.

    `features` is a table `item, system` with `length` and `note_length`, as `case_features` makes it; without it
    columns of these names in the ratings serve, or the tokens that a judge reads to rate an answer once on all its
    dimensions, on average. What tells groups of cases apart, such as specialty, is described too, and what the gate
    of the study names as `parts`.

    Groups of counts are compared by Pearson's χ² = Σ (O − E)²/E with (r − 1)(c − 1) degrees of freedom, two groups
    of numbers by Welch's t (1947, Biometrika 34:28-35), more by the F of a one-way analysis of variance. Groups
    that share cases (systems that answered the same ones) are not tested. Every answer is taken as independent."""
    ratings = rating_table(table)
    split = bool(ratings.development_rows.height)
    rows = of_cases(ratings.everything if split else ratings.rows)
    if not rows.height:
        raise MedjuryError("there are no ratings, so there is no corpus to describe.")
    developed = set(of_cases(ratings.development_rows)["item"].to_list())
    answers = rows.select("item", "system").unique(maintain_order=True)
    several = len(ratings.systems) > 1
    names = [
        (DEVELOPMENT if item in developed else HELD_OUT) if split else system or ALL if several else ALL
        for item, system in answers.iter_rows()
    ]
    groups = (DEVELOPMENT, HELD_OUT) if split else tuple(sorted(set(names)))
    group = np.asarray(names)
    items = answers["item"].to_numpy()
    alone = sum(len(set(items[group == name].tolist())) for name in groups) == len(set(items.tolist()))
    tested = alone and len(groups) > 1
    found = [CorpusRow(ANSWERS, "", name, int((group == name).sum())) for name in groups]
    for name in (*(["system"] if several and split else []), *_parts(ratings)):
        found += _described(name, _values(rows, answers, name), group, groups, tested)
    for name, values in _lengths(ratings, rows, answers, features).items():
        found += _numbers(LENGTHS[name], values, group, groups, tested)
    warnings = list(ratings.warnings)
    if len(groups) > 1 and not alone:
        warnings.append("the groups share cases, so their differences are not tested")
    if any("expected" in row.test for row in found):
        warnings.append("where a count is expected to be below 5, χ² is rough")
    return Corpus(tuple(found), groups, tuple(warnings))


def _parts(ratings: RatingTable) -> list[str]:
    """What tells groups of cases apart, the usual names first."""
    found = ratings.case_columns
    named = dict.fromkeys((*(name for name in CASE_PARTS if name in found), *found))
    return [name for name in named if name not in LENGTHS]


def _values(rows: polars.DataFrame, answers: polars.DataFrame, name: str) -> list[Any]:
    """Of each answer the one value of a column, that of its item where it has none of its own; None without one."""
    import polars as pl

    if name == "system":
        return [value or None for value in answers["system"].to_list()]
    if name not in rows.columns:
        return [None] * answers.height
    known = rows.select("item", "system", name).filter(pl.col(name).is_not_null())
    own = {(item, system): value for item, system, value in known.iter_rows() if str(value).strip()}
    of_item = {item: value for (item, _), value in own.items()}
    return [own.get(answer, of_item.get(answer[0])) for answer in answers.iter_rows()]


def _described(
    name: str, values: Sequence[Any], group: NDArray[Any], groups: Sequence[str], tested: bool
) -> list[CorpusRow]:
    known = [value for value in values if value is not None]
    if not known:
        return []
    numbers = [_number(value) for value in values]
    measured = all(
        number is not None for value, number in zip(values, numbers, strict=True) if value is not None
    )
    if measured and len({number for number in numbers if number is not None}) > MOST_NUMBERS:
        return _numbers(
            name, [np.nan if number is None else number for number in numbers], group, groups, tested
        )
    levels = sorted({str(value).strip() for value in known})
    if len(levels) > MOST_LEVELS or len(levels) < 2:
        return []
    stated = np.asarray(["" if value is None else str(value).strip() for value in values])
    counts = np.array(
        [[int(((stated == level) & (group == each)).sum()) for each in groups] for level in levels]
    )
    p, test = chi_square(counts) if tested else (None, "")
    return [
        CorpusRow(name, level, each, int(counts[row, column]), _share(counts[row, column], counts[:, column].sum()),
                  p_value=None if row else p, test="" if row else test)
        for row, level in enumerate(levels)
        for column, each in enumerate(groups)
    ]  # fmt: skip


def _lengths(
    table: RatingTable, rows: polars.DataFrame, answers: polars.DataFrame, features: polars.DataFrame | None
) -> dict[str, list[float]]:
    import polars as pl

    source = rows if features is None else features
    names: list[str] = [name for name in ("note_length", "length") if name in source.columns]
    if not names and "tokens_in" in rows.columns:
        # A row has its dimension's part of what the judge read for the answer.
        read = pl.col("tokens_in").cast(pl.Float64, strict=False)
        judged = rows.filter(pl.col("rater_kind") == "judge", read.is_not_null())
        source = judged.group_by("item", "system", "rater", "repeat").agg(read.sum())
        names = ["tokens_in"]
    found: dict[str, list[float]] = {}
    for name in names:
        number = pl.col(name).cast(pl.Float64, strict=False)
        means = source.group_by("item", "system").agg(number.mean()).drop_nulls()
        known = {(item, system): float(value) for item, system, value in means.iter_rows()}
        if known:
            found[name] = [known.get((item, system), np.nan) for item, system in answers.iter_rows()]
    return found


def _numbers(
    name: str, values: Sequence[float], group: NDArray[Any], groups: Sequence[str], tested: bool
) -> list[CorpusRow]:
    numbers = np.asarray(values, dtype=np.float64)
    sides = [numbers[(group == each) & ~np.isnan(numbers)] for each in groups]
    p, test = means_differ(sides) if tested else (None, "")
    made = []
    for each, side in zip(groups, sides, strict=True):
        middle, low, high = (
            (float(end) for end in np.quantile(side, [0.5, 0.25, 0.75])) if len(side) else (None, None, None)
        )
        made.append(CorpusRow(name, "", each, len(side), None, middle, low, high, p, test))
    return made


def chi_square(counts: NDArray[np.int64]) -> tuple[float | None, str]:
    """Pearson's χ² of independence of a table of counts, without a correction; None where a margin is empty.

    >>> p, test = chi_square(np.array([[10, 20], [20, 10]]))
    >>> round(p, 4), test
    (0.0098, 'χ²(1) = 6.67')
    """
    table = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0].astype(np.float64)
    if min(table.shape) < 2:
        return None, ""
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    value = float(((table - expected) ** 2 / expected).sum())
    freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
    rough = f", expected counts from {expected.min():.1f}" if expected.min() < SMALL else ""
    return float(special.chdtrc(freedom, value)), f"χ²({freedom}) = {value:.2f}{rough}"


def means_differ(sides: Sequence[Floats]) -> tuple[float | None, str]:
    """Welch's t of two groups, the F of more; None where a group has fewer than two values or nothing varies.

    >>> p, test = means_differ([np.array([1.0, 2, 3, 4]), np.array([2.0, 4, 6, 8])])
    >>> round(p, 4), test
    (0.1516, 't(4.4) = −1.73')
    """
    if any(len(side) < 2 for side in sides) or all(np.ptp(side) == 0 for side in sides):
        return None, ""
    if len(sides) == 2:
        errors = [float(side.var(ddof=1)) / len(side) for side in sides]
        t = float(sides[0].mean() - sides[1].mean()) / float(np.sqrt(sum(errors)))
        below = sum(error**2 / (len(side) - 1) for error, side in zip(errors, sides, strict=True))
        freedom = sum(errors) ** 2 / below
        return float(2.0 * special.stdtr(freedom, -abs(t))), f"t({freedom:.1f}) = {shown(t, 2)}"
    n, k = sum(len(side) for side in sides), len(sides)
    grand = np.concatenate(sides).mean()
    between = sum(len(side) * float(side.mean() - grand) ** 2 for side in sides) / (k - 1)
    within = sum(float(((side - side.mean()) ** 2).sum()) for side in sides) / (n - k)
    value = between / within
    return float(special.fdtrc(k - 1, n - k, value)), f"F({k - 1}, {n - k}) = {value:.2f}"


def _share(count: int, whole: int) -> float | None:
    return float(count) / float(whole) if whole else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    try:
        return float(value)
    except ValueError:
        return None
