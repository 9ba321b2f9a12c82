"""Two rankings of the same systems: does the jury order them as the clinicians do?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.ranking._drawn import MACRO, Measure
from medjury.analysis.ranking._scores import SystemScores
from medjury.analysis.ranking._win_rate import SAME, Ties, win_shares
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, Printable, undefined

Floats = NDArray[np.float64]
NO_SPREAD = "all systems tie in one of the rankings"
NO_INTERVAL = (
    "no interval: systems that lie close change places by chance, and resampling does not show how often; the tie "
    "groups say which systems are told apart"
)


@dataclass(frozen=True, slots=True)
class RankingAgreement:
    """Kendall's tau-b of two rankings, and how many pairs of systems they order alike, against each other, or
    tie in one of them. `rater` is whose ranking is compared, `calibration` "before" or "after" where there is
    one."""

    tau: Estimate
    systems: tuple[str, ...]
    concordant: int
    discordant: int
    tied: int
    rater: str = ""
    calibration: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {
            "rater": self.rater,
            "calibration": self.calibration,
            "kendall_tau_b": self.tau.value,
            "low": self.tau.low,
            "high": self.tau.high,
            "systems": len(self.systems),
            "concordant": self.concordant,
            "discordant": self.discordant,
            "tied": self.tied,
            "n": self.tau.n,
            "method": self.tau.method,
            "reason": self.tau.reason,
        }

    def shown(self) -> dict[str, Printable]:
        left_out = ("low", "high", "method", "reason")
        flat = {name: value for name, value in self.as_dict().items() if name not in left_out}
        return flat | {"kendall_tau_b": self.tau}


def ranking_agreement(
    first: SystemScores,
    second: SystemScores,
    *,
    by: Measure = MACRO,
    ties: Ties = "half",
) -> RankingAgreement:
    """Kendall's tau-b between two rankings of the same systems, such as a jury's and the clinicians'.

    It has no interval. An order is a step: systems that lie close change places with the smallest change of a mean.
    Resampling adds noise to noise, so resampled orders are more alike by chance than the systems are. Quantiles of
    resampled taus held the true one in 99 to 100 % of simulated studies of three systems, in 64 to 100 % with five,
    and in none with eight. Read it beside the tie groups, which say which systems can be told apart.
    """
    if set(first.systems) != set(second.systems):
        odd = sorted(set(first.systems) ^ set(second.systems))
        raise MedjuryError(f"the rankings must hold the same systems; only one of them has {odd[0]!r}.")
    systems = first.systems
    one, two = (_signs(_measure(each.means, by, ties)) for each in (first, second))
    signs = np.triu(one * two, 1)
    pairs = len(systems) * (len(systems) - 1) // 2
    counts = int((signs > 0).sum()), int((signs < 0).sum())
    untied = float(np.sqrt((one**2).sum()) * np.sqrt((two**2).sum()))
    value = float(np.clip((one * two).sum() / untied, -1.0, 1.0)) if untied > 0 else np.nan
    cases = {name for each in (first, second) for block in each.blocks for name in block.clusters}
    n = len(cases) or len(first.benchmarks)
    tau = undefined(NO_SPREAD, n, NO_INTERVAL)
    if np.isfinite(value):
        tau = Estimate(value, None, None, n, NO_INTERVAL)
    return RankingAgreement(tau, systems, *counts, pairs - sum(counts))


def _measure(means: Floats, by: Measure, ties: Ties) -> Floats:
    """From `(systems, benchmarks)` to what ranks the systems."""
    return np.asarray((means if by == MACRO else win_shares(means, ties)).mean(axis=1))


def _signs(values: Floats) -> Floats:
    difference = values[:, np.newaxis] - values[np.newaxis, :]
    return np.asarray(np.where(np.abs(difference) <= SAME, 0.0, np.sign(difference)))
