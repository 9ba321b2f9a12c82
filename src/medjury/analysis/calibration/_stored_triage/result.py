"""What a stored triage rule comes to on new cases: whom to read, what that promises, and how good the cases are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.calibration._conformal.sets import GradeSets
from medjury.analysis.calibration._estimates.prediction_powered import PredictionPowered
from medjury.analysis.calibration._maps.calibrator import Floats
from medjury.analysis.calibration._part import Marks, Part
from medjury.analysis.calibration._stored_triage.rule import StoredTriage
from medjury.analysis.calibration._triage.triage_result import TriageRow, number_or_none
from medjury.analysis.calibration._written import as_json, flat
from medjury.statistics import Result, counted, percent, shown, text_table

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

    @property
    def order(self) -> NDArray[np.int64]:
        """Places of the units, the first to read first."""
        return np.argsort(-np.where(np.isnan(self.priority), np.inf, self.priority), kind="stable")

    @cached_property
    def rows(self) -> tuple[TriageRow, ...]:  # type: ignore[override]
        grid, jury = self.part.grid, self.part.scores(self.rule.jury)
        found = []
        for rank, place in enumerate(self.order.tolist(), start=1):
            more: dict[str, Any] = {"read": bool(self.read[place])}
            if self.known.any():
                more["known"] = bool(self.known[place])
            more |= {name: number_or_none(values[place]) for name, values in self.signals.items()}
            more |= {
                "grade_low": number_or_none(self.sets.low[place]),
                "grade_high": number_or_none(self.sets.high[place]),
            }
            item, system = str(grid.items[place]), str(grid.systems[place])
            found.append(
                TriageRow(
                    rank,
                    item,
                    system,
                    number_or_none(self.priority[place]),
                    number_or_none(jury[place]),
                    more,
                )
            )
        return tuple(found)

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
            return (
                f"Read all of them. Only {counted(rule.n_dangerous, 'labelled answer')} {_were(rule.n_dangerous)} "
                f"dangerous: too few to say which priority {percent(rule.catch)} of them reach."
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


def _were(number: int) -> str:
    return "was" if number == 1 else "were"
