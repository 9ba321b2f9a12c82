"""Triage of a rating table: one dimension, its judges, and the clinicians' scores where there are any."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from medjury.analysis.calibration._automatic import AutomaticDecisions, Decide, automatic_decisions
from medjury.analysis.calibration._conformal import HeldOutSets, measure_sets
from medjury.analysis.calibration._maps import FOLDS, check_confidence
from medjury.analysis.calibration._part import (
    Part,
    judging_roles,
    jurors_of,
    jury_of,
    one_dimension,
    oriented_part,
)
from medjury.analysis.calibration._review_curve import ReviewCurve, review_figure
from medjury.analysis.calibration._review_order import ReviewOrder, first_to_read, review_order
from medjury.analysis.calibration._routine_disagreement import LabelTriage, label_triage
from medjury.analysis.calibration._written import as_json
from medjury.foundation.errors import MedjuryError
from medjury.statistics import (
    Floats,
    Printable,
    Result,
    counted,
    ends,
    flat,
    percent,
    shown,
    text_table,
)
from medjury.tables import JuryRule, Names, rating_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# What triage comes to: the order in which a clinician reads, what it is worth, and what needs no reading.


@dataclass(frozen=True, slots=True)
class TriageRow:
    """One unit in the order of review; what is not known is None, what was not asked for is not there."""

    rank: int
    item: str
    system: str
    priority: float | None
    jury: float | None
    more: Mapping[str, Any]

    def as_dict(self) -> dict[str, Any]:
        return {**flat(self, "rank", "item", "system", "priority", "jury"), **self.more}


def ranked_rows(
    part: Part, jury: str, priority: Floats, more: Callable[[int], Mapping[str, Any]]
) -> tuple[TriageRow, ...]:
    """The units in the order of review, with what there is to know of each place."""
    grid, scores = part.grid, part.scores(jury)
    return tuple(
        TriageRow(
            rank,
            str(grid.items[place]),
            str(grid.systems[place]),
            number_or_none(priority[place]),
            number_or_none(scores[place]),
            more(place),
        )
        for rank, place in enumerate(first_to_read(priority).tolist(), start=1)
    )


@dataclass(frozen=True, eq=False)
class Triage(Result[TriageRow]):
    """The order for review and, with a reference, the curves behind it, the conformal set of every unit,
    and the units that may be decided automatically. `raters` are the judges behind the `jury`, whose votes became
    one by `jury_rule`; `reversed` tells that high scores were the dangerous ones. `danger` is the score of the
    `reference` by which each unit is dangerous."""

    part: Part
    jury: str
    raters: tuple[str, ...]
    order: ReviewOrder
    sets: HeldOutSets | None
    automatic: AutomaticDecisions | None
    reversed: bool
    warnings: tuple[str, ...]
    labels: tuple[LabelTriage, ...]
    reference: tuple[str, ...]
    jury_rule: JuryRule
    danger: Floats
    # What was asked for, on the scale on which low is dangerous.
    threshold: float
    gap: float | None
    catch: float
    level: float
    decide_at: float | None
    error: float
    confidence: float
    folds: int

    @property
    def dimension(self) -> str:
        return self.part.dimension

    @property
    def curves(self) -> Mapping[str, ReviewCurve] | None:
        return self.order.curves

    @property
    def n_labelled(self) -> int:
        return self.order.n_labelled

    @property
    def n_dangerous(self) -> int:
        return self.order.n_dangerous

    @cached_property
    def rows(self) -> tuple[TriageRow, ...]:  # type: ignore[override]
        def more(place: int) -> dict[str, Any]:
            found: dict[str, Any] = {
                name: number_or_none(values[place]) for name, values in self.order.signals.items()
            }
            if self.sets is not None:
                found["grade_low"] = number_or_none(self.sets.sets.low[place])
                found["grade_high"] = number_or_none(self.sets.sets.high[place])
            if self.automatic is not None:
                found["decision"] = str(self.automatic.decisions[place])
            return found

        return ranked_rows(self.part, self.jury, self.order.priority, more)

    def plot(self) -> Figure:
        """The share caught by the share reviewed, by the rule and by the jury's score alone."""
        caught = f"{self.order.target}s caught (%)"
        return review_figure(f"{self.dimension} (n = {self.n_labelled:,})", self.curves or {}, caught)

    def to_json(self) -> str:
        """An object with the whole `ranking`, the `curves` and what was decided."""
        made = self.order
        counts = ("n_labelled", "n_dangerous", "n_severe", "n_unscored")
        content: dict[str, Any] = {
            "dimension": self.dimension,
            "raters": list(self.raters),
            "reversed": self.reversed,
            "threshold": self.threshold,
            **flat(made, "how", "weights", *counts),
            "ranking": [row.as_dict() for row in self.rows],
            "warnings": list(self.warnings),
        }
        if made.curves is not None:
            content["curves"] = [
                {"order": name, "reviewed": share, **ends(caught, "caught"), "random": share}
                for name, curve in made.curves.items()
                for share, caught in zip(curve.reviewed, curve.caught, strict=True)
            ]
            content["review_to_catch"] = [
                {
                    "order": name,
                    "catch": self.catch,
                    **ends(curve.review_to_catch, "review"),
                    **flat(curve, "area", *(() if curve.saved_by_rule is None else ("saved_by_rule",))),
                }
                for name, curve in made.curves.items()
            ]
        if self.sets is not None:
            content["conformal"] = {"level": self.level, **flat(self.sets, "coverage", "mean_width")}
        if self.automatic is not None:
            names = ("share", "error", "missed", "n_taught", "n_tested", "n_decided", "n_wrong", "guarantee")
            own = {"threshold": self.decide_at, "error_level": self.error}
            content["automatic"] = {**own, **flat(self.automatic, *names)}
        if self.labels:
            content["labels"] = [each.as_dict() for each in self.labels]
        return as_json(content)

    def text(self, top: int = 20) -> str:
        """The first of the order, then what it is worth."""
        lines = [f"! {warning}" for warning in self.warnings]
        lines += text_table(self._first(top))
        if len(self.rows) > top:
            lines.append(
                f"… and {len(self.rows) - top:,} more: --top {len(self.rows)} shows all, --out FILE.csv writes them"
            )
        lines.append(f"\nOrder: {self.order.how}.")
        if self.curves is not None:
            lines += ["", self._caught(), *text_table(self._worth(self.curves))]
        if self.sets is not None:
            lines.append(
                f"\nConformal sets at {percent(self.level)}: coverage {shown(self.sets.coverage)} on "
                f"held-out cases,\n{shown(self.sets.mean_width)} grades wide on average."
            )
        if self.automatic is not None:
            lines += ["", *self._harm(self.automatic), self.automatic.guarantee]
        for each in self.labels:
            lines += ["", *each.lines()]
        return "\n".join(lines)

    def _first(self, top: int) -> list[dict[str, Printable]]:
        """The first of the order; one judge's score is headed by its name."""
        head = self.jury if self.jury in self.raters else "jury"
        return [
            {head if name == "jury" else name: value for name, value in row.as_dict().items()}
            for row in self.rows[:top]
        ]

    def _harm(self, made: AutomaticDecisions) -> list[str]:
        """What deciding without a clinician does: how many bad answers nobody would see, then what it saves."""
        at = f"{self.decide_at:g}"
        if made.cut is None:
            return [f"Nothing can be decided at {at} without a clinician."]
        if made.missed.value is None:
            lines = [
                f"HARM NOT KNOWN: no tested case lies below {at}, so nobody can say how many bad answers would "
                "pass unseen. Label bad answers before this rule decides anything."
            ]
        else:
            bad = made.missed.n
            lines = [
                f"HARM FIRST: of the bad answers (reference below {at}) {percent(made.missed.value)} would pass "
                f"without a clinician seeing them: {round(made.missed.value * bad)} of {bad} tested, "
                f"{shown(made.missed)}."
            ]
            if made.missed.value > self.error:
                lines.append(
                    "Do not let this rule pass answers: its decisions are seldom wrong only because bad answers "
                    "are rare."
                )
        saved = f"At that price {percent(made.share.value)} of the cases need no clinician"
        return [*lines, f"{saved}; {made.n_wrong} of {made.n_decided} tested decisions were wrong."]

    def _caught(self) -> str:
        made = self.order
        found = counted(made.n_dangerous if made.n_severe is None else made.n_severe, made.target)
        meant = f"the reference scored {self.threshold:g} or less"
        who = self.jury if self.jury in self.raters else "the jury"
        meant += "" if self.gap is None else f" and {who} {self.gap:g} or more higher"
        return f"Share of cases to review to catch {percent(self.catch)} of {found} ({meant})"

    def _worth(self, curves: Mapping[str, ReviewCurve]) -> Sequence[Mapping[str, Printable]]:
        rows: list[dict[str, Printable]] = [
            {
                "order": name.replace("_", " "),
                "review": curve.review_to_catch,
                "area": curve.area,
                "rule saves": curve.saved_by_rule,
            }
            for name, curve in curves.items()
            if name != "jury" or self.jury not in self.raters  # one judge has a line under its own name
        ]
        return [*rows, {"order": "random", "review": self.catch, "area": 0.5, "rule saves": None}]


