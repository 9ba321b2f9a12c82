"""The review curve: of all dangerous answers, what share is caught when the first x % of the cases are reviewed?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.calibration._maps import Cases, check_confidence
from medjury.foundation.errors import MedjuryError
from medjury.statistics import (
    Estimate,
    Floats,
    Replicates,
    counted_share,
    new_figure,
    on_columns,
    replicates,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FRACTIONS = tuple(round(0.05 * step, 2) for step in range(1, 20))
# The share to review is searched among so many steps of equal size: to one part in a million.
_STEPS = 2**20
# So many looks follow the lines alone.
_LOOKS = 6
# With fewer cases to catch the intervals held in 76 to 92 % of simulated studies.
FEWEST_TO_CATCH = 30
# With less than half a case caught, or left, resamples are nearly all the same.
FEW_BEYOND = 0.5


@dataclass(frozen=True, slots=True)
class ReviewCurve:
    """One way to order the cases. `caught[k]` belongs to the share `reviewed[k]`; `review_to_catch` is the
    share of cases to review for the wanted share of what is to be caught, `area` the mean of the curve (0.5: no
    better than chance). `saved_by_rule` is how much less the combined rule reviews: this order's share −
    the rule's."""

    name: str
    reviewed: tuple[float, ...]
    caught: tuple[Estimate, ...]
    review_to_catch: Estimate
    area: Estimate
    saved_by_rule: Estimate | None


def review_curves(
    priorities: Mapping[str, Floats],
    target: NDArray[np.bool_],
    *,
    cases: Cases,
    strata: NDArray[np.int64] | None = None,
    rule: str | None = None,
    catch: float = 0.8,
    fractions: Sequence[float] = FRACTIONS,
    resamples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
    what: str = "dangerous answer",
) -> ReviewCurves:
    """Curves of several orders on the same resamples of whole cases; higher priority is reviewed first.

    Items of equal priority are reviewed in random order, so that the curve is straight across them. A
    missing priority comes first: a case that could not be scored has to be looked at. With `strata` (the
    folds in which priorities were learnt) the same share is reviewed in each: priorities of two folds come
    from two rules and cannot be ranked against each other.
    """
    check_confidence(confidence)
    if not 0 < catch <= 1:
        raise MedjuryError(f"the share to catch lies between 0 and 1, not at {catch:g}.")
    if not target.any():
        raise MedjuryError(
            f"no item is a {what} by this definition: there is nothing to catch. Check the threshold."
        )
    if target.all():
        raise MedjuryError(
            f"every item is a {what} by this definition: no order can help. Check the threshold."
        )
    stratum = (
        np.zeros(len(target), dtype=np.int64) if strata is None else np.unique(strata, return_inverse=True)[1]
    )
    rows = np.column_stack([stratum, target, *(_codes(each) for each in priorities.values())])
    clusters = np.array([str(case) for case in cases], dtype=object)
    curve = _curve(int(stratum.max()) + 1, tuple(fractions), catch)

    def replicates_of(place: int) -> Replicates:
        # The rows of all orders decide what is drawn: every order rests on the same resamples.
        return replicates(
            rows,
            on_columns(curve, (0, 1, 2 + place)),
            clusters=clusters,
            resamples=resamples,
            seed=seed,
        )

    behind = len(set(clusters[target].tolist()))
    return ReviewCurves(
        tuple(priorities), tuple(fractions), rule, confidence, what, behind, cache(replicates_of), {}
    )


