"""A stored triage rule on cases that nobody labelled. What it was learnt from must be what it meets: the same
judges, the same way their votes become one, the same instrument and grades."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from medjury.analysis.calibration._conformal import GradeSets
from medjury.analysis.calibration._maps import on_scale
from medjury.analysis.calibration._part import Marks, Part, instruments_of, part_of, scaled
from medjury.analysis.calibration._prediction_powered import PredictionPowered, estimate_mean
from medjury.analysis.calibration._quality_asked import share_of
from medjury.analysis.calibration._review_order import Items, lessons, mean_rank, spread_of
from medjury.analysis.calibration._saved import case_hash
from medjury.analysis.calibration._stored_triage import StoredTriage
from medjury.analysis.calibration._triage import TriageRow, number_or_none, ranked_rows
from medjury.analysis.calibration._written import as_json
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Floats, Result, counted, flat, percent, shown, text_table
from medjury.tables import ABSENT, Grades, Grid, Names, RatingTable, add_jury, rating_table

# What a stored triage rule comes to on new cases: whom to read, what that promises, and how good the cases are.

_ESTIMATED = ("power_tuned", "classical", "naive", "n_labelled", "n_unlabelled")


@dataclass(frozen=True, eq=False)
class AppliedTriage(Result[TriageRow]):
    """The new units in the order of review; `read` marks those that the rule sends to a clinician, `known` those
    whose case taught it. `mean` and `dangerous` are estimates for cases like the labelled and the new ones
    together. `left_out` counts units to which the dimension does not apply."""

    rule: StoredTriage
    part: Part
    priority: Floats
    signals: Mapping[str, Floats]
    sets: GradeSets
    read: Marks
    known: Marks
    mean: PredictionPowered
    dangerous: PredictionPowered
    left_out: int
    warnings: tuple[str, ...]

    @cached_property
    def rows(self) -> tuple[TriageRow, ...]:  # type: ignore[override]
        def more(place: int) -> dict[str, Any]:
            found: dict[str, Any] = {"read": bool(self.read[place])}
            if self.known.any():
                found["known"] = bool(self.known[place])
            found |= {name: number_or_none(values[place]) for name, values in self.signals.items()}
            ends = {"grade_low": self.sets.low[place], "grade_high": self.sets.high[place]}
            return found | {name: number_or_none(value) for name, value in ends.items()}

        return ranked_rows(self.part, self.rule.jury, self.priority, more)

    def to_json(self) -> str:
        """An object with the whole `ranking`, what is promised, and the `estimates`."""
        rule = self.rule
        return as_json(
            {
                **flat(
                    rule, "jury", "dimension", "instrument", "reversed", "threshold", "gap", "catch", "cut"
                ),
                "judges": list(rule.members),
                "n_labelled_cases": rule.n_cases,
                "n_labelled_dangerous": rule.n_dangerous,
                "n_read": int(self.read.sum()),
                "n_known": int(self.known.sum()),
                "n_not_applicable": self.left_out,
                "promise": self.promise,
                "estimates": [
                    {"quantity": name, **flat(found, *_ESTIMATED), "method": found.power_tuned.method}
                    for name, found in self._estimates.items()
                ],
                "ranking": [row.as_dict() for row in self.rows],
                "warnings": list(self.warnings),
            }
        )

    @property
    def promise(self) -> str:
        """What the order promises, in words."""
        rule = self.rule
        if rule.cut is None:
            were = "was" if rule.n_dangerous == 1 else "were"
            return (
                f"Read all of them. Only {counted(rule.n_dangerous, 'labelled answer')} {were} dangerous: too few "
                f"to say which priority {percent(rule.catch)} of them reach."
            )
        return (
            f"Read {int(self.read.sum()):,} of {len(self.read):,}. A dangerous answer (the clinicians' score "
            f"{rule.danger_words}) is among them with probability {percent(rule.catch)} or more, if the new cases "
            f"are like the {rule.n_cases:,} labelled ones."
        )

    def text(self, top: int = 20) -> str:
        """The first of the order, what it promises, and the estimates."""
        lines = [f"! {warning}" for warning in self.warnings]
        lines += text_table([row.as_dict() for row in self.rows[:top]])
        if len(self.rows) > top:
            lines.append(f"… and {len(self.rows) - top} more; --out FILE.csv writes all of them")
        lines += ["", self.promise, ""]
        lines += text_table(
            [
                {
                    "of all cases": name,
                    "estimate": shown(found.power_tuned),
                    "labels alone": shown(found.classical),
                    "jury alone": shown(found.naive),
                }
                for name, found in self._estimates.items()
            ]
        )
        new = self.mean.n_unlabelled
        lines.append(
            f"\n{counted(self.mean.n_labelled, 'label')} and the jury's scores of {counted(new, 'new answer')}."
        )
        return "\n".join(lines)

    @property
    def _estimates(self) -> dict[str, PredictionPowered]:
        return {"mean": self.mean, "share dangerous": self.dangerous}


def apply_triage(table: object, stored: StoredTriage, *, dimensions: Names | None = None) -> AppliedTriage:
    """Order new units by a rule that labelled cases taught, and estimate their quality from those labels.

    The jury must be the same: its judges, how their votes become one, and the instrument. Units of a case that
    taught the rule keep their place in the order, and count once, as labelled, in the estimates.
    """
    table = rating_table(table)
    part, skipped = _part(table, stored, dimensions)
    taught = stored.taught
    known_cases = set(taught.cases.tolist())
    hashed = np.array([case_hash(str(name)) for name in part.cases.tolist()], dtype=object)
    known = np.array([name in known_cases for name in hashed.tolist()], dtype=bool)
    span = (taught.grades[0], taught.grades[-1])
    jury = on_scale(part.scores(stored.jury), span, "the jury's")
    judges = [part.scores(name) for name in stored.members if name in part.grid.scores] or [jury]
    spread = np.where(np.isnan(jury), np.nan, np.nan_to_num(spread_of(np.column_stack(judges))))
    nothing = np.full(len(jury), np.nan)
    new = replace(taught, jury=jury, spread=spread, labels=nothing, target=nothing == 0, cases=hashed)
    priority, signals, sets = _placed(stored, new)
    read = np.isnan(priority) | (True if stored.cut is None else priority >= stored.cut - 1e-12)
    mean, dangerous = _estimates(stored, new.part(~known))
    notes = [
        f"{counted(int(known.sum()), 'answer')} of cases that taught the rule; the estimates count them as labelled"
    ] if known.any() else []  # fmt: skip
    notes += list(dict.fromkeys(text for found in (mean, dangerous) for text in found.warnings))
    return AppliedTriage(
        stored,
        part,
        priority,
        signals,
        sets,
        read,
        known,
        mean,
        dangerous,
        skipped,
        (*table.warnings, *notes),
    )


def _placed(stored: StoredTriage, new: Items) -> tuple[Floats, dict[str, Floats], GradeSets]:
    """Priority, signals and conformal sets of the new units; nothing for one without a score of the jury."""
    teachers = stored.taught.part(~np.isnan(stored.taught.jury))
    scored = ~np.isnan(new.jury)
    [((found, made), inner, rule)] = lessons([(new.part(scored), teachers)], stored.folds)
    given = mean_rank(found, inner) if stored.by_rank or rule is None else rule[0](found)

    def on_all(values: Floats) -> Floats:
        wide = np.full(len(scored), np.nan)
        wide[scored] = values
        return wide

    member = np.zeros((len(scored), len(made.grades)), dtype=bool)
    member[scored] = made.member
    sets = GradeSets(made.grades, member, on_all(made.low), on_all(made.high))
    return on_all(given), {name: on_all(values) for name, values in found.items()}, sets


def _estimates(stored: StoredTriage, new: Items) -> tuple[PredictionPowered, PredictionPowered]:
    """The clinicians' mean, on the scale as it was given, and the share of dangerous answers."""
    taught = stored.taught
    none = np.full(len(new.jury), np.nan)
    jury, labels = np.concatenate([taught.jury, new.jury]), np.concatenate([taught.labels, none])
    danger = np.concatenate([stored.danger, none])
    cases = np.concatenate([taught.cases, new.cases])
    ends = taught.grades[0] + taught.grades[-1]
    given, wanted = (ends - jury, ends - labels) if stored.reversed else (jury, labels)
    how: dict[str, Any] = {"cases": cases, "labels_random": True, "confidence": stored.confidence}
    bad, called = (
        np.where(np.isnan(values), np.nan, values <= stored.threshold + 1e-9).astype(float)
        for values in (danger, jury)
    )
    return estimate_mean(wanted, given, **how), share_of(bad, called, **how)


