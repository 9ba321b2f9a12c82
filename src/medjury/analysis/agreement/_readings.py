"""Words for coefficients. The cut-offs are conventions, not laws, and every reading says whose they are."""

from __future__ import annotations

from medjury.statistics import Estimate

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
NOT_READ = "so this tells nothing of agreement"


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
