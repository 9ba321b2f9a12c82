"""What a simulated jury comes to: a rule from one half of the cases, judged on the other half."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medjury.analysis.calibration._jury_votes import JurySignal
from medjury.analysis.calibration._written import as_json
from medjury.statistics import (
    Estimate,
    Printable,
    Result,
    Row,
    ends,
    flat,
    new_figure,
    percent,
    shown,
    text_table,
)
from medjury.version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from medjury.judging import AdaptiveRule


@dataclass(frozen=True, slots=True)
class RandomEscalation:
    """The same numbers of calls given to answers at random: what is lost then, over many draws.

    `p_value` is the share of draws that agree at least as well as the rule, itself counted in; None where the rule
    makes the same calls on every answer, so that there is nothing to draw.
    """

    loss: float
    low: float
    high: float
    draws: int
    p_value: float | None

    @property
    def beaten(self) -> bool | None:
        return None if self.p_value is None else self.p_value <= 0.05


@dataclass(frozen=True, slots=True)
class JurySplit:
    """One more split of the cases into halves: what a rule found on one comes to on the other."""

    seed: int
    jurors: tuple[str, ...]
    signal: JurySignal
    tolerance: float
    calls: float
    cost: float | None
    loss: float
    within_loss: float
    random_loss: float
    pair_loss: float


_NOTHING = Estimate(None, None, None, 0, "", "not asked for")


@dataclass(frozen=True, slots=True)
class SimulationRow(Row):
    """A policy (a way of asking jurors), a point of the curve (the rule at another `tolerance`, beside calls at
    random), a fixed jury or a dimension of the rule, as `kind` tells; None is not known. All of it is on the half
    of the cases that no rule was found on.

    `calls` and `cost` are shares of the full jury's. `spearman` is the correlation with the clinicians pooled
    over systems, dimension by dimension, and averaged; `within` the same inside each system. `loss` is the full
    jury's less this one's on the same answers and resamples of cases: below zero, it agrees better. `offset` is
    how far the mean score lies above the full jury's, in grades.
    """

    kind: str
    name: str
    jurors: tuple[str, ...] | None = None
    dimension: str | None = None
    calls: float | None = None
    cost: float | None = None
    spearman: Estimate = _NOTHING
    loss: Estimate = _NOTHING
    within: Estimate = _NOTHING
    within_loss: Estimate = _NOTHING
    offset: float | None = None
    n_unscored: int | None = None
    tolerance: float | None = None
    random_loss: float | None = None
    random_low: float | None = None
    random_high: float | None = None

    @property
    def spent(self) -> float:
        """The share of the cost, or of the calls where all calls cost the same."""
        return (self.calls if self.cost is None else self.cost) or 0.0

    def as_dict(self) -> dict[str, Any]:
        return flat(self) | {"jurors": None if self.jurors is None else " + ".join(self.jurors)}


_LOST = ("lost", "lost inside", "lost at random", "lost by the best pair")


@dataclass(frozen=True, eq=False)
class JurySimulation(Result[SimulationRow]):
    """The chosen rule and its proof. `shown` tells whether its loss was shown to be within what was wanted on the
    half it was found on. The policies among the `rows` begin with the full jury and the rule itself; fixed juries
    are there for the figure. `by_full_jury` is the full jury's agreement on each dimension."""

    rows: tuple[SimulationRow, ...]
    by_full_jury: tuple[Estimate, ...]
    jurors: tuple[str, ...]
    scales: tuple[tuple[str, tuple[float, float]], ...]  # of the dimensions
    signal: JurySignal
    rule: AdaptiveRule
    shown: bool
    wanted_loss: float
    wanted_calls: float
    random: RandomEscalation
    later: RandomEscalation | None  # by lot among answers with two calls or more; None where all have
    over_pair: Estimate | None  # the rule's agreement less that of the best fixed pair
    over_pair_within: Estimate | None
    stopped_after: tuple[int, ...]
    n_training: tuple[int, int]  # cases, answers
    n_tested: tuple[int, int]
    n_rules: int
    splits: tuple[JurySplit, ...]
    alike: float | None  # share of decisions at the threshold that are the full jury's
    warnings: tuple[str, ...]
    seed: int
    data_sha256: str  # of the votes and labels

    @property
    def beaten(self) -> bool:
        """Whether the rule kept to what was wanted and was not matched by calls at random."""
        return self.kept and self.random.beaten is not False

    def of(self, kind: str) -> list[SimulationRow]:
        return [row for row in self.rows if row.kind == kind]

    @property
    def adaptive(self) -> SimulationRow:
        return self.of("policy")[1]

    @property
    def kept(self) -> bool:
        """Whether the rule kept to what was wanted on the cases it had not seen, inside systems too."""
        found = self.adaptive
        losses = [each for each in (found.loss.value, found.within_loss.value) if each is not None]
        return bool(losses) and max(losses) <= self.wanted_loss and found.spent <= self.wanted_calls

    @property
    def proved(self) -> bool:
        """Whether the intervals, too, lie within what was wanted."""
        ends = [
            each.high for each in (self.adaptive.loss, self.adaptive.within_loss) if each.value is not None
        ]
        return self.kept and all(end is not None and end <= self.wanted_loss for end in ends)

    @property
    def _asked(self) -> int:
        """The most calls that any answer took."""
        return max(place for place, count in enumerate(self.stopped_after, start=1) if count)

    @property
    def verdict(self) -> str:
        """The result in a few sentences, plainly."""
        found, made = self.adaptive, self.random
        if found.loss.value is None:
            return f"No verdict: the loss of agreement does not exist ({found.loss.reason})."
        spent = f"{found.calls:.1%} of the full jury's calls"
        spent += "" if found.cost is None else f" at {found.cost:.1%} of its cost"
        inside = "" if found.within_loss.value is None else f", inside systems {shown(found.within_loss)}"
        lines = [
            f"On cases it was not found on, the rule makes {spent} and loses {shown(found.loss)} of Spearman's "
            f"correlation with the clinicians{inside}: " + self._judged
        ]
        left, by_full = found.n_unscored or 0, self.of("policy")[0].n_unscored or 0
        if left > by_full:
            lines.append(
                f"It leaves {left:,} scores open, the full jury {by_full:,}; agreement is "
                "compared where both have one."
            )
        if not self.shown:
            lines.append(
                f"On the half that was searched no rule could be shown to lose at most {self.wanted_loss:g}; this "
                "one was the surest."
            )
        if made.p_value is None:
            lines.append(
                f"It makes the same calls on every answer ({', '.join(self.jurors[: self._asked])}): a fixed jury, "
                "and no adaptive one, is what these votes call for."
            )
        elif made.beaten:
            lines.append(
                f"It beats the same number of calls made at random ({shown(made.loss)}, p = {made.p_value:.2g})."
            )
            lines += self._among_later
        else:
            lines.append(
                f"It does NOT beat the same number of calls made at random ({shown(made.loss)}, p = "
                f"{made.p_value:.2g}): it does not know where another juror helps."
            )
        return " ".join([*lines, *self._beside_pair])

    @property
    def _judged(self) -> str:
        if not self.kept:
            return "NOT within what was wanted."
        if self.proved:
            return "within what was wanted."
        return (
            f"within what was wanted as estimated, but not proved: the interval does not exclude more than "
            f"{self.wanted_loss:g}."
        )

    @property
    def _among_later(self) -> list[str]:
        """Stopping after one vote cannot go by disagreement: what comes after it can."""
        made = self.later
        if made is None or made.p_value is None:
            return []
        if made.beaten:
            return [
                f"The same holds among the answers with two votes or more ({shown(made.loss)}, p = "
                f"{made.p_value:.2g})."
            ]
        return [
            f"Among the answers with two votes or more it does NOT ({shown(made.loss)}, p = {made.p_value:.2g}): "
            "what it gains comes from where it stops after one vote."
        ]

    @property
    def _beside_pair(self) -> list[str]:
        gain, inside = self.over_pair, self.over_pair_within
        if gain is None or gain.value is None or self.random.p_value is None:
            return []
        more = shown(gain) + (
            "" if inside is None or inside.value is None else f", inside systems {shown(inside)}"
        )
        better = gain.low is not None and gain.low > 0
        return [
            f"Its agreement less that of the best fixed pair: {more}"
            + ("." if better else "; it is not shown to be better.")
        ]

    def to_json(self) -> str:
        return as_json(
            {
                **flat(self, "verdict", "kept", "proved"),
                "shown_on_training_half": self.shown,
                "rule": {
                    **flat(self, "jurors", "signal"),
                    **flat(self.rule, "tolerance", "minimum", "maximum", "threshold"),
                },
                "random": flat(self.random),
                "random_after_two_votes": None if self.later is None else flat(self.later),
                "over_best_pair": {
                    **({} if self.over_pair is None else ends(self.over_pair, "pooled")),
                    **({} if self.over_pair_within is None else ends(self.over_pair_within, "within")),
                },
                "rows": [row.as_dict() for row in self.rows],
                "stopped_after": list(self.stopped_after),
                "decided_alike": self.alike,
                "training": dict(
                    zip(("cases", "answers", "rules"), (*self.n_training, self.n_rules), strict=True)
                ),
                "tested": dict(zip(("cases", "answers"), self.n_tested, strict=True)),
                "splits": [flat(each) for each in self.splits],
                "warnings": list(self.warnings),
            }
        )

    def text(self, rule_file: str | None = None) -> str:
        """The tables, the verdict, and the rule as it goes into a study file, by name where it has a file."""
        (cases, answers), (tested, of_tested) = self.n_training, self.n_tested
        made, dimensions = self.random, self.of("dimension")
        lost, low, high = (shown(value) for value in flat(made, "loss", "low", "high").values())
        lines = [
            *(f"! {warning}" for warning in self.warnings),
            f"{self.n_rules:,} rules tried on {cases:,} cases ({answers:,} answers), tested on {tested:,} others "
            f"({of_tested:,}).",
            f"Spearman with the reference: the mean of {len(dimensions)} dimensions, pooled over systems and "
            "inside them.",
            "",
            *text_table(_policies(self)),
            f"\nThe same calls at random lose {lost} (95 % of {made.draws} draws: {low} to {high}).",
            f"Answers that stopped after 1, 2, … calls: {', '.join(f'{n:,}' for n in self.stopped_after)}.",
        ]
        if self.alike is not None:
            side = f"The same side of {self.rule.threshold:g} as the full jury"
            lines.append(f"{side}: {percent(self.alike, 1)} of the scores.")
        by_dimension: list[dict[str, Printable]] = [
            {
                "dimension": each.dimension,
                "full jury": full,
                "adaptive jury": each.spearman,
                "lost": each.loss,
            }
            for each, full in zip(dimensions, self.by_full_jury, strict=True)
        ]
        lines += ["\nBy dimension", *text_table(by_dimension)]
        if self.splits:
            lines += _splits(self)
        lines += [f"\n{self.verdict}", "\nFor the study file:\n", self.fragment(rule_file)]
        return "\n".join(lines)

    def fragment(self, rule_file: str | None) -> str:
        """The strategy as it goes into a study file; each juror still needs its own endpoint."""
        lines = [
            "strategy:",
            "  name: adaptive",
            "  jurors:  # in this order; complete each with kind, url and model",
        ]
        lines += [f"    - {{name: {juror}}}" for juror in self.jurors]
        rule = self.rule
        if rule_file is not None:
            return "\n".join([*lines, f"  rule: {Path(rule_file).name}"])
        if rule.widths is not None:
            return "\n".join([*lines, "  rule: rule.json  # --rule rule.json writes it: a table of widths"])
        stated = [f"tolerance: {rule.tolerance:g}", f"minimum: {rule.minimum}", f"maximum: {rule.maximum}"]
        stated += [f"threshold: {rule.threshold:g}"] if rule.threshold is not None else []
        return "\n".join([*lines, f"  rule: {{{', '.join(stated)}}}"])

    def plot(self) -> Figure:
        """Agreement lost against what is spent."""
        return jury_figure(self)

    def save_rule(self, path: str | Path, *, ratings: str | Path = "") -> None:
        """Write the rule as .json, for `rule: FILE` in a study file; `ratings` names where the votes came from."""
        from medjury.judging import SavedAdaptiveRule

        learnt = {
            "signal": self.signal,
            "seed": self.seed,
            "cases": self.n_training[0],
            "ratings": Path(ratings).name,
            "data_sha256": self.data_sha256,
            "medjury": __version__,
            "result": self.verdict,
        }
        SavedAdaptiveRule(self.rule, self.jurors, dict(self.scales)).save(path, learnt)


