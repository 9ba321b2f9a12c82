"""The held-out cases: what the plain and the tuned judge are worth there, and after how many labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from medjury.analysis.agreement import classification, cohen_kappa
from medjury.instruments import Dimension, Score, Unscored
from medjury.judging import nearest_grade
from medjury.statistics import Estimate, Floats, Read, Replicates, Result, ends, replicates
from medjury.store.ratings import Rating
from medjury.studies import Humans
from medjury.tuning._labelled_cases import Labelled
from medjury.tuning._objective import Objective, Outcomes

PLAIN, TUNED, MEMORISED = "plain", "tuned", "memorised"
Known = tuple[Labelled, Outcomes]
Said = Mapping[str, Sequence[Outcomes | None]]  # by rater, what it said of each held-out case; None: nothing


@dataclass(frozen=True, slots=True)
class HeldOutRow:
    """One statistic of one rater on one dimension ("" for the objective, which has all). `unscored` cases have no
    usable answer: the objective counts them as the worst, coefficients leave them out."""

    rater: str
    dimension: str
    statistic: str
    estimate: Estimate
    unscored: int = 0

    def as_dict(self) -> dict[str, Any]:
        return {
            "rater": self.rater,
            "dimension": self.dimension,
            "statistic": self.statistic,
            **ends(self.estimate),
            "n": self.estimate.n,
            "unscored": self.unscored,
            "method": self.estimate.method,
        }


@dataclass(frozen=True, eq=False)
class HeldOut(Result[HeldOutRow]):
    """All raters on the held-out cases. What each is worth is the `objective` that was maximised, on its own scale:
    the very number of the validation cases. `gain` is the tuned judge's less the plain one's, on the same resamples
    of whole groups; `fits` is it on training cases; `on_kin` and `on_strangers` are the tuned judge's on held-out
    cases whose patient tuning saw too, and on the others."""

    rows: tuple[HeldOutRow, ...]
    gain: Estimate
    cases: int
    groups: int
    kin: int = 0
    on_kin: Estimate | None = None
    on_strangers: Estimate | None = None
    fits: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    objective: str = "the objective"

    def value(self, rater: str, statistic: str = "objective", dimension: str = "") -> Estimate:
        return self.find(rater=rater, statistic=statistic, dimension=dimension).estimate


def evaluate_held_out(
    cases: Sequence[Labelled],
    said: Said,
    objective: Objective,
    *,
    kin: frozenset[str] = frozenset(),
    fits: Mapping[str, float] | None = None,
    resamples: int = 2000,
    seed: int = 0,
) -> HeldOut:
    """Every rater against the clinicians' settled label; intervals resample whole groups."""
    how: dict[str, Any] = {"resamples": resamples, "seed": seed}
    rows: list[HeldOutRow] = []
    for rater, outcomes in said.items():
        known = [(case, each) for case, each in zip(cases, outcomes, strict=True) if each is not None]
        if not known:
            continue
        lost = sum(any(isinstance(one, Unscored) for one in each.values()) for _, each in known)
        rows.append(HeldOutRow(rater, "", "objective", _worth(objective, known, how), lost))
        for dimension in objective.dimensions:
            rows += _coefficients(rater, dimension, known, how)
    sides = {
        who: [(case, each) for case, each in zip(cases, said[who], strict=True) if each is not None]
        for who in (TUNED, PLAIN)
    }
    made = _replicated(objective, sides, how)
    near = [case.key in kin for case in cases]

    def part(side: bool) -> Estimate | None:
        known = [one for one, is_near in zip(sides[TUNED], near, strict=True) if is_near is side]
        return _worth(objective, known, how) if any(near) and known else None

    return HeldOut(
        tuple(rows),
        made.difference(f"{TUNED} {objective.statistic}", f"{PLAIN} {objective.statistic}"),
        len(cases),
        len({case.group for case in cases}),
        sum(near),
        part(True),
        part(False),
        fits or {},
        objective=objective.name,
    )


