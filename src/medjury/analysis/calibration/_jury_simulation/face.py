"""A simulated jury with the face that every result has."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from medjury.analysis.calibration._jury_simulation.figure import Picture, jury_figure
from medjury.analysis.calibration._jury_simulation.printed import json_of, text_of
from medjury.analysis.calibration._jury_simulation.result import SimulatedJury
from medjury.analysis.calibration._jury_simulation.rows import SimulationRow, rows_of
from medjury.statistics import Result


@dataclass(frozen=True, eq=False)
class JurySimulation(SimulatedJury, Result[SimulationRow]):
    """The chosen rule and its proof: `rows` has everything with a number of calls and a loss."""

    @cached_property
    def rows(self) -> tuple[SimulationRow, ...]:  # type: ignore[override]
        return rows_of(self)

    def to_json(self) -> str:
        return json_of(self)

    def text(self, rule_file: str | None = None) -> str:
        """The tables, the verdict, and the rule as it goes into a study file, by name where it has a file."""
        return text_of(self, rule_file)

    def plot(self) -> Picture:
        """Agreement lost against what is spent, as SVG."""
        return jury_figure(self)
