"""The queue of a review: every answer with its probability and the reason for it, and which ones were drawn."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.calibration._part import Marks, Part, judging_roles, jurors_of, jury_of, parts_of
from medjury.analysis.calibration._triage import triage
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Floats, Printable, Result, Row, effective_n
from medjury.tables import Names, People, RatingTable, rating_table

# Drawing with stated probabilities: how likely each unit is, and which ones come up.
#
# The probabilities are c · size, at most 1, with the c that makes them add up to the number that may be read: so
# many are drawn, exactly, and each with exactly its probability, by systematic sampling from a list in random order
# (Madow 1949, Ann Math Stat 20:333-354). Order and start come from SHA-256 of the seed and the names, and not from
# a random number generator: anybody can draw again, in any language, in fifty years.


def inclusion_probabilities(
    sizes: Floats, certain: Marks, count: float, *, floor: float = 0.0, costs: Floats | None = None
) -> Floats:
    """With which probability each unit is drawn: 1 where `certain`, else in proportion to its size, and at least
    `floor` times what plain random drawing of the rest would give. Their sum (that of π · cost, where a unit brings
    several answers) is `count`."""
    cost = np.ones(len(sizes)) if costs is None else costs
    if not count > 0.0:
        raise MedjuryError("a review reads at least one answer.")
    if count >= cost.sum():
        return np.ones(len(sizes))
    sure = float(cost[certain].sum())
    rest = ~certain
    if sure >= count:
        raise MedjuryError(
            f"{sure:g} answers are to be read in any case and only {count:g} may be: no reading is left for the "
            "others, about which nothing would then be known. Allow more ratings, or let fewer be certain."
        )
    if not np.isfinite(sizes[rest]).all() or (sizes[rest] <= 0).any():
        raise MedjuryError(
            "every answer needs a size above 0: an answer that can never be drawn stays unknown."
        )
    share = (count - sure) / float(cost[rest].sum())
    # A mixture with plain random drawing, so that no weight exceeds 1/floor times that of a random review.
    mixed = floor + (1.0 - floor) * sizes / float(np.average(sizes[rest], weights=cost[rest]))
    found = np.where(certain, 1.0, mixed * share)
    full = certain.copy()
    while (over := ~full & (found >= 1.0)).any():
        full |= over
        left = (count - float(cost[full].sum())) / float((mixed * cost)[~full].sum())
        found = np.where(full, 1.0, mixed * left)
    return found


def draw(
    names: Sequence[str], probabilities: Floats, seed: int, rule: str
) -> tuple[Marks, NDArray[np.int64]]:
    """Which units come up, and each unit's place in the order of reading, which is random too, and another one."""
    order = np.array(sorted(range(len(names)), key=lambda place: _number(seed, "order", names[place])))
    start = int.from_bytes(_number(seed, "start", rule)[:8]) / 2.0**64
    reading = sorted(range(len(names)), key=lambda place: _number(seed, "place", names[place]))
    places = np.empty(len(names), dtype=np.int64)
    places[reading] = np.arange(len(names))
    chosen = np.zeros(len(names), dtype=bool)
    chosen[order] = systematic(probabilities[order], start)
    return chosen, places


def systematic(probabilities: Floats, start: float) -> Marks:
    """Units whose stretch of the line holds start, start + 1, start + 2…: each has the length of its probability.

    >>> systematic(np.array([0.5, 0.25, 0.25, 1.0]), 0.6).tolist()
    [False, True, False, True]
    """
    ends = np.concatenate([[0.0], np.cumsum(probabilities)])
    # Sums of many numbers are not exact: what should be whole is, so that nobody is drawn too many.
    whole = np.rint(ends)
    ends = np.where(np.abs(ends - whole) < 1e-9, whole, ends)
    passed = np.ceil(ends - start)
    found: Marks = passed[1:] > passed[:-1]
    return found


def _number(seed: int, what: str, name: str) -> bytes:
    return hashlib.sha256(f"{seed}\0{what}\0{name}".encode("utf-8", "surrogatepass")).digest()