def _policies(found: JurySimulation) -> Sequence[Mapping[str, Printable]]:
    return [
        {
            "policy": each.name,
            "jurors": ", ".join(each.jurors or ()),
            "calls": percent(each.calls, 1),
            "cost": None if each.cost is None else percent(each.cost, 1),
            "Spearman": each.spearman,
            "lost": each.loss,
            "inside systems": shown(None) if each.within.value is None else each.within,
            "lost inside": shown(None) if each.within_loss.value is None else each.within_loss,
            "offset": shown(each.offset, 2),
        }
        for each in found.of("policy")
    ]


def _splits(found: JurySimulation) -> list[str]:
    rows: list[dict[str, Printable]] = [
        {
            **flat(each, "seed", "signal", "tolerance"),
            "jurors": ", ".join(each.jurors),
            "calls": percent(each.calls, 1),
            "cost": None if each.cost is None else percent(each.cost, 1),
            **dict(
                zip(
                    _LOST, flat(each, "loss", "within_loss", "random_loss", "pair_loss").values(), strict=True
                )
            ),
        }
        for each in found.splits
    ]
    spent = [each.calls if each.cost is None else each.cost for each in found.splits]
    cheap = [each for each, share in zip(found.splits, spent, strict=True) if share <= found.wanted_calls]
    pooled = [each for each in cheap if each.loss <= found.wanted_loss]
    inside = [each for each in pooled if not each.within_loss > found.wanted_loss]
    return [
        f"\nThe same with {len(found.splits)} further splits of the cases",
        *text_table(rows),
        f"Of {len(found.splits)} splits {len(pooled)} kept to what was wanted on the cases they were not found on, "
        f"{len(inside)} of them inside systems too.",
    ]


