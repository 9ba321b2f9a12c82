"""The same answers for every rater: raters are compared only where clinicians and all of them gave a score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from medjury.analysis.agreement import over_pairs, too_few_each, two_rater_statistics
from medjury.statistics import Floats, Replicates, combined, replicates
from medjury.tables import Measured, RatingTable, Roles
from medjury.validation._evidence import gate_statistic

Unit = tuple[str, str]


@dataclass(frozen=True, eq=False)
class SameAnswers:
    """One dimension on its shared answers, development cases left out. `given` has the scores of the raters that
    are compared; one that scored fewer than half of the clinicians' answers is compared with nobody, as all would
    be compared on what it happened to score. `scored` counts every rater's answers among the `rated`. `humans` are
    the columns that agreement is averaged over: single clinicians where two or more scored an answer, as in the
    gate, else their mean. `danger` is the clinicians' score by which an answer is dangerous. `left_out` are answers
    of clinicians that some rater did not score."""

    dimension: Measured
    statistic: str
    units: tuple[Unit, ...]
    clusters: tuple[str, ...]
    left_out: tuple[Unit, ...]
    reference: Floats
    danger: Floats
    humans: Floats
    given: Mapping[str, Floats]
    scored: Mapping[str, int]
    rated: int


def same_answers(table: RatingTable, roles: Roles, dimension: Measured, raters: Sequence[str]) -> SameAnswers:
    """The shared answers of one dimension."""
    grid = table.grid(dimension.name, roles)
    reference = table.reference_scores(grid, roles.reference)
    humans = np.column_stack([grid.scores[name] for name in roles.reference])
    several = (~np.isnan(humans)).sum(axis=1) > 1
    rated = several if several.any() else ~np.isnan(reference)
    if not several.any():
        humans = reference[:, np.newaxis]
    scored = {
        name: int((~np.isnan(grid.scores[name]) & rated).sum()) for name in raters if name in grid.scores
    }
    present = [name for name, count in scored.items() if count and 2 * count >= rated.sum()]
    whole = rated.copy()
    for name in present:
        whole &= ~np.isnan(grid.scores[name])
    units = list(zip(grid.items.tolist(), grid.systems.tolist(), strict=True))
    return SameAnswers(
        dimension,
        gate_statistic(table.rules, dimension),
        tuple(units[place] for place in np.flatnonzero(whole)),
        tuple(grid.clusters[whole].tolist()),
        tuple(units[place] for place in np.flatnonzero(rated & ~whole)),
        reference[whole],
        table.danger_word(grid, dimension, roles.reference)[whole],
        humans[whole],
        {name: grid.scores[name][whole] for name in present},
        scored,
        int(rated.sum()),
    )


def mean_key(rater: str) -> str:
    """The name of a rater's mean over dimensions among the replicates."""
    return f"\0{rater}"


def agreement_key(part: SameAnswers, rater: str) -> str:
    """The name of a rater's agreement on one dimension among the replicates."""
    return f"{part.dimension.name}\0{rater}\0{part.statistic}"


def resampled(parts: Sequence[SameAnswers], *, resamples: int, seed: int) -> Replicates | None:
    """Every rater's agreement on every dimension, and its mean over those that are `averaged`, all on the same
    resamples of whole patients (cases, where no patient is known); None where no answer is shared."""
    known = [part for part in parts if part.units and part.given]
    if not known:
        return None
    rows, clusters = _side_by_side(known)
    statistics, start = [], 0
    for part in known:
        several = part.humans.shape[1]
        for place, rater in enumerate(part.given):
            pairs = [(start + human, start + several + place) for human in range(several)]
            statistics.append(
                over_pairs(
                    two_rater_statistics([part.statistic], part.dimension.grades),
                    rows,
                    pairs,
                    agreement_key(part, rater).removesuffix(part.statistic),
                    humans=part.humans,
                )
            )
        start += several + len(part.given)
    made = replicates(rows, combined(*statistics), clusters=clusters, resamples=resamples, seed=seed)
    refused = {
        agreement_key(part, rater): few
        for part in known
        if (few := too_few_each(part.humans, part.statistic))
        for rater in part.given
    }
    return _with_means(replace(made, refused=refused), known)


def complete(parts: Sequence[SameAnswers]) -> list[SameAnswers]:
    """The dimensions on which every rater is compared that is compared on any; where there is none such, all.
    A way of judging may rate some dimensions only, and raters are compared on the same ones."""
    known = [part for part in parts if part.units and part.given]
    raters = {rater for part in known for rater in part.given}
    return [part for part in known if raters <= set(part.given)] or known


def averaged(made: Replicates, parts: Sequence[SameAnswers]) -> list[SameAnswers]:
    """The dimensions that are in the means: of the complete ones, those on which everyone's agreement exists;
    where there is none such, those on which anyone's does (it does not where clinicians all say the same)."""
    among = complete(parts)

    def exists(part: SameAnswers) -> list[bool]:
        return [np.isfinite(made.observed.get(agreement_key(part, rater), np.nan)) for rater in part.given]

    return [part for part in among if all(exists(part))] or [part for part in among if any(exists(part))]


def _with_means(made: Replicates, parts: Sequence[SameAnswers]) -> Replicates:
    """A rater that lacks one of the dimensions has no mean."""
    dimensions = averaged(made, parts)
    observed, drawn, left_out = dict(made.observed), dict(made.resampled), dict(made.left_out)
    refused = dict(made.refused)
    for rater in dict.fromkeys(name for part in parts for name in part.given):
        keys = [agreement_key(part, rater) for part in dimensions]
        if keys and all(key in observed for key in keys):
            observed[mean_key(rater)] = float(np.mean([observed[key] for key in keys]))
            refused |= {mean_key(rater): refused[key] for key in keys if key in refused}
            for values in (drawn, left_out):
                if all(key in values for key in keys):
                    values[mean_key(rater)] = np.mean([values[key] for key in keys], axis=0)
    return replace(made, observed=observed, resampled=drawn, left_out=left_out, refused=refused)


def _side_by_side(parts: Sequence[SameAnswers]) -> tuple[Floats, np.ndarray[Any, Any]]:
    """One row per answer, one block of columns per dimension: its clinicians, then its raters."""
    places: dict[Unit, int] = {}
    clusters: list[str] = []
    for part in parts:
        for unit, cluster in zip(part.units, part.clusters, strict=True):
            if places.setdefault(unit, len(places)) == len(clusters):
                clusters.append(cluster)
    blocks = []
    for part in parts:
        columns = np.column_stack([part.humans, *part.given.values()])
        if part.statistic == "kappa_quadratic" and part.dimension.grades is not None:
            columns = part.dimension.grades.grade(columns)
        block = np.full((len(places), columns.shape[1]), np.nan)
        block[[places[unit] for unit in part.units]] = columns
        blocks.append(block)
    return np.hstack(blocks), np.asarray(clusters, dtype=object)