# How much each answer is worth reading: the size of the error that not reading it would leave.
#
# The variance of an estimate from answers drawn with probability π is Σ ψ²/π, ψ being what each answer adds to its
# error, and least for π ∝ √E ψ² (Neyman 1934, J R Stat Soc 97:558-625; Isaki & Fuller 1982, J Am Stat Assoc
# 77:89-96). What a clinician will say is guessed from the judges: near their mean, by as much as they differ
# themselves and no less than they round, and once in fifty anything. The guess decides how much a review saves,
# never whether it is right: every answer is weighted by its probability, whatever the guess was worth.


# Of a grade: somewhat more than rounding alone (1/√12). And how often a clinician says something else altogether.
_ROUNDING = 0.35
_ANYTHING = 1 / 50
# Severe errors are what hurts patients, and the rarest to be seen: they count twice.
_SEVERE = 2.0


def influence_sizes(
    judges: Floats, jury: Floats, *, grades: tuple[float, ...], danger: tuple[float, float] | None = None
) -> Floats:
    """√ of the mean expected squared influence of each answer on the clinicians' mean (beside the jury's), on the
    quadratic kappa of jury and clinicians and, with `danger` (threshold and gap, low being dangerous), on the rate
    of severe errors; each influence on its own footing, severe errors twice, their mean 1. `judges` has a row for
    each of them; NaN is no score, and an answer without a jury's score has the mean size."""
    size = np.full(jury.shape, np.nan)
    known = ~np.isnan(jury)
    if not known.any():
        return np.ones(len(jury))
    values = np.asarray(grades, dtype=np.float64)
    given = jury[known]
    expected = _expected(judges[:, known], given, values)
    parts = [
        (expected * (values - given[:, np.newaxis]) ** 2).sum(axis=1),
        (expected * _kappa_influence(expected, values, _nearest(given, values)) ** 2).sum(axis=1),
    ]
    counts = [1.0, 1.0]
    if danger is not None:
        bad = np.broadcast_to(values <= danger[0] + 1e-9, expected.shape)
        missed = bad & (given[:, np.newaxis] - values >= danger[1] - 1e-9)
        among = float((expected * bad).sum())
        rate = float((expected * missed).sum()) / among if among > 0 else 0.0
        parts.append((expected * (missed - rate * bad) ** 2).sum(axis=1))
        counts.append(_SEVERE)
    together = np.zeros(int(known.sum()))
    for part, count in zip(parts, counts, strict=True):
        together += count * part / part.mean() if part.mean() > 0 else 0.0
    size[known] = np.sqrt(together) if together.any() else 1.0
    size[known] /= size[known].mean()
    return np.where(known, size, 1.0)


def _expected(judges: Floats, jury: Floats, grades: Floats) -> Floats:
    """How likely each grade of a clinician is: answers in rows."""
    step = float(np.diff(grades).min()) if len(grades) > 1 else 1.0
    seen = ~np.isnan(judges)
    count = seen.sum(axis=0)
    middle = np.nansum(judges, axis=0) / np.maximum(count, 1)
    squares = np.where(seen, (judges - middle) ** 2, 0.0).sum(axis=0)
    spread = np.where(count > 1, squares / np.maximum(count - 1, 1), step**2) + (_ROUNDING * step) ** 2
    near = np.exp(-((grades - jury[:, np.newaxis]) ** 2) / (2.0 * spread[:, np.newaxis]))
    near /= np.maximum(near.sum(axis=1, keepdims=True), 1e-300)
    found: Floats = (1.0 - _ANYTHING) * near + _ANYTHING / len(grades)
    return found


def _kappa_influence(expected: Floats, grades: Floats, jury: Floats) -> Floats:
    """What one answer adds to 1 − D_o/D_e, with D_o = E(x − y)² of pairs and D_e that of grades by chance, for each
    grade x that the clinician could give:

        ψ = −((x − y)² − D_o)/D_e + D_o/D_e² · (E(x − Y)² + E(X − y)² − 2 D_e)
    """
    given = jury[:, np.newaxis]
    shares = expected.mean(axis=0)
    mean, mean_jury = float(shares @ grades), float(jury.mean())
    variance, variance_jury = float(shares @ (grades - mean) ** 2), float(jury.var())
    observed = float((expected * (grades - given) ** 2).sum(axis=1).mean())
    chance = variance + variance_jury + (mean - mean_jury) ** 2
    if chance <= 0:
        return np.zeros_like(expected)
    habits = (grades - mean_jury) ** 2 + variance_jury + (given - mean) ** 2 + variance
    found: Floats = -((grades - given) ** 2 - observed) / chance + observed / chance**2 * (
        habits - 2.0 * chance
    )
    return found