def _part(table: RatingTable, stored: StoredTriage, dimensions: Names | None) -> tuple[Part, int]:
    """The rule's dimension of the table with its jury, low being dangerous; how many units it does not concern."""
    asked = (dimensions,) if isinstance(dimensions, str) else dimensions
    if asked is not None and tuple(asked) != (stored.dimension,):
        raise MedjuryError(
            f"this rule is for the dimension {stored.dimension!r}, not for {', '.join(asked)}."
        )
    measured = replace(scaled(table, table.dimension(stored.dimension)), higher_is_better=not stored.reversed)
    ends = stored.taught.grades[0] + stored.taught.grades[-1]
    own = (
        tuple(sorted(ends - grade for grade in stored.taught.grades))
        if stored.reversed
        else stored.taught.grades
    )
    if measured.grades is not None and tuple(map(float, measured.grades.values)) != own:
        raise MedjuryError(
            f"the rule was learnt on the grades {_words(own)}, and {stored.dimension!r} has "
            f"{_words(measured.grades.values)} here."
        )
    grid = _with_jury(table, stored)
    label = instruments_of(table, [name for name in (*stored.members, stored.jury) if name in table.raters])
    found = label.get(stored.dimension, "")
    if found != stored.instrument:
        raise MedjuryError(
            f"the rule was learnt with the instrument {stored.instrument or '(not stated)'!r}, and these answers "
            f"were judged with {found or '(not stated)'!r}. Learn one for it: medjury triage RUN --save-rule FILE."
        )
    part = part_of(table, measured, grid, ())
    here = part.asked(stored.jury) & ~part.not_applicable(stored.jury)
    if not here.any():
        raise MedjuryError(
            f"{stored.jury!r} gave no score on {stored.dimension!r}: there is nothing to order."
        )
    grid = grid.where(here)
    turned = {name: measured.oriented(given) for name, given in grid.scores.items()}
    part = part_of(
        table, replace(measured, grades=Grades(own, "triage rule")), replace(grid, scores=turned), ()
    )
    return part, int((~here).sum())


def _with_jury(table: RatingTable, stored: StoredTriage) -> Grid:
    """The grid with the rule's jury: the stored one where the table has it by the same rule, else formed anew."""
    grid = table.grid(stored.dimension)
    if stored.jury in grid.scores:
        stated = next((each for each in table.juries if each.name == stored.jury), None)
        if stated is not None and (stated.rule, stated.quorum) != (stored.rule.rule, stored.rule.quorum):
            raise MedjuryError(
                f"the rule was learnt from a jury by {stored.rule.rule}, and {stored.jury!r} is one by "
                f"{stated.rule} here."
            )
        return grid
    missing = [
        name for name in stored.members if name not in grid.scores or (grid.states[name] == ABSENT).all()
    ]
    if missing:
        raise MedjuryError(
            f"the rule is for the judges {', '.join(stored.members)}; these ratings lack {', '.join(missing)}."
        )
    return add_jury(grid, stored.members, stored.rule)


def _words(grades: Any) -> str:
    return ", ".join(f"{grade:g}" for grade in grades)
