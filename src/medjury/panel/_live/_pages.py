"""The coordinator's page of the state of the study."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from medjury.foundation.errors import MedjuryError
from medjury.panel._access import Person, Role, person_with
from medjury.panel._design import rounds
from medjury.panel._exchange import Collected, collect, round_state
from medjury.panel._live._agreeing import Agreed, Drift, agreement_so_far, drifts, table_of
from medjury.panel._live._stopping import Stopping
from medjury.panel._look import NavigationLink, page
from medjury.panel._panel import Panel
from medjury.statistics import percent, shown

NAVIGATION = (NavigationLink("/live", "State", frozenset({Role.COORDINATOR}), order=20),)

_Coordinator = Annotated[Person, Depends(person_with(Role.COORDINATOR))]


@dataclass
class _Numbers:
    """What was last computed: it is made anew only where a rating is new, and by one visitor at a time."""

    panel: Panel
    _of: list[Collected] = field(default_factory=list)
    _found: tuple[list[Agreed], list[Drift], str] = field(default_factory=lambda: ([], [], ""))
    _turn: Lock = field(default_factory=Lock)
    _patients: dict[str, str] | None = None

    def of(self, ratings: list[Collected]) -> tuple[list[Agreed], list[Drift], str]:
        with self._turn:
            if ratings != self._of:
                self._found, self._of = self._computed(ratings), ratings
            return self._found

    def _computed(self, ratings: list[Collected]) -> tuple[list[Agreed], list[Drift], str]:
        study = self.panel.study
        if study is None or not ratings:
            return [], [], ""
        if self._patients is None:
            self._patients = {case.id: case.patient for case in study.cases if case.patient}
        try:
            table = table_of(ratings, study.instrument, self._patients)
            return agreement_so_far(table), drifts(table, ratings), ""
        except MedjuryError as error:
            return [], [], str(error)


def routes(panel: Panel) -> APIRouter:
    router = APIRouter(include_in_schema=False)
    numbers, stopping = _Numbers(panel), Stopping(panel.study)

    @router.get("/live")
    def live(request: Request, person: _Coordinator) -> Response:
        with panel.database.reading() as connection:
            states = [(each, round_state(connection, each)) for each in rounds(connection)]
            ratings = collect(connection)
        agreed, drifted, problem = numbers.of(ratings)
        planned = sum(state.items for each, state in states if each.kind == "rating")
        hour = panel.study.settings.report.clinician_cost_per_hour if panel.study else None
        hours = sum(state.hours for each, state in states)
        return page(
            request,
            "live/live.html",
            states=states,
            agreed=agreed,
            drifted=[each for each in drifted if each.is_told],
            watched=len(drifted),
            problem=problem,
            drawn=any(each.probability is not None for each in ratings),
            stopping=stopping.of(ratings, planned),
            planned=planned,
            hours=hours,
            cost=None if hour is None else hours * hour,
            interval=_interval,
            percent=percent,
            minutes=_minutes,
            worked=_worked,
        )

    return router


def _interval(estimate: object) -> str:
    return shown(estimate)  # type: ignore[arg-type]


def _minutes(seconds: float | None) -> str:
    if seconds is None:
        return "not measured"
    return f"{seconds:.0f} s" if seconds < 60 else f"{seconds / 60:.1f} min"


def _worked(hours: float) -> str:
    return f"{hours:.1f} hours" if hours >= 1 else f"{60 * hours:.0f} minutes"