def _nearest(scores: Floats, grades: Floats) -> NDArray[np.float64]:
    """Each score's grade; half way between two, the higher one."""
    edges = (grades[1:] + grades[:-1]) / 2.0
    return grades[np.searchsorted(edges, scores, side="right")]


Whole = Literal["answer", "case", "patient"]
By = Literal["influence", "triage", "order", "random"]
UNSCORED, DANGEROUS, REST = "{who} gave no score", "{who} calls it dangerous", "drawn"
BESIDE = "another answer of the same case or patient is read in any case"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class QueueRow(Row):
    """One answer. `place` is its place in the order of reading, None where it was not drawn; `data` is the hash of
    the cases that were judged ("" where the scores come from no run), `digest` that of all rows of the queue."""

    item: str
    system: str
    drawn: bool
    place: int | None
    probability: float
    reason: str
    seed: int
    rule: str
    data: str = ""
    digest: str = ""

    @classmethod
    def sealed(cls, rows: Sequence[QueueRow]) -> tuple[QueueRow, ...]:
        """The rows, each with the hash of all of them: whoever changes one changes it."""
        words = [[getattr(row, name) for name in cls.__slots__ if name != "digest"] for row in rows]
        digest = hashlib.sha256(json.dumps(words).encode()).hexdigest()
        return tuple(replace(row, digest=digest) for row in rows)


@dataclass(frozen=True, eq=False)
class ReviewQueue(Result[QueueRow]):
    """Every answer, the drawn ones first and in the order of reading. `rule` is what was asked, in full, `settings`
    its words; the same rule, seed and scores give the same queue again."""

    rows: tuple[QueueRow, ...]
    warnings: tuple[str, ...]
    settings: Mapping[str, Any]

    @property
    def drawn(self) -> tuple[QueueRow, ...]:
        return tuple(row for row in self.rows if row.drawn)

    def text(self, top: int = 20) -> str:
        reasons: dict[str, list[QueueRow]] = {}
        for row in self.rows:
            reasons.setdefault(row.reason, []).append(row)
        worth = effective_n([1.0 / row.probability for row in self.drawn])
        rule = self.rows[0].rule
        lines = [f"! {warning}" for warning in self.warnings]
        lines.append(f"{len(self.drawn)} of {len(self.rows)} answers are drawn (rule {rule[:12]}, seed "
                     f"{self.rows[0].seed}):")  # fmt: skip
        for reason, rows in reasons.items():
            least, most = min(row.probability for row in rows), max(row.probability for row in rows)
            span = f"{least:.3f}" if most - least < 5e-4 else f"{least:.3f} to {most:.3f}"
            lines.append(f"  {reason}: {sum(row.drawn for row in rows)} of {len(rows)}, probability {span}")
        lines.append(
            f"Weighted by 1/probability they hold for all {len(self.rows)} answers; for a plain mean they are "
            f"worth {worth:.0f} drawn at random. Read them in the order of `place`: whoever stops early then still "
            "has a fair draw."
        )
        return "\n".join(lines)

    def shown_rows(self) -> Sequence[Mapping[str, Printable]]:
        return [
            {"place": row.place, "item": row.item, "system": row.system, "probability": row.probability,
             "reason": row.reason}
            for row in self.drawn
        ]  # fmt: skip


