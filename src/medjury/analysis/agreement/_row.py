"""One row of an agreement table: an estimate, what it rests on, what was not scored, and its size in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from medjury.statistics import Estimate, ends, flat, p_value, shown, supported


@dataclass(frozen=True, slots=True)
class Counts:
    """What a row rests on. `n` units have both scores; on `n_unscored` a score was asked for and failed, on
    `n_not_applicable` a rater rightly gave none, on `n_absent` a rater has no row at all. `coverage` is n
    over the units the reference scored. Ceiling and floor are shares at the highest and lowest grade; None
    without a scale."""

    n: int = 0
    n_unscored: int = 0
    n_not_applicable: int = 0
    n_absent: int = 0
    coverage: float | None = None
    ceiling_reference: float | None = None
    ceiling_rater: float | None = None
    floor_reference: float | None = None
    floor_rater: float | None = None


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """One statistic of one pair of raters (or groups) on one dimension.

    `level` is the averaging level: "item" compares single scores, "system" the systems' means. `system` names
    the only system the row is about, empty where all are pooled."""

    dimension: str
    reference: str
    rater: str
    statistic: str
    estimate: Estimate
    counts: Counts = Counts()
    level: str = "item"
    system: str = ""
    p_value: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """The row as `--json` prints it; the first ten names are stable, the last three are older names for the
        same."""
        estimate, counts = self.estimate, self.counts
        return {
            **flat(self, "dimension", "reference", "rater", "statistic"),
            **ends(estimate),
            **flat(estimate, "n"),
            "n_unscored": counts.n_unscored,
            **flat(estimate, "method", "reason"),
            **flat(self, "level", "system", "p_value"),
            **{name: value for name, value in flat(counts).items() if name not in ("n", "n_unscored")},
            "reading": reading(self.statistic, estimate),
            "compare": self.rater,
            "ceiling_compare": counts.ceiling_rater,
            "floor_compare": counts.floor_rater,
        }

    def shown(self, *, fitted: bool = False) -> str:
        """The estimate as text: value, interval and p-value, or why there is none; `fitted` to a narrow screen,
        with the digits that the interval supports."""
        text = supported(self.estimate) if fitted else shown(self.estimate)
        if self.estimate.value is None or self.p_value is None:
            return text
        said = p_value(self.p_value)
        return f"{text}, p {said}" if said.startswith("<") else f"{text}, p = {said}"


# Words for coefficients. The cut-offs are conventions, not laws, and every reading says whose they are.


_LANDIS_KOCH = (
    (0.0, "poor"),
    (0.20, "slight"),
    (0.40, "fair"),
    (0.60, "moderate"),
    (0.80, "substantial"),
    (1.0, "almost perfect"),
)
_KOO_LI = ((0.50, "poor"), (0.75, "moderate"), (0.90, "good"), (1.0, "excellent"))
_KOO_LI_STATISTICS = ("icc_",)
_LANDIS_KOCH_STATISTICS = (
    "kappa",
    "fleiss_kappa",
    "conger_kappa",
    "brennan_prediger",
    "gwet_ac1",
    "gwet_ac2",
)


# In a method: the coefficient exists, and its size says nothing of agreement.
NOT_READ = "so this says nothing about agreement"


def landis_koch(value: float) -> str:
    """The word of Landis and Koch (1977, Biometrics 33:159-174) for a kappa.

    >>> landis_koch(0.41), landis_koch(-0.1)
    ('moderate', 'poor')
    """
    if value < 0:
        return "poor"
    return next((word for limit, word in _LANDIS_KOCH[1:] if value <= limit), "almost perfect")


def koo_li(value: float) -> str:
    """The word of Koo and Li (2016, J Chiropr Med 15:155-163) for an intraclass correlation.

    >>> koo_li(0.82), koo_li(0.5)
    ('good', 'moderate')
    """
    return next((word for limit, word in _KOO_LI[:-1] if value < limit), "excellent")


def reading(statistic: str, estimate: Estimate) -> str:
    """A plain-language reading of an estimate, marked as convention; empty where no convention exists.

    It is read over the whole interval, as Koo and Li ask: an ICC of 0.8 from 0.4 to 0.95 is "poor to
    excellent", which is what the data support. Landis and Koch wrote for unweighted kappa; for the other
    coefficients corrected for chance their words are borrowed, and a weighted kappa is not comparable with
    an unweighted one.

    >>> reading("icc_2_1", Estimate(0.8, 0.6, 0.92, 30, "F"))
    'moderate to excellent (Koo-Li convention)'
    """
    if estimate.value is None or "_change_" in statistic:
        return ""
    if NOT_READ in estimate.method:
        return "not to be read: a rater never varies"
    if statistic.startswith(_KOO_LI_STATISTICS):
        word, convention = koo_li, "Koo-Li"
    elif statistic.startswith(_LANDIS_KOCH_STATISTICS):
        word, convention = landis_koch, "Landis-Koch"
    else:
        return ""
    low = word(estimate.value if estimate.low is None else estimate.low)
    high = word(estimate.value if estimate.high is None else estimate.high)
    return f"{low if low == high else f'{low} to {high}'} ({convention} convention)"