_RULE, _RANDOM, _FIXED, _SOFT = "#4c78a8", "#9a9a9a", "#f58518", "#55636f"


def jury_figure(found: JurySimulation) -> Figure:
    """Agreement lost against what is spent: the rule at every tolerance with its interval, calls at random, every
    fixed jury, and the full jury at zero."""
    figure = new_figure(6.4, 4.0)
    axes = figure.subplots()
    curve = [
        (each.spent, each.loss, each.loss.value, each.random_loss)
        for each in sorted(found.of("curve"), key=lambda point: point.spent)
        if each.loss.value is not None and each.random_loss is not None and isfinite(each.random_loss)
    ]
    # A poor fixed jury would flatten the curve; it is drawn at the edge.
    ends = [end for _, loss, *both in curve for end in (loss.low, loss.high, *both) if end is not None]
    worst = max([*ends, found.wanted_loss])
    fixed = [(each.spent, min(each.loss.value or 0.0, worst)) for each in found.of("fixed")]
    band = [
        (spent, loss.low, loss.high)
        for spent, loss, *_ in curve
        if loss.low is not None and loss.high is not None
    ]
    if len(band) > 1:
        across, low, high = zip(*band, strict=True)
        axes.fill_between(across, low, high, color=_RULE, alpha=0.18, linewidth=0)
    axes.axhline(0.0, color=_SOFT, linewidth=0.8)
    spent = [each[0] for each in curve]
    axes.plot(spent, [each[3] for each in curve], color=_RANDOM, linestyle="--", label="calls at random")
    axes.plot(spent, [each[2] for each in curve], color=_RULE, label="the rule, with its interval")
    if fixed:
        across, lost = zip(*fixed, strict=True)
        axes.scatter(across, lost, s=18, color=_FIXED, label="fixed juries")
    if found.adaptive.loss.value is not None:
        axes.plot(found.adaptive.spent, found.adaptive.loss.value, marker="o", markersize=9, color=_RULE,
                  markerfacecolor="none", linestyle="none", label="the chosen rule")  # fmt: skip
    axes.plot(1.0, 0.0, marker="o", color="black", linestyle="none", label="full jury")
    axes.invert_yaxis()
    what = "calls" if found.adaptive.cost is None else "cost"
    axes.set(xlabel=f"{what}, as a share of what the full jury takes", ylabel="Spearman lost (up is better)")
    axes.set_title("On cases that no rule was found on", fontsize=9)
    axes.legend(fontsize=7)
    return figure