def draw_review(
    table: object,
    *,
    ratings: int,
    raters: Names | None = None,
    dimensions: Names | None = None,
    by: By = "influence",
    whole: Whole = "answer",
    floor: float = 0.25,
    certain: bool = True,
    seed: int | None = None,
    worth: Mapping[str, float] | None = None,
) -> ReviewQueue:
    """Draw the answers that clinicians read, `ratings` of them, by stated probabilities.

    With `certain`, every answer that the jury calls dangerous (by the rule of the gate) or left without a score on
    one of the dimensions is read. The others are drawn in proportion to what they add to the error of agreement,
    mean and severe errors as far as the judges tell (`by` "influence"), to their place in the order of triage
    ("triage", one dimension), or alike ("random"); a share `floor` of that is plain random drawing, so that
    everybody can come up and no weight runs away. Pairs of answers are drawn by "order": in proportion to what a
    verdict on them adds to the order of the systems, as `worth` has it (see `pairs_worth`).

    `whole` draws cases or patients with all their answers; `ratings` is then what is expected, and a case is
    certain where one of its answers is.

    >>> import polars as pl
    >>> scores = [(str(n), who, "accuracy", 1 + (n * k) % 5) for n in range(40) for k, who in ((1, "a"), (3, "b"))]
    >>> frame = pl.DataFrame(scores, schema=["item", "rater", "dimension", "score"], orient="row")
    >>> frame = frame.with_columns(rater_kind=pl.lit("judge"))
    >>> queue = draw_review(rating_table(frame, scale=(1, 5)), ratings=20, seed=7)
    >>> len(queue.drawn), round(sum(row.probability for row in queue.rows), 6)
    (20, 20.0)
    """
    ready = rating_table(table)
    if not 0.0 < floor <= 1.0:
        raise MedjuryError(f"the floor is a share above 0 and at most 1, such as 0.25, not {floor:g}.")
    seeded = ready.seed(seed)
    if (by == "order") != (worth is not None):
        raise MedjuryError('`by` "order" and the `worth` of each pair go together.')
    units = _units(ready, raters, dimensions, by, certain, worth)
    names, groups = _groups(units, whole)
    sizes, sure, costs = _of_groups(units, groups, len(names))
    settings = {
        "medjury queue": _VERSION, "ratings": ratings, "by": by, "whole": whole, "floor": floor, "certain": certain,
        "dimensions": list(units.dimensions), "jury": units.jury, "danger": ready.rules.danger,
        "gap": ready.rules.gap, "scores": units.fingerprint,
    }  # fmt: skip
    rule = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
    probabilities = inclusion_probabilities(sizes, sure, ratings, floor=floor, costs=costs)
    chosen, places = draw(names, probabilities, seeded, rule)
    beside = (units.reasons == REST) & sure[groups]
    units = replace(units, reasons=np.where(beside, BESIDE, units.reasons))
    data = ready.run.manifest.data_hash if ready.run.manifest is not None else ""
    rows = QueueRow.sealed(_rows(units, groups, probabilities, chosen, places, seeded, rule, data))
    return ReviewQueue(rows, ready.warnings, settings)


@dataclass(frozen=True, slots=True, eq=False)
class _Units:
    items: NDArray[np.str_]
    systems: NDArray[np.str_]
    clusters: NDArray[np.str_]
    sizes: Floats
    reasons: NDArray[np.object_]
    dimensions: tuple[str, ...]
    jury: str
    fingerprint: str


