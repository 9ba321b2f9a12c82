"""Reading scores: array-likes with None or NaN for missing, checked against the scale, never coerced."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medjury.foundation.errors import MedjuryError
from medjury.statistics import Floats

Level = float | str
# Scores closer than this, beside the largest, differ by rounding alone.
ROUNDING = 1e-10
Scores = ArrayLike | Sequence[object] | Sequence[Sequence[object]]


@dataclass(frozen=True, slots=True)
class Scale:
    """All levels a rater may use. Numbers stand at their own value; words stand at 0, 1, 2… as listed."""

    levels: tuple[Level, ...]
    positions: Floats

    def __len__(self) -> int:
        return len(self.levels)


# The items that every rater scored, which of all they are, and a note on how many are left out.
Complete = tuple[Floats, NDArray[np.bool_], str]


def read_scale(levels: Sequence[Level] | ArrayLike | Scale) -> Scale:
    """The full scale, in ascending order for numbers and as listed for words."""
    if isinstance(levels, Scale):
        return levels
    listed: list[Any] = np.asarray(levels, dtype=object).ravel().tolist()
    if len(listed) < 2 or len(set(listed)) != len(listed):
        raise MedjuryError(
            f"A scale lists two or more different levels, all that could be given, not {listed}."
        )
    if all(_is_number(level) for level in listed):
        ordered = sorted(float(level) for level in listed)
        return Scale(tuple(ordered), np.array(ordered))
    if all(isinstance(level, str) for level in listed):
        return Scale(tuple(listed), np.arange(len(listed), dtype=np.float64))
    raise MedjuryError(f"A scale is all numbers or all words, not {listed}.")


def read_scores(scores: Scores, scale: Scale | None, axes: int) -> Floats:
    """Scores as positions on the scale (or plain numbers without one), NaN where missing."""
    if isinstance(scores, np.ndarray) and scores.dtype.kind in "fiub":
        array = scores.astype(np.float64)
    else:
        raw = _as_objects(scores)
        array = _positions(raw, scale) if scale and isinstance(scale.levels[0], str) else _numbers(raw)
    if array.ndim == 1 and axes == 2:
        array = array[:, np.newaxis] if array.size else array.reshape(0, 0)
    if array.ndim != axes:
        shape = "one list of scores" if axes == 1 else "a table of items by raters"
        raise MedjuryError(f"Give {shape}, not something with {array.ndim} axes.")
    if np.isinf(array).any():
        raise MedjuryError("A score is infinite. Leave the cell empty where there is no score.")
    if scale is not None:
        refuse_off_scale(array, scale)
    return array


def read_pairs(first: Scores, second: Scores, scale: Scale | None = None) -> Complete:
    """Two raters' scores of the same items, item by item."""
    one, two = read_scores(first, scale, 1), read_scores(second, scale, 1)
    if len(one) != len(two):
        raise MedjuryError(
            f"The first rater has {len(one)} scores and the second {len(two)}. Give both one per item."
        )
    rows = np.column_stack([one, two])
    kept = complete_rows(rows)
    lost = int(np.count_nonzero(~kept))
    return rows[kept], kept, f"; {lost} of {kept.size} pairs incomplete, left out" if lost else ""


def complete_rows(rows: Floats) -> NDArray[np.bool_]:
    """Which rows have no missing cell."""
    return np.asarray(~np.isnan(rows).any(axis=1))


def read_complete(scores: Scores) -> Complete:
    """The items of a table that every rater scored."""
    table = read_scores(scores, None, 2)
    kept = complete_rows(table) if table.size else np.zeros(len(table), dtype=np.bool_)
    lost = int(np.count_nonzero(~kept))
    return table[kept], kept, f"; {lost} of {len(table)} items with missing scores left out" if lost else ""


def tied(differences: Floats, rows: Floats) -> Floats:
    """Differences in which rounding does not hide a tie: 4.3 − 4 and 3.3 − 3 become the same number, and so do 1/18
    and −1/18 but for their sign."""
    reach = float(np.nanmax(np.abs(rows), initial=0.0))
    size = snapped(np.abs(differences), reach)
    return np.asarray(np.where(size <= ROUNDING * reach, 0.0, np.sign(differences) * size), dtype=np.float64)