def clinicians_said(cases: Sequence[Labelled], humans: Humans, dimensions: Sequence[Dimension]) -> Said:
    """What each clinician said of the held-out cases; the one whose word settles is the yardstick, not a rater."""
    settles = humans.summary.adjudicator
    by_key: dict[tuple[str, str, str, str], Rating] = {
        (row.rater, row.item, row.system, row.dimension): row for row in humans.ratings
    }
    names = sorted(
        {row.rater for row in humans.ratings if row.rater in humans.reference and row.rater != settles}
    )
    found: dict[str, list[Outcomes | None]] = {}
    for name in names:
        own: list[Outcomes | None] = []
        for case in cases:
            rows = [by_key.get((name, case.case.id, case.case.system, each.name)) for each in dimensions]
            said = {
                row.dimension: row.outcome for row in rows if row is not None and row.status != "unscored"
            }
            own.append(said if len(said) == len(dimensions) else None)
        if any(each is not None for each in own):
            found[name] = own
    return found


def _coefficients(
    rater: str, dimension: Dimension, known: Sequence[tuple[Labelled, Outcomes]], how: Mapping[str, Any]
) -> list[HeldOutRow]:
    pairs: list[tuple[Any, ...]] = [
        (truth, nearest_grade(dimension, each.value), case.group)
        for case, outcomes in known
        if (truth := case.grade(dimension)) is not None
        and isinstance(each := outcomes[dimension.name], Score)
    ]
    lost = sum(isinstance(outcomes[dimension.name], Unscored) for _, outcomes in known)
    if not pairs:
        return []
    truths, said, groups = ([each[at] for each in pairs] for at in range(3))
    clusters = None if len(set(groups)) == len(groups) else groups
    found = {
        "kappa": cohen_kappa(truths, said, scale=list(dimension.values), clusters=clusters, **how),
        "kappa_quadratic": cohen_kappa(
            truths, said, scale=list(dimension.values), weights="quadratic", clusters=clusters, **how
        ),
    }
    classes = classification(truths, said, classes=list(dimension.values), clusters=clusters, **how)
    found |= {
        name: each
        for name, each in classes.items()
        if name in ("accuracy", "macro_f1") or name.startswith("f1_class_")
    }
    order = ("accuracy", "kappa", "kappa_quadratic", "macro_f1")
    names = [*order, *(name for name in found if name not in order)]
    return [HeldOutRow(rater, dimension.name, name, found[name], lost) for name in names]


def _replicated(
    objective: Objective, sides: Mapping[str, Sequence[Known]], how: Mapping[str, Any]
) -> Replicates:
    """The objective of each side on the same resamples of whole groups."""
    known = next(iter(sides.values()))
    tables = [objective.rows(*map(list, zip(*side, strict=True))) for side in sides.values()]
    width = tables[0].shape[1]

    def statistics(rows: Floats) -> Read:
        reads = {
            f"{who} {objective.statistic}": objective.read(rows[:, width * place : width * (place + 1)])
            for place, who in enumerate(sides)
        }
        return lambda weights: {name: read(weights) for name, read in reads.items()}

    made = replicates(np.column_stack(tables), statistics, clusters=[case.group for case, _ in known], **how)
    why = objective.why_no_interval([case for case, _ in known])
    return replace(made, refused=dict.fromkeys(made.observed, why)) if why else made


def _worth(objective: Objective, known: Sequence[Known], how: Mapping[str, Any]) -> Estimate:
    return _replicated(objective, {"": known}, how).estimate(f" {objective.statistic}")


# The learning curve: how many labelled cases it takes until tuning beats the plain prompt.


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A tuning with so many training cases, the same validation and held-out cases for all; `labels` counts both
    training and validation cases, since both were labelled for it."""

    training: int
    labels: int
    gain: Estimate

    @property
    def beats(self) -> bool:
        """Whether the interval of the gain leaves zero out, on the good side."""
        return self.gain.low is not None and self.gain.low > 0

    def as_dict(self) -> dict[str, Any]:
        return {"training": self.training, "labels": self.labels, **ends(self.gain, "gain")}


def nested(training: Sequence[Labelled], wanted: int) -> list[Labelled]:
    """The first groups of the training side, until there are so many cases: a smaller part lies within a larger."""
    found: list[Labelled] = []
    groups: dict[str, list[Labelled]] = {}
    for each in training:
        groups.setdefault(each.group, []).append(each)
    for members in groups.values():
        if len(found) >= wanted:
            break
        found += members
    return found


def labels_until_better(points: Sequence[CurvePoint]) -> int | None:
    """The fewest labels from which on every larger tuning beat the plain prompt; None where none did."""
    ordered = sorted(points, key=lambda each: each.labels)
    good = None
    for each in reversed(ordered):
        if not each.beats:
            break
        good = each.labels
    return good
