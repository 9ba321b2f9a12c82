"""What every audit returns: findings with their intervals, what was left out, and how far to believe it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, Printable, Result, Row, counted, ends, flat, p_value, text_table

if TYPE_CHECKING:
    import polars


# An audit with more findings than this shows those that stand out, unless all are asked for.
SHORT = 40


@dataclass(frozen=True, slots=True)
class Finding(Row):
    """One estimate of an audit: about which rater, on which dimension, in which group.

    `group` says what is compared (a vendor, a patient group, the other dimension, two versions). `p_adjusted`
    is corrected for all findings of the same statistic in the audit. `verdict` says in plain words what the
    numbers allow; it is empty for findings that only describe. `stands_out` marks those a reader must see.
    """

    statistic: str
    estimate: Estimate
    rater: str = ""
    dimension: str = ""
    group: str = ""
    n_unscored: int = 0
    p_value: float | None = None
    p_adjusted: float | None = None
    verdict: str = ""
    stands_out: bool = False
    audit: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {
            **flat(self, "audit", "statistic", "rater", "dimension", "group"),
            **ends(self.estimate),
            "n": self.estimate.n,
            **flat(self, "n_unscored", "p_value", "p_adjusted", "verdict", "stands_out"),
            "method": self.estimate.method,
            "reason": self.estimate.reason,
        }

    def shown(self) -> Mapping[str, Printable]:
        """What fits on a screen."""
        return {
            **flat(self, "statistic", "rater", "dimension", "group"),
            "value": self.estimate,
            "p_adjusted": "" if self.p_adjusted is None else p_value(self.p_adjusted),
            "verdict": self.verdict,
            "n": self.estimate.n,
            "n_unscored": self.n_unscored,
        }


class Findings(Result[Finding]):
    """Rows of findings: the columns are there, with their types, also where a value is not."""

    __slots__ = ()

    def frame(self) -> polars.DataFrame:
        import polars as pl

        kinds = {"n": pl.Int64, "n_unscored": pl.Int64, "stands_out": pl.Boolean}
        kinds |= dict.fromkeys(("value", "low", "high", "p_value", "p_adjusted"), pl.Float64)
        names = Finding("", Estimate(0.0, None, None, 0, "")).as_dict()
        schema = {name: kinds.get(name, pl.String) for name in names}
        return pl.DataFrame([row.as_dict() for row in self.rows], schema=schema)

    def shown_rows(self) -> Sequence[Mapping[str, Printable]]:
        return [row.shown() for row in self.rows]


@dataclass(frozen=True, slots=True)
class Audit(Findings):
    """The result of one audit. `n` counts the ratings it used, `n_unscored` those without a score."""

    name: str
    rows: tuple[Finding, ...]
    n: int
    n_unscored: int
    method: str
    warnings: tuple[str, ...] = ()

    def text(self, *, everything: bool = False, most: int | None = None) -> str:
        """The method and the findings; of a long list only what stands out, unless `everything` is asked for. With
        `most`, no more than so many findings that stand out, and as many warnings."""
        whole = everything or (most is None and len(self.rows) <= SHORT)
        kept = [row for row in self.rows if whole or row.stands_out]
        out = len(kept)
        kept, warnings = (kept, self.warnings) if most is None else (kept[:most], self.warnings[:most])
        lines = [
            f"{self.name} (n {self.n:,}, unscored {self.n_unscored:,})",
            self.method,
            *(f"! {warning}" for warning in warnings),
            *text_table([row.shown() for row in kept]),
        ]
        if len(warnings) < len(self.warnings):
            lines.append(f"! {counted(len(self.warnings) - len(warnings), 'warning')} more (--all)")
        if out > len(kept):
            lines.append(f"{counted(out - len(kept), 'finding')} more that stand out (--all prints them)")
        if left := len(self.rows) - out:
            lines.append(
                f"{left} other findings do not stand out or are only descriptive (--all prints them)"
            )
        return "\n".join(lines)


def names(listed: Sequence[object], most: int = 5) -> str:
    """A short list for a message: the first few, and how many more there are."""
    shown = ", ".join(str(each) for each in listed[:most])
    return shown if len(listed) <= most else f"{shown} and {len(listed) - most} more"


# Multiplicity: many comparisons find something by chance alone, so p-values are corrected together.

Adjustment = Literal["holm", "benjamini_hochberg", "none"]
# Above zero, below zero, not shown.
Verdicts = tuple[str, str, str]
ADJUSTMENTS: tuple[Adjustment, ...] = ("holm", "benjamini_hochberg", "none")


def adjust(p_values: Sequence[float | None], rule: Adjustment = "holm") -> list[float | None]:
    """Adjusted p-values in the same order; None stays None and does not count as a comparison.

    `holm`: the chance of any false finding stays below the level; p₍ᵢ₎·(m − i + 1), made monotone upwards.
    Holm (1979) Scand J Stat 6:65-70. `benjamini_hochberg`: the expected share of false findings among those
    found stays below the level; p₍ᵢ₎·m/i, made monotone downwards. Benjamini & Hochberg (1995) JRSS B
    57:289-300.

    >>> adjust([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    >>> adjust([0.01, 0.04, 0.03], "benjamini_hochberg")
    [0.03, 0.04, 0.04]
    """
    if rule not in ADJUSTMENTS:
        raise MedjuryError(f"There is no adjustment {rule!r}. There are {', '.join(ADJUSTMENTS)}.")
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    count = len(known)
    if rule == "holm":
        running = 0.0
        for order, (p, place) in enumerate(known):
            running = max(running, min(1.0, p * (count - order)))
            adjusted[place] = running
    elif rule == "benjamini_hochberg":
        running = 1.0
        for order, (p, place) in reversed(list(enumerate(known, start=1))):
            running = min(running, p * count / order)
            adjusted[place] = running
    else:
        for p, place in known:
            adjusted[place] = p
    return adjusted


def adjusted(
    findings: Sequence[Finding],
    rule: Adjustment,
    *,
    confidence: float,
    verdicts: Mapping[str, Verdicts],
    family: Callable[[Finding], object] = lambda finding: finding.statistic,
) -> list[Finding]:
    """The findings, in their order, with adjusted p-values and a verdict. `verdicts` holds those of every statistic
    that is tested; others only describe. What is of one `family` is corrected together."""
    families: dict[object, list[int]] = {}
    for place, finding in enumerate(findings):
        if finding.statistic in verdicts:
            families.setdefault(family(finding), []).append(place)
    made = list(findings)
    for places in families.values():
        for place, p in zip(places, adjust([made[k].p_value for k in places], rule), strict=True):
            value = made[place].estimate.value
            if p is None or value is None:
                continue
            above, below, neither = verdicts[made[place].statistic]
            shown = p <= 1.0 - confidence
            verdict = neither if not shown else above if value > 0 else below
            made[place] = replace(made[place], p_adjusted=p, verdict=verdict, stands_out=shown)
    return made
