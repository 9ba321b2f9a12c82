"""When may a jury stop? A rule that looks at the votes so far and says which dimensions are still open.

Everything is measured as a share of the scale, so that one tolerance serves a dimension graded 1 to 5 (0.25 is
one grade) and one graded 0 or 1. The doubt about a dimension says how far its score may still move. It comes
from the votes alone, or from a table of conformal widths that `medjury plan simulate-jury` learnt on stored
ratings.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import write_whole

# A vote: a score, or None for a juror who found that the dimension does not apply.
Vote = float | None
# The score so far in eighths of the scale (half a grade of 1 to 5), the range of the votes in quarters.
WidthCell = tuple[int, int]
_SCORE_STEPS, _RANGE_STEPS, _WIDEST = 8, 4, 3
_ROUNDING = 1e-9


def disagreement(votes: Sequence[float]) -> float:
    """Doubt from the votes alone, given as shares of the scale: √((p(1 − p)/4 + Σ(v − p)²) / n²), p their mean.

    It is the standard error of the mean of n votes whose variance begins, as if from one more vote, at a
    quarter of p(1 − p), the largest variance that votes on a scale can have about that mean (Bhatia & Davis
    2000, Am Math Mon 107:353-357). So a single vote is doubted where others have room to differ, in the middle
    of the scale, and not at its ends; agreement lowers the doubt and disagreement raises it.

    >>> [round(disagreement(votes), 3) for votes in ([1.0], [0.5], [0.5, 0.5], [0.25, 0.75])]
    [0.0, 0.25, 0.125, 0.217]
    """
    count = len(votes)
    mean = math.fsum(votes) / count
    squares = math.fsum((vote - mean) ** 2 for vote in votes)
    return math.sqrt(max(mean * (1.0 - mean), 0.0) / 4.0 + squares) / count


@dataclass(frozen=True)
class Widths:
    """How far the score so far may lie from the final one: half-widths of conformal intervals.

    `cells[dimension][n - 1]` holds the width after n votes in every cell that had enough cases, and
    `anywhere[dimension][n - 1]` the width for all other cells. With more votes than the table knows, its last
    entry counts.
    """

    cells: Mapping[str, Sequence[Mapping[WidthCell, float]]]
    anywhere: Mapping[str, Sequence[float]]

    def __post_init__(self) -> None:
        for dimension, known in self.cells.items():
            if not known or len(known) != len(self.anywhere.get(dimension, ())):
                raise MedjuryError(f"the widths of {dimension!r} are not complete; simulate the jury again")

    @staticmethod
    def cell(votes: Sequence[float]) -> WidthCell:
        """Where votes, as shares of the scale, fall in a table of widths."""
        mean = math.fsum(votes) / len(votes)
        spread = max(votes) - min(votes)
        return (
            math.floor(_SCORE_STEPS * mean + 0.5 + _ROUNDING),
            min(math.floor(_RANGE_STEPS * spread + 0.5 + _ROUNDING), _WIDEST),
        )

    def width(self, dimension: str, votes: Sequence[float]) -> float:
        """The width after these votes, which are shares of the scale."""
        place = min(len(votes), len(self.cells[dimension])) - 1
        return self.cells[dimension][place].get(self.cell(votes), self.anywhere[dimension][place])

    def content(self) -> dict[str, object]:
        """As JSON values; a file of a rule has them so."""
        return {
            dimension: [
                {
                    "anywhere": whole,
                    "cells": [[score, spread, width] for (score, spread), width in sorted(cells.items())],
                }
                for cells, whole in zip(self.cells[dimension], self.anywhere[dimension], strict=True)
            ]
            for dimension in self.cells
        }


@dataclass(frozen=True)
class AdaptiveRule:
    """Go on while any dimension is open.

    A dimension is open while it has fewer than `minimum` votes, while votes differ on whether it applies, and
    while its doubt exceeds `tolerance`; with a `threshold` (a score at which a decision changes) only while the
    threshold, too, lies within the doubt of the score so far. `maximum` is how many calls may be made at most:
    by default each juror once; more than that asks the jurors again in their order.
    """

    tolerance: float = 0.1
    minimum: int = 1
    maximum: int | None = None
    threshold: float | None = None
    widths: Widths | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.tolerance <= 1:
            raise MedjuryError(f"the tolerance is a share of the scale from 0 to 1, not {self.tolerance:g}")
        if self.minimum < 1:
            raise MedjuryError(f"the minimum number of votes is {self.minimum}; give 1 or more")
        if self.maximum is not None and self.maximum < self.minimum:
            raise MedjuryError(
                f"at most {self.maximum} calls cannot give the minimum of {self.minimum} votes; raise `maximum`"
            )

    def doubt(self, dimension: str, votes: Sequence[Vote], scale: tuple[float, float]) -> float:
        """How far the score may still move, as a share of the scale; infinite without a score to go by."""
        scores = [(vote - scale[0]) / (scale[1] - scale[0]) for vote in votes if vote is not None]
        if not scores or len(scores) < len(votes):
            # All say "not applicable": that is settled. Some say so: that is not.
            return 0.0 if votes and not scores else math.inf
        doubt = disagreement(scores) if self.widths is None else self.widths.width(dimension, scores)
        if self.threshold is not None:
            distance = abs(
                math.fsum(scores) / len(scores) - (self.threshold - scale[0]) / (scale[1] - scale[0])
            )
            if distance > doubt + _ROUNDING:
                return 0.0  # the interval lies on one side: whatever else comes, the decision stays
        return doubt

    def still_open(
        self, votes: Mapping[str, Sequence[Vote]], scales: Mapping[str, tuple[float, float]]
    ) -> tuple[str, ...]:
        """The open dimensions; none means that the jury may stop."""
        return tuple(
            name
            for name, given in votes.items()
            if len(given) < self.minimum or self.doubt(name, given, scales[name]) > self.tolerance + _ROUNDING
        )


_Width = Annotated[float, Field(ge=0, le=1)]


class _StagePart(BaseModel):
    model_config = ConfigDict(strict=True)

    anywhere: _Width
    cells: list[tuple[int, int, _Width]]


class _RuleFile(BaseModel):
    """What a file of a rule holds."""

    model_config = ConfigDict(strict=True)

    kind: Literal["medjury adaptive rule"] = "medjury adaptive rule"
    version: Literal[2] = 2
    jurors: list[str]
    scales: dict[str, tuple[float, float]]
    tolerance: float
    minimum: int
    maximum: int | None
    threshold: float | None
    widths: dict[str, list[_StagePart]] | None
    learnt: dict[str, Any]

    def rule(self) -> AdaptiveRule:
        widths = None
        if self.widths is not None:
            widths = Widths(
                {
                    name: tuple(
                        {(score, spread): width for score, spread, width in each.cells} for each in stages
                    )
                    for name, stages in self.widths.items()
                },
                {name: tuple(each.anywhere for each in stages) for name, stages in self.widths.items()},
            )
        return AdaptiveRule(self.tolerance, self.minimum, self.maximum, self.threshold, widths)


@dataclass(frozen=True)
class SavedAdaptiveRule:
    """A rule, the jurors, in order, whose votes it was learnt on, and the lowest and highest score of each
    dimension that they graded."""

    rule: AdaptiveRule
    jurors: tuple[str, ...]
    scales: Mapping[str, tuple[float, float]]

    def check(self, jurors: Sequence[str], scales: Mapping[str, tuple[float, float]]) -> None:
        """A rule knows its jurors and what they grade: others, or the same in another order, would need another
        rule."""
        if tuple(jurors) != self.jurors:
            raise MedjuryError(
                f"the rule was learnt for the jurors {', '.join(self.jurors)} in this order, not for "
                f"{', '.join(jurors) or 'none'}; name the jurors as the rule does, or simulate the jury again"
            )
        for name, (low, high) in scales.items():
            if name not in self.scales:
                raise MedjuryError(
                    f"the rule was not learnt on {name}, but on {', '.join(self.scales)}; simulate the jury on all "
                    "dimensions of the instrument, or leave this one out of the study"
                )
            learnt = self.scales[name]
            if learnt != (low, high):
                raise MedjuryError(
                    f"the rule was learnt on {name} graded {learnt[0]:g} to {learnt[1]:g}, not {low:g} to "
                    f"{high:g}: that is another instrument; simulate the jury again"
                )

    def save(self, path: str | Path, learnt: Mapping[str, object]) -> None:
        """Write the rule; `learnt` states from what and with which result."""
        rule = self.rule
        content = {
            "kind": "medjury adaptive rule",
            "version": 2,
            "jurors": list(self.jurors),
            "scales": {name: list(scale) for name, scale in self.scales.items()},
            "tolerance": rule.tolerance,
            "minimum": rule.minimum,
            "maximum": rule.maximum,
            "threshold": rule.threshold,
            "widths": None if rule.widths is None else rule.widths.content(),
            "learnt": dict(learnt),
        }
        try:
            write_whole(path, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
        except OSError as error:
            raise MedjuryError(f"{path} cannot be written: {error.strerror or error}") from error

    @classmethod
    def load(cls, path: str | Path) -> SavedAdaptiveRule:
        """Read a rule back; a file that is something else, or was changed beyond sense, is refused."""
        try:
            file = _RuleFile.model_validate_json(Path(path).read_bytes())
            return cls(file.rule(), tuple(file.jurors), file.scales)
        except OSError as error:
            raise MedjuryError(f"{path} cannot be read: {error.strerror or error}") from error
        except ValidationError as error:
            place = ".".join(map(str, error.errors()[0]["loc"])) or "it is not JSON"
            raise MedjuryError(
                f"{path} holds no adaptive rule that can be read ({place}); simulate the jury again: `medjury plan "
                "simulate-jury --rule FILE` writes one"
            ) from None
        except MedjuryError as error:
            raise MedjuryError(f"{path}: {error}") from None