def snapped(values: Floats, reach: float | None = None) -> Floats:
    """Values in which rounding does not hide a tie: neighbours closer than 10⁻¹⁰ of `reach`, by default the largest
    value, become the lowest of them. Means of grades that differ at all are a million times further apart."""
    levels, codes = snapped_levels(values, reach)
    return np.asarray(levels[codes], dtype=np.float64) if levels.size else values


def snapped_levels(values: Floats, reach: float | None = None) -> tuple[Floats, NDArray[np.int64]]:
    """The distinct values of `snapped` in ascending order, and the place of each value among them."""
    levels, codes = np.unique(values, return_inverse=True)
    if not levels.size:
        return levels, codes
    if reach is None:
        highest = levels[-2] if np.isnan(levels[-1]) and len(levels) > 1 else levels[-1]
        reach = float(max(abs(levels[0]), abs(highest)))
    apart = np.concatenate([[True], levels[1:] - levels[:-1] > ROUNDING * reach])
    if apart.all():  # as nearly always: grades, and means of a few of them
        return levels, np.asarray(codes, dtype=np.int64)
    return levels[apart], np.asarray((np.cumsum(apart) - 1)[codes], dtype=np.int64)


def level_codes(positions: Floats, values: Floats) -> NDArray[np.int64]:
    """The index of each value among the (ascending) positions; the values are known to be on the scale."""
    return np.searchsorted(positions, values).astype(np.int64)


def _as_objects(scores: Scores) -> NDArray[Any]:
    # A polars or pandas object becomes an array by itself; a list keeps its None.
    source: Any = scores if hasattr(scores, "__array__") else list(scores)  # type: ignore[arg-type]
    try:
        raw = np.asarray(source, dtype=object)
    except ValueError:
        raw = np.array([[]], dtype=object)
    ragged = raw.ndim == 1 and any(isinstance(each, (list, tuple, np.ndarray)) for each in raw)
    if ragged or (raw.size == 0 and len(source)):
        raise MedjuryError(
            "The rows of the score table differ in length. Give every rater a cell in every row."
        )
    return raw


def _numbers(raw: NDArray[Any]) -> Floats:
    flat = raw.ravel()
    wrong = [(place, each) for place, each in enumerate(flat) if not (_is_missing(each) or _is_number(each))]
    if wrong:
        places = ", ".join(f"{each!r} at {_place(place, raw)}" for place, each in wrong[:5])
        raise MedjuryError(f"{len(wrong)} scores are not numbers: {places}. Correct or empty these cells.")
    return np.array([math.nan if _is_missing(each) else float(each) for each in flat]).reshape(raw.shape)


def _positions(raw: NDArray[Any], scale: Scale) -> Floats:
    place_of = {level: float(place) for place, level in enumerate(scale.levels)}
    flat = raw.ravel()
    wrong = [
        (place, each) for place, each in enumerate(flat) if not _is_missing(each) and each not in place_of
    ]
    if wrong:
        raise _off_scale([(f" at {_place(place, raw)}", each) for place, each in wrong], scale)
    return np.array([math.nan if _is_missing(each) else place_of[each] for each in flat]).reshape(raw.shape)


def refuse_off_scale(array: Floats, scale: Scale, *, placed: bool = True) -> None:
    """Raise where numbers are not levels of the scale, naming them (and their place, where rows are items)."""
    nearest = np.clip(np.searchsorted(scale.positions, array), 0, len(scale) - 1)
    off = np.flatnonzero(~np.isnan(array) & (scale.positions[nearest] != array))
    if off.size:
        values = [float(array.flat[place]) for place in off]
        places = [f" at {_place(int(place), array)}" if placed else "" for place in off]
        raise _off_scale(list(zip(places, values, strict=True)), scale)


def _off_scale(wrong: Sequence[tuple[str, object]], scale: Scale) -> MedjuryError:
    shown = ", ".join(f"{_shown(value)}{place}" for place, value in wrong[:5])
    more = "" if len(wrong) <= 5 else f" and {len(wrong) - 5} more"
    levels = ", ".join(level if isinstance(level, str) else f"{level:g}" for level in scale.levels)
    return MedjuryError(
        f"Scores off the scale {levels}: {shown}{more}. Correct them, or give the scale they were made on."
    )


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)


def _place(flat: int, array: NDArray[Any]) -> str:
    if array.ndim == 2:
        item, rater = divmod(flat, array.shape[1])
        return f"item {item + 1}, rater {rater + 1}"
    return f"item {flat + 1}"


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, (float, np.floating)) and math.isnan(value))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating, np.bool_))
