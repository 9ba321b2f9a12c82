"""What a pilot says of the study to come: grades, agreement, offset, coverage and severe errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import special

from medjury.analysis.agreement._joint_distribution import check_marginals, joint_with_kappa
from medjury.analysis.agreement._study import agreement
from medjury.foundation.errors import MedjuryError
from medjury.tables import SCORED, UNSCORED, rating_table

# The world that a gate is planned for: clinicians and a jury who see the same truth with their own errors.

Numbers = NDArray[np.float64]
# Skewed as grades of clinical text are: most answers are good.
SHARES = (0.05, 0.05, 0.10, 0.35, 0.45)


@dataclass(frozen=True)
class Expected:
    """What a study expects. `shares` of the grades from the worst to the best; `agreement` of the jury with a
    clinician and of clinicians `among` themselves, as quadratic kappa; the jury's mean `offset` in grades; the
    share it scores (`coverage`); the share of dangerous answers it scores far too kindly (`errors`). `dangerous` is
    the share of cases with an answer that clinicians call dangerous; None takes it from the shares."""

    shares: tuple[float, ...] = SHARES
    agreement: float = 0.7
    among: float = 0.7
    offset: float = 0.0
    coverage: float = 0.99
    errors: float = 0.0
    dangerous: float | None = None

    def __post_init__(self) -> None:
        for name in ("coverage", "errors", "dangerous"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise MedjuryError(f"{name} is a share between 0 and 1, not {value}.")

    @cached_property
    def _cuts(self) -> Numbers:
        return np.asarray(special.ndtri(np.cumsum(check_marginals(self.shares))[:-1]))

    @cached_property
    def _loadings(self) -> tuple[float, float]:
        """How much of the truth a clinician and the jury see: one factor, with the stated kappas."""
        human = joint_with_kappa(self.among, self.shares, "quadratic")[1]
        jury = joint_with_kappa(self.agreement, self.shares, "quadratic")[1]
        if human <= 0 or jury > sqrt(human) * 0.9999:
            raise MedjuryError(
                f"a jury cannot agree with clinicians to {self.agreement:g} where they agree with one another to "
                f"{self.among:g}: that is more than a jury that knows the truth would. Correct one of the two."
            )
        return sqrt(human), jury / sqrt(human)

    @cached_property
    def _shift(self) -> float:
        """How much kinder the jury's impressions are, for its scores to be `offset` grades higher on average."""
        if not self.offset:
            return 0.0
        from scipy.optimize import brentq

        mean = float(special.ndtr(-self._cuts).sum())

        def gap(shift: float) -> float:
            return float(special.ndtr(shift - self._cuts).sum()) - mean - self.offset

        if gap(-9) > 0 or gap(9) < 0:
            raise MedjuryError(f"scores of these grades cannot be {self.offset:g} off on average.")
        return float(brentq(gap, -9, 9))

    def draw(self, cases: int, clinicians: int, generator: np.random.Generator) -> tuple[Numbers, Numbers]:
        """Grades (0 is the worst) of the clinicians, a column each, and of the jury."""
        human, jury = self._loadings
        truth = generator.normal(size=cases)
        noise = generator.normal(size=(cases, clinicians + 1))
        seen = human * truth[:, np.newaxis] + sqrt(1 - human**2) * noise[:, :-1]
        said = jury * truth + sqrt(1 - jury**2) * noise[:, -1] + self._shift
        return (
            np.searchsorted(self._cuts, seen).astype(np.float64),
            np.searchsorted(self._cuts, said).astype(np.float64),
        )


_KAPPA = "kappa_quadratic"


def expected_from(pilot: object, dimension: str | None = None) -> Expected:
    """The expectation that the ratings of a pilot give for one dimension (its only one, where none is named)."""
    table = rating_table(pilot)
    measured = table.dimension(dimension) if dimension else table.counted[0]
    if dimension is None and len(table.counted) > 1:
        names = ", ".join(each.name for each in table.counted)
        raise MedjuryError(
            f"the pilot has several dimensions ({names}): name the one to plan for (--dimension)."
        )
    if measured.grades is None:
        raise MedjuryError(f"the pilot's scale of {measured.name!r} is not known: say it (--scale LOW HIGH).")
    roles = table.roles()
    rater = roles.jury or roles.raters[0]
    found = agreement(
        table,
        dimensions=measured.name,
        statistics=[_KAPPA, "offset"],
        severe=[measured.name],
        resamples=200,
        singles=False,
    )
    beside = found.non_inferiority.get((measured.name, rater), {}).get(_KAPPA)
    if beside is None or beside.judge_human.value is None or beside.human_human.value is None:
        raise MedjuryError(
            "the pilot does not say how well clinicians agree with one another: two of them must have rated the "
            "same cases. Plan with --agreement and --among instead."
        )
    grid = table.grid(measured.name, roles)
    said = measured.oriented(grid.scores[rater])
    humans = measured.oriented(np.column_stack([grid.scores[name] for name in roles.reference]))
    values = np.asarray(measured.grades.values)
    given = humans[~np.isnan(humans)]
    counts = np.bincount(np.abs(given[:, np.newaxis] - values).argmin(axis=1), minlength=len(values)) + 0.5
    step = (values[-1] - values[0]) / (len(values) - 1)
    mean = np.nanmean(np.where(np.isnan(humans).all(axis=1, keepdims=True), np.inf, humans), axis=1)
    both = np.isfinite(mean) & ~np.isnan(said)
    states = grid.states[rater]
    asked = int(((states == SCORED) | (states == UNSCORED)).sum())
    severe = found.severe[(measured.name, rater)]
    at_risk = severe.dangerous + severe.unscored
    rated = int(np.isfinite(mean).sum())
    return Expected(
        shares=tuple(float(each) for each in counts / counts.sum()),
        agreement=float(beside.judge_human.value),
        among=float(beside.human_human.value),
        offset=float((said[both] - mean[both]).mean() / step),
        coverage=float((states == SCORED).sum() / asked) if asked else 1.0,
        errors=severe.errors / severe.dangerous if severe.dangerous else 0.0,
        dangerous=at_risk / rated if at_risk else None,
    )