def number_or_none(value: float) -> float | None:
    return None if value != value else float(value)


def triage(
    table: object,
    *,
    raters: Names | None = None,
    reference: Names | None = None,
    dimensions: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
    high_is_dangerous: bool | None = None,
    threshold: float | None = None,
    gap: float | None = None,
    boundary: float | None = None,
    level: float = 0.9,
    catch: float = 0.8,
    decide_at: float | None = None,
    decide: Decide = "both",
    error: float = 0.05,
    folds: int = FOLDS,
) -> Triage:
    """Rank the units of a rating table for review on one dimension.

    A dangerous answer is one that the reference scored `threshold` or less, by default the table's own rule of
    danger; with `gap`, only severe errors count: those that the jury in addition scored `gap` or more higher.
    Scores of a dimension on which lower is better (the table says so, or `high_is_dangerous`) are read the
    other way round first; `threshold`, `boundary` and `decide_at` are then on the reversed scale, low
    being dangerous. `decide_at` asks which units can be decided automatically at that score. `labels` of the result
    tells, for each label that the run's cases have, how well the jury's score finds the labelled cases.
    """
    table = rating_table(table)
    check_confidence(confidence)
    roles = judging_roles(table, raters, reference, need_reference=False)
    part, turned = oriented_part(table, roles, one_dimension(table, dimensions), high_is_dangerous)
    jury, judges = jury_of(roles), jurors_of(table, roles)
    danger = part.measured.danger(table.rules)
    assert danger is not None
    cut = danger[0] if threshold is None else threshold
    effort: dict[str, Any] = {
        "resamples": table.resamples(resamples),
        "seed": table.seed(seed),
        "confidence": confidence,
    }
    word = table.danger_word(part.grid, part.measured, roles.reference)
    found = review_order(
        part.scores(jury),
        {name: part.scores(name) for name in judges},
        cases=part.drawn_as,
        grades=part.grades,
        labels=part.labels if roles.reference else None,
        danger=word if roles.reference else None,
        threshold=cut,
        gap=gap,
        boundary=boundary,
        level=level,
        catch=catch,
        folds=folds,
        **effort,
    )
    sets, automatic = None, None
    if found.sets is not None:
        sets = measure_sets(found.sets, part.labels, cases=part.drawn_as, **effort)
    if decide_at is not None:
        if not roles.reference:
            raise MedjuryError(
                "automatic decisions need a reference: without labels no error can be counted."
            )
        automatic = automatic_decisions(
            part.scores(jury),
            part.labels,
            cases=part.drawn_as,
            scale=part.scale,
            threshold=decide_at,
            error=error,
            decide=decide,
            seed=effort["seed"],
            confidence=confidence,
        )
    labels = label_triage(part, jury, table.run.labels, catch=catch, **effort)
    rule = next((each for each in table.juries if each.name == jury), table.jury_rule)
    return Triage(
        part,
        jury,
        judges,
        found,
        sets,
        automatic,
        turned,
        table.warnings,
        labels,
        roles.reference,
        rule,
        word,
        cut,
        gap,
        catch,
        level,
        decide_at,
        error,
        confidence,
        folds,
    )