@dataclass(frozen=True, slots=True, eq=False)
class ReviewCurves(Mapping[str, ReviewCurve]):
    """Curves by the name of their order. Each is computed when it is read: most readers want one or two."""

    names: tuple[str, ...]
    fractions: tuple[float, ...]
    rule: str | None
    confidence: float
    what: str
    cases: int  # that hold what is to be caught
    replicates_of: Callable[[int], Replicates]
    made: dict[str, ReviewCurve]

    def __getitem__(self, name: str) -> ReviewCurve:
        if name not in self.names:
            raise KeyError(name)
        if name not in self.made:
            self.made[name] = self._curve(name)
        return self.made[name]

    def _curve(self, name: str) -> ReviewCurve:
        made = self.replicates_of(self.names.index(name))

        def read(what: str) -> Estimate:
            return self._allowed(made.estimate(what, method="percentile", confidence=self.confidence))

        saved = None
        if self.rule is not None and name != self.rule:
            rule = self.replicates_of(self.names.index(self.rule))
            saved = self._allowed(
                made.difference(
                    "review", "review", other=rule, method="percentile", confidence=self.confidence
                )
            )
        caught = tuple(self._caught(read(f"at {fraction:g}")) for fraction in self.fractions)
        # The mean over a whole curve is no step: plain percentiles of it held in 91 % of simulated studies.
        area = self._allowed(made.estimate("area", confidence=self.confidence, statistic="accuracy"))
        return ReviewCurve(name, self.fractions, caught, read("review"), area, saved)

    def _allowed(self, found: Estimate) -> Estimate:
        """Of few dangerous answers, no resample shows those that the next study would hold."""
        if self.cases >= FEWEST_TO_CATCH or found.value is None:
            return found
        why = f"{self.cases} cases hold a {self.what}, at least {FEWEST_TO_CATCH} are needed"
        return found.without_interval(why)

    def _caught(self, found: Estimate) -> Estimate:
        """Where nearly all is caught, or nearly nothing, few resamples differ, and none where all is: no narrower
        than the share of as many cases, counted."""
        value = found.value
        if value is None or found.low is None or found.high is None:
            return found
        if min(value, 1.0 - value) * self.cases >= FEW_BEYOND:
            return found
        hits = round(value * self.cases)
        wide = counted_share(np.arange(self.cases) < hits, confidence=self.confidence)
        low, high = min(found.low, wide.low or 0.0), max(found.high, wide.high or 1.0)
        how = f"{found.method}, no narrower than {wide.method.partition(' % ')[2]} of {self.cases} cases"
        return replace(found, low=low, high=high, method=how)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


def _codes(priority: Floats) -> Floats:
    """The place of each priority in the order, 0 first; equal priorities share it, a missing one comes first.
    What differs after the ninth decimal is equal: means of the same grades differ by rounding."""
    values = np.where(np.isnan(priority), np.inf, priority)
    _, place = np.unique(np.round(-values, 9), return_inverse=True)
    return place.astype(float)


def _followed(
    weights: Floats, order: NDArray[np.int64], target: Floats, last: NDArray[np.int64]
) -> tuple[Floats, Floats, Floats]:
    """Of one fold's items in their order the share reviewed and the share caught after each group of equal
    priority, both from 0, and the number to catch; `last` marks the last item of each group."""
    here = weights[:, order]
    reviewed = _from_zero(np.cumsum(here, axis=1)[:, last])
    caught = _from_zero(np.cumsum(here * target, axis=1)[:, last])
    errors = caught[:, -1]
    share = caught / np.where(errors > 0, errors, 1.0)[:, np.newaxis]
    return reviewed / np.maximum(reviewed[:, -1:], 1.0), share, errors


def _curve(
    strata: int, fractions: tuple[float, ...], catch: float
) -> Callable[[Floats], Callable[[Floats], dict[str, Floats]]]:
    def prepare(rows: Floats) -> Callable[[Floats], dict[str, Floats]]:
        parts = []
        for number in range(strata):
            here = np.flatnonzero(rows[:, 0] == number)
            order = here[np.argsort(rows[here, 2], kind="stable")]
            parts.append((order, rows[order, 1], np.flatnonzero(np.diff(rows[order, 2], append=-1.0))))

        def read(weights: Floats) -> dict[str, Floats]:
            curves = [_followed(weights, *part) for part in parts]
            errors = np.stack([each for _, _, each in curves])
            share = errors / np.where(errors.sum(axis=0) > 0, errors.sum(axis=0), np.nan)

            steps = _Steps([(reviewed, got) for reviewed, got, _ in curves])

            def caught(at: Floats, rows: NDArray[np.int64]) -> tuple[Floats, Floats]:
                found, rise = steps.at(at, rows)
                part = share[:, rows, np.newaxis]
                return (part * found).sum(axis=0), (part * rise).sum(axis=0)

            areas = [np.trapezoid(got, reviewed, axis=1) for reviewed, got, _ in curves]
            places = np.array([*fractions, 1.0])
            known, _ = caught(np.tile(places, (len(weights), 1)), np.arange(len(weights)))
            values = {f"at {each:g}": known[:, place] for place, each in enumerate(fractions)}
            values["area"] = (share * np.stack(areas)).sum(axis=0)
            values["review"] = _reach(caught, catch, places, known)
            return values

        return read

    return prepare