def _units(
    table: RatingTable,
    raters: Names | None,
    dimensions: Names | None,
    by: By,
    certain: bool,
    worth: Mapping[str, float] | None,
) -> _Units:
    """Every answer that the jury was asked about, with its size and whether it is read in any case."""
    # Nobody's ratings decide who is read, so that whoever rated before changes nothing.
    judged = table.where(table.rows.filter(~table.rows["rater"].is_in(list(table.clinicians))))
    kinds = {name: kind for name, kind in table.raters.items() if kind != "clinician"}
    judged = replace(judged, raters=kinds, people=People())
    roles = judging_roles(judged, raters, None, need_reference=False)
    jury, judges = jury_of(roles), jurors_of(judged, roles)
    who = jury if jury in judges else "the jury"  # one judge is not a jury
    parts, _ = parts_of(judged, roles, judged.chosen(dimensions, derived=False), named=dimensions is not None)
    if by == "triage" and len(parts) != 1:
        raise MedjuryError("triage orders the answers by one dimension: name it (--dimensions).")
    sums: dict[tuple[str, str], float] = {}
    reasons: dict[tuple[str, str], str] = {}
    whose: dict[tuple[str, str], str] = {}
    digest = hashlib.sha256()
    for part in parts:
        asked = part.asked(jury) & ~part.not_applicable(jury)
        given = part.measured.oriented(part.scores(jury))
        # That the first answer of a pair is better is no danger.
        danger = None if table.pairs else part.measured.danger(table.rules)
        if worth is not None:
            sizes = np.array([worth[system] for system in part.grid.systems.tolist()])
        else:
            sizes = _sizes(
                judged, part, jury, judges, danger, by, roles.raters if raters is not None else None
            )
        for place in np.flatnonzero(asked).tolist():
            key = (str(part.grid.items[place]), str(part.grid.systems[place]))
            digest.update(
                f"{part.dimension}\0{key[0]}\0{key[1]}\0{given[place]!r}\0{sizes[place]!r}\n".encode()
            )
            sums[key] = sums.get(key, 0.0) + float(sizes[place]) ** 2
            whose[key] = str(part.grid.clusters[place])
            if np.isnan(given[place]):
                reasons[key] = UNSCORED.format(who=who) if certain else REST
            elif certain and danger is not None and given[place] <= danger[0] + 1e-9:
                reasons.setdefault(key, DANGEROUS.format(who=who))
    if not sums:
        raise MedjuryError(f"{who} scored no answer, so there is nothing to draw from.")
    keys = sorted(sums)
    return _Units(
        np.array([key[0] for key in keys]),
        np.array([key[1] for key in keys]),
        np.array([whose[key] for key in keys]),
        np.sqrt(np.array([sums[key] for key in keys])),
        np.array([reasons.get(key, REST) for key in keys], dtype=object),
        tuple(part.dimension for part in parts),
        jury,
        digest.hexdigest(),
    )


def _sizes(
    table: RatingTable,
    part: Part,
    jury: str,
    judges: Sequence[str],
    danger: tuple[float, float] | None,
    by: By,
    raters: Names | None,
) -> Floats:
    if by == "random":
        return np.ones(len(part.grid.items))
    turned = part.measured.oriented
    if by == "influence":
        votes = np.stack([turned(part.scores(name)) for name in judges])
        return influence_sizes(votes, turned(part.scores(jury)), grades=part.grades, danger=danger)
    found = triage(table, raters=raters, dimensions=part.dimension)
    rank = {(row.item, row.system): row.rank for row in found.rows}
    count = max(len(rank), 1)
    order = [
        1.0 - (rank.get((item, system), count) - 1) / count
        for item, system in zip(part.grid.items.tolist(), part.grid.systems.tolist(), strict=True)
    ]
    found_sizes: Floats = np.maximum(np.asarray(order), 1.0 / count) * 2.0
    return found_sizes


def _groups(units: _Units, whole: Whole) -> tuple[list[str], NDArray[np.int64]]:
    """The names of what is drawn, and which of them each answer belongs to."""
    if whole == "answer":
        pairs = zip(units.items.tolist(), units.systems.tolist(), strict=True)
        return [f"{item}\0{system}" for item, system in pairs], np.arange(len(units.items))
    column = units.items if whole == "case" else units.clusters
    names, codes = np.unique(column, return_inverse=True)
    return [str(name) for name in names], np.asarray(codes, dtype=np.int64)


def _of_groups(units: _Units, groups: NDArray[np.int64], count: int) -> tuple[Floats, Marks, Floats]:
    """Size of each group for what reading it costs, whether it is read in any case, and how many answers it has."""
    costs = np.bincount(groups, minlength=count).astype(np.float64)
    sure = np.bincount(groups, units.reasons != REST, minlength=count) > 0
    squares = np.bincount(groups, units.sizes**2, minlength=count)
    return np.sqrt(squares / costs), sure, costs


def _rows(
    units: _Units,
    groups: NDArray[np.int64],
    probabilities: Floats,
    chosen: Marks,
    places: NDArray[np.int64],
    seed: int,
    rule: str,
    data: str,
) -> list[QueueRow]:
    order = sorted(
        range(len(units.items)), key=lambda place: (not chosen[groups[place]], places[groups[place]], place)
    )
    return [
        QueueRow(
            str(units.items[place]),
            str(units.systems[place]),
            bool(chosen[groups[place]]),
            number if chosen[groups[place]] else None,
            float(probabilities[groups[place]]),
            str(units.reasons[place]),
            seed,
            rule,
            data,
        )
        for number, place in enumerate(order, start=1)
    ]
