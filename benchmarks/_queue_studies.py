"""Simulated studies of what is read first: review curves, automatic decisions, the panel's disagreement with the
routine diagnosis, and the clinicians' mean where the jury says 4."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from benchmarks._studies import (
    CLINICIAN,
    JURY,
    POPULATION,
    RESAMPLES,
    SCALE,
    STRICT,
    Scores,
    Truthful,
    graded,
    quality,
)
from medjury.analysis.calibration._automatic import automatic_decisions
from medjury.analysis.calibration._before_after import reliability
from medjury.analysis.calibration._review_curve import review_curves
from medjury.analysis.calibration._routine_disagreement import disagreement_curve
from medjury.foundation.errors import MedjuryError
from medjury.statistics import undefined

JURORS, DANGEROUS, CATCH = 3, 3.0, 0.8
FRACTIONS = (0.1, 0.2, 0.5)
# Log-odds of the panel's disagreement at a mean score of 4, and per point.
DOUBT, PER_POINT, AT = -1.0, -0.9, (2.0, 3.0, 4.0, 5.0)


def queue_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """What reading the first tenth, fifth and half catches, lowest scores of the jury first; and how much reading
    that saves beside the order by which jurors differ."""
    generator = np.random.default_rng(seed)
    truth, whose = quality(generator, cases, answers)
    labels, votes = _voted(generator, truth)
    bad = labels <= DANGEROUS
    known = _queue_truths()
    if not bad.any() or bad.all():
        nothing = undefined("nothing to catch", len(bad), "")
        return {name: (nothing, true) for name, true in known.items()}
    found = review_curves(
        {"jury": -votes.mean(axis=1), "spread": np.ptp(votes, axis=1)},
        bad,
        cases=whose.tolist(),
        rule="jury",
        catch=CATCH,
        fractions=FRACTIONS,
        resamples=RESAMPLES,
        seed=seed[-1],
    )
    made = _named(found["jury"].caught, found["jury"].review_to_catch, found["jury"].area)
    made["review saved by the rule"] = found["spread"].saved_by_rule
    return {name: (made[name], true) for name, true in known.items()}


def automatic_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """Decisions at an error of 15 %: the truth is what the very rule would do to all answers."""
    generator = np.random.default_rng(seed)
    truth, whose = quality(generator, cases, answers)
    labels, votes = _voted(generator, truth)
    names = ("share decided", "error of decisions", "bad answers passed")
    try:
        found = automatic_decisions(
            votes.mean(axis=1), labels, cases=whose.tolist(), scale=(1.0, 5.0), threshold=4.0, error=0.15,
            seed=seed[-1],
        )  # fmt: skip
    except MedjuryError as error:
        return {name: (undefined(str(error), 0, ""), 0.0) for name in names}
    values, often = _everybody()
    side = dict(zip(np.round(votes.mean(axis=1), 9).tolist(), found.decisions, strict=True))
    decided = np.array([side.get(value, "refer") for value in values.tolist()])
    good = often[:, 3:].sum(axis=1)
    bad = often[:, :3].sum(axis=1)
    wrong = np.where(decided == "pass", bad, np.where(decided == "fail", good, 0.0))
    share = float(often[decided != "refer"].sum())
    known = (
        share,
        float(wrong.sum()) / share if share else 0.0,
        float(bad[decided == "pass"].sum() / bad.sum()),
    )
    made = found.share, found.error, found.missed
    return {name: each for name, *each in zip(names, made, known, strict=True)}  # type: ignore[misc]


def doubt_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """The panel disagrees with the routine diagnosis the more often, the less safe the answers look."""
    generator = np.random.default_rng(seed)
    truth, _ = quality(generator, cases, 1)
    _, votes = _voted(generator, truth)
    score = votes.mean(axis=1)
    said = generator.random(cases) < 1 / (1 + np.exp(-(DOUBT + PER_POINT * (score - 4.0))))
    known = {"slope of doubt": PER_POINT} | {
        f"P(disagrees) at {at:g}": float(1 / (1 + np.exp(-(DOUBT + PER_POINT * (at - 4.0))))) for at in AT
    }
    try:
        found = disagreement_curve(score, said.astype(float), cases=list(range(cases)), at=AT)
    except MedjuryError as error:
        return {name: (undefined(str(error), cases, ""), true) for name, true in known.items()}
    made: dict[str, Any] = {"slope of doubt": found.slope}
    made |= {f"P(disagrees) at {at:g}": each for at, each in found.curve}
    return {name: (made[name], true) for name, true in known.items()}


def reliability_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """The clinician's mean where one juror says 2, 3, 4 and 5."""
    generator = np.random.default_rng(seed)
    truth, whose = quality(generator, cases, answers)
    labels, said = graded(generator, truth, CLINICIAN), graded(generator, truth, JURY, STRICT)
    found = reliability(said, labels, cases=whose.tolist(), resamples=RESAMPLES, seed=seed[-1])
    made = {point.score: point.label for point in found.points}
    nothing = undefined("nobody said so", 0, "")
    return {f"label where the jury says {grade:g}": (made.get(grade, nothing), true)
            for grade, true in _reliability_truths().items()}  # fmt: skip


def _voted(generator: np.random.Generator, truth: Scores) -> tuple[Scores, Scores]:
    votes = [graded(generator, truth, JURY, STRICT) for _ in range(JURORS)]
    return graded(generator, truth, CLINICIAN), np.column_stack(votes)


def _named(caught: Any, review: Any, area: Any) -> dict[str, Any]:
    found = {
        f"caught by reading {100 * share:g} %": each for share, each in zip(FRACTIONS, caught, strict=True)
    }
    return found | {"review to catch 80 %": review, "area of the curve": area}


@cache
def _queue_truths() -> dict[str, float]:
    generator = np.random.default_rng(20_260_112)
    labels, votes = _voted(generator, generator.normal(size=POPULATION))
    bad = labels <= DANGEROUS
    curves = [_curve(order, bad) for order in (-votes.mean(axis=1), np.ptp(votes, axis=1))]
    reach = [float(np.interp(CATCH, caught, reviewed)) for reviewed, caught in curves]
    reviewed, caught = curves[0]
    area = float(((caught[1:] + caught[:-1]) / 2 * np.diff(reviewed)).sum())
    found = _named([float(np.interp(share, reviewed, caught)) for share in FRACTIONS], reach[0], area)
    return found | {"review saved by the rule": reach[1] - reach[0]}


def _curve(priority: Scores, bad: np.ndarray) -> tuple[Scores, Scores]:
    _, place = np.unique(np.round(-priority, 9), return_inverse=True)
    size = np.bincount(place).astype(float)
    hits = np.bincount(place, bad)
    return tuple(np.concatenate([[0.0], np.cumsum(each) / each.sum()]) for each in (size, hits))  # type: ignore


@cache
def _everybody() -> tuple[Scores, Scores]:
    generator = np.random.default_rng(20_260_113)
    labels, votes = _voted(generator, generator.normal(size=POPULATION))
    values, place = np.unique(np.round(votes.mean(axis=1), 9), return_inverse=True)
    often = np.zeros((len(values), len(SCALE)))
    np.add.at(often, (place, labels.astype(np.int64) - 1), 1.0 / POPULATION)
    return values, often


@cache
def _reliability_truths() -> dict[float, float]:
    generator = np.random.default_rng(20_260_114)
    truth = generator.normal(size=POPULATION)
    labels, said = graded(generator, truth, CLINICIAN), graded(generator, truth, JURY, STRICT)
    return {grade: float(labels[said == grade].mean()) for grade in (2.0, 3.0, 4.0, 5.0)}