def _reach(
    caught: Callable[[Floats, NDArray[np.int64]], tuple[Floats, Floats]],
    catch: float,
    places: Floats,
    known: Floats,
) -> Floats:
    """The smallest share to review, in whole steps, at which the share caught reaches `catch`; NaN where there is
    nothing to catch. `known` is what is caught at some places, (resamples, places), the last of them 1.

    What is caught rises in straight lines: the line at the last look leads to the step in two or three. From a
    flat one the next look is in the middle, and after a few looks every second one, so that an end is certain."""
    enough = known >= catch - 1e-12
    low, below = (np.where(enough, 0.0, each).max(axis=1) for each in (places, known))
    high, above = (np.where(enough, each, 1.0).min(axis=1) for each in (places, known))
    low, high = np.floor(low * _STEPS), np.ceil(high * _STEPS)
    high[np.isnan(known[:, -1])] = np.nan
    rows = np.flatnonzero(high - low > 1)
    ahead = np.ceil((catch - below) / np.maximum(above - below, 1e-12) * (high - low)) + low
    for look in count():
        if not len(rows):
            break
        least, most = low[rows], high[rows]
        middle = np.floor((least + most) / 2)
        here = middle if look > _LOOKS and look % 2 else ahead[rows]
        here = np.clip(np.where(np.isnan(here), middle, here), least + 1, most - 1)
        got, rise = (each[:, 0] for each in caught(here[:, np.newaxis] / _STEPS, rows))
        enough = got >= catch - 1e-12
        high[rows] = np.where(enough, here, most)
        low[rows] = np.where(enough, least, here)
        to_go = (catch - got) * _STEPS / np.where(rise > 1e-9, rise, np.nan)
        ahead[rows] = np.where(enough, here - np.maximum(np.floor(-to_go), 1.0), here + np.ceil(to_go))
        rows = rows[high[rows] - low[rows] > 1]
    return np.asarray(high / _STEPS)


def _from_zero(values: Floats) -> Floats:
    return np.concatenate([np.zeros((len(values), 1)), values], axis=1)


class _Steps:
    """Straight lines from step to step; of every stratum one curve for each resample, along which x rises from 0 to
    1."""

    def __init__(self, curves: Sequence[tuple[Floats, Floats]]) -> None:
        resamples, widths = len(curves[0][0]), np.array([x.shape[1] for x, _ in curves])
        # Curves two apart rise as one list, in which all are searched at once.
        self.apart = 2.0 * np.arange(len(curves) * resamples).reshape(len(curves), resamples, 1)
        self.rising = np.concatenate(
            [(x + apart).ravel() for (x, _), apart in zip(curves, self.apart, strict=True)]
        )
        begins = resamples * (np.cumsum(widths) - widths)
        self.first = begins[:, np.newaxis, np.newaxis] + widths[:, np.newaxis, np.newaxis] * np.arange(
            resamples
        ).reshape(1, -1, 1)
        self.last = self.first + widths[:, np.newaxis, np.newaxis] - 1
        self.x, self.y = (
            np.concatenate([each.ravel() for each in side]) for side in zip(*curves, strict=True)
        )

    def at(self, wanted: Floats, rows: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """y of some resamples where x first reaches each of the wanted places (rows, places), and how steep the
        line is that leads there; (strata, rows, places)."""
        found = np.searchsorted(self.rising, wanted - 1e-12 + self.apart[:, rows])
        after = np.minimum(np.maximum(found, self.first[:, rows] + 1), self.last[:, rows])
        before = after - 1
        x0, y0 = self.x[before], self.y[before]
        step = self.x[after] - x0
        rise = (self.y[after] - y0) / np.where(step > 0, step, 1.0)
        return y0 + rise * np.clip(wanted - x0, 0.0, np.maximum(step, 0.0)), rise


_FIRST, _SECOND, _SOFT = "#0072b2", "#d55e00", "#55636f"


def review_figure(title: str, curves: Mapping[str, ReviewCurve], caught: str) -> Figure:
    """The combined rule and the jury's score alone beside chance, with intervals as bands."""
    figure = new_figure(4.2, 3.4)
    axes = figure.subplots()
    axes.plot([0, 100], [0, 100], color=_SOFT, linewidth=0.8, linestyle=":")
    for name, label, colour, style in (
        ("rule", "combined rule", _FIRST, "-"),
        ("jury", "jury's score alone", _SECOND, "--"),
    ):
        curve = curves.get(name)
        if curve is None:
            continue
        reviewed = [100 * share for share in curve.reviewed]
        middle, low, high = (
            [100 * (value or 0.0) for value in values]
            for values in zip(*((each.value, each.low, each.high) for each in curve.caught), strict=True)
        )
        axes.plot([0, *reviewed, 100], [0, *middle, 100], color=colour, linestyle=style, label=label)
        if curve.caught[0].low is not None:
            axes.fill_between(reviewed, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.set(title=title, xlabel="reviewed (% of answers)", ylabel=caught)
    axes.legend(fontsize=7, loc="lower right")
    return figure
