"""The coordinator's page of the state of the study, what it draws, and how many more ratings will settle the
study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

import numpy as np
from fastapi import APIRouter, Request
from fastapi.responses import Response

from medjury.analysis.agreement import krippendorff_alpha
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument
from medjury.panel._access._people import RECONCILED, Role
from medjury.panel._access._visitors import Coordinator
from medjury.panel._design._rounds import rounds
from medjury.panel._exchange._collecting import collect, ratings_frame, round_state
from medjury.panel._look import NavigationLink, page
from medjury.panel._panel import Panel
from medjury.panel._rating._answers import Collected
from medjury.statistics import Estimate, Floats, counted, percent, shown, undefined
from medjury.store.runs import ConsensusRule, RunFolder, files
from medjury.tables import (
    MACHINES,
    Grid,
    People,
    RatingTable,
    mean_of_raters,
    open_run,
    rating_table,
    with_rules,
)
from medjury.validation import SettlingRow, settling

if TYPE_CHECKING:
    from medjury.studies import RatedStudy


# What the page draws: agreement with its interval as it grows, and how long a case takes. Tables behind them
# hold the same numbers.

FEWEST = 10  # answers (that two raters share) before anything is said (of their agreement)
_STEPS = 5  # points of a drawing, the last of them all that is rated
_RESAMPLES = 1000
WIDTH, HEIGHT = 260, 120
_LEFT, _TOP, _BOTTOM = 34.0, 8.0, 96.0
_LOWEST = -0.2  # of alpha; what is below is drawn there
_UNTIL = ((15, "15 s"), (30, "30 s"), (60, "1 min"), (120, "2 min"), (300, "5 min"), (600, "10 min"))

When = Mapping[tuple[str, str, str, str], str]  # item, system, rater, dimension -> when it was given


def growing_agreement(grid: Grid, when: When) -> list[dict[str, Any]]:
    """Alpha after a fifth, two fifths … of the answers, in the order in which their second rater came, and where
    it is drawn."""
    scores = np.column_stack(list(grid.scores.values()))
    places = np.flatnonzero(np.sum(~np.isnan(scores), axis=1) >= 2)
    places = places[np.argsort([_second(grid, int(at), when) for at in places], kind="stable")]
    counts = sorted({round(len(places) * part / _STEPS) for part in range(1, _STEPS + 1)})
    steps = []
    for count in (each for each in counts if each >= FEWEST):
        first = places[:count]
        alpha = krippendorff_alpha(
            scores[first], "ordinal", clusters=grid.clusters[first], resamples=_RESAMPLES
        )
        if alpha.value is None or alpha.low is None or alpha.high is None:
            continue
        x = _LEFT + 12 + (WIDTH - _LEFT - 24) * count / len(places)
        drawn = {
            "x": round(x, 1),
            "y": height(alpha.value),
            "top": height(alpha.high),
            "bottom": height(alpha.low),
        }
        steps.append({"shared": count, "alpha": alpha, **drawn})
    return steps


def _second(grid: Grid, at: int, when: When) -> str:
    place = (str(grid.items[at]), str(grid.systems[at]))
    times = [
        when.get((*place, rater, grid.dimension), "")
        for rater, own in grid.scores.items()
        if not np.isnan(own[at])
    ]
    return sorted(times)[1]


def height(alpha: float) -> float:
    """Where this alpha is drawn."""
    return round(_BOTTOM - (_BOTTOM - _TOP) * (max(alpha, _LOWEST) - _LOWEST) / (1 - _LOWEST), 1)


BAR_WIDTH = 30


def time_bars(seconds: Sequence[float]) -> list[dict[str, Any]]:
    """How many cases took about so long, and where that is drawn."""
    edges = [edge for edge, _ in _UNTIL]
    places = np.searchsorted(edges, seconds, side="right")
    counts = [int((places == at).sum()) for at in range(len(edges) + 1)]
    labels = [f"to {words}" for _, words in _UNTIL] + [f"over {_UNTIL[-1][1]}"]
    most = max(counts) or 1
    tall = [round(72 * count / most, 1) for count in counts]
    return [
        {
            "label": label,
            "cases": count,
            "x": 8 + at * (BAR_WIDTH + 22),
            "y": round(_BOTTOM - each, 1),
            "height": each,
        }
        for at, (label, count, each) in enumerate(zip(labels, counts, tall, strict=True))
    ]


# How far the raters agree so far, and whether one of them drifts: for the coordinator alone.
#
# Agreement: ordinal Krippendorff alpha, which allows that not everybody rated everything, with an interval that
# resamples whole cases (patients where they are known). Drift: the rater's distance from the others' mean on the
# same answers, later half minus earlier half of the rater's own work (Welch's interval).

_FEWEST_IN_HALF = 5


@dataclass(frozen=True)
class Agreed:
    """One dimension: alpha, and how many answers at least two raters scored."""

    dimension: str
    alpha: Estimate
    shared: int
    steps: Sequence[dict[str, Any]] = ()


_Drift = tuple[str, str, Estimate]  # how one rater's distance from the others changed, on one dimension


def agreement_so_far(table: RatingTable, ratings: Sequence[Collected] = ()) -> list[Agreed]:
    """Every dimension with its alpha, and how it came there; undefined, with the reason, where too little is
    shared."""
    when = {(each.item, each.system, each.rater, each.dimension): each.given_at for each in ratings}
    found = []
    for grid in (table.grid(each.name) for each in table.dimensions if not each.derived):
        scores = np.column_stack(list(grid.scores.values()))
        shared = int((np.sum(~np.isnan(scores), axis=1) >= 2).sum())
        why = f"two raters share {counted(shared, 'answer')}; from {FEWEST} on it is computed"
        alpha, steps = undefined(why, shared, "none"), list[dict[str, Any]]()
        if shared >= FEWEST:
            alpha = krippendorff_alpha(scores, "ordinal", clusters=grid.clusters, resamples=_RESAMPLES)
            steps = growing_agreement(grid, when) if alpha.defined else []
        found.append(Agreed(grid.dimension, alpha, shared, steps))
    return found


def drifts(table: RatingTable, ratings: Sequence[Collected]) -> list[_Drift]:
    """Every rater and dimension with enough work on both sides of its middle."""
    when = {(each.item, each.system, each.rater, each.dimension): each.given_at for each in ratings}
    return [
        (rater, grid.dimension, change)
        for grid in (table.grid(each.name) for each in table.dimensions if not each.derived)
        for rater in grid.scores
        if (change := _drift(grid, rater, when)) is not None
    ]


def _is_reported(change: Estimate) -> bool:
    """Whether the interval leaves out no change at all."""
    low, high = change.low, change.high
    return low is not None and high is not None and (low > 0 or high < 0)


def _drift(grid: Grid, rater: str, when: When) -> Estimate | None:
    own = grid.scores[rater]
    others = [scores for other, scores in grid.scores.items() if other != rater]
    if not others:
        return None
    beside = mean_of_raters(np.column_stack(others))
    places = np.flatnonzero(~np.isnan(own) & ~np.isnan(beside))
    if len(places) < 2 * _FEWEST_IN_HALF:
        return None
    times = [when.get((grid.items[at], grid.systems[at], rater, grid.dimension), "") for at in places]
    apart = (own - beside)[places[np.argsort(times, kind="stable")]]
    half = len(apart) // 2
    return _change(apart[:half], apart[half:])


def table_of(
    ratings: Sequence[Collected], instrument: Instrument, patients: Mapping[str, str]
) -> RatingTable:
    """The ratings as every analysis takes them. What raters settled together is no rater of its own: it would agree
    with those whose word it is."""
    import polars

    frame = ratings_frame([each for each in ratings if each.rater != RECONCILED]).with_columns(
        polars.lit("clinician").alias("rater_kind"),
        polars.col("item")
        .replace_strict(patients, default=polars.col("item"), return_dtype=polars.String)
        .alias("patient"),
    )
    kept = ("item", "system", "rater", "dimension", "score", "status", "reason", "rater_kind", "patient")
    return rating_table(frame.select(kept), instrument=instrument)


def _change(before: Floats, after: Floats) -> Estimate:
    from scipy.stats import ttest_ind

    value, n = float(after.mean() - before.mean()), len(before) + len(after)
    if before.std() == 0 and after.std() == 0:
        return undefined("the distance from the others never changes within a half", n, "none")
    interval = ttest_ind(after, before, equal_var=False).confidence_interval(0.95)
    return Estimate(value, float(interval.low), float(interval.high), n, "Welch")


NAVIGATION = (NavigationLink("/live", "State", frozenset({Role.COORDINATOR}), order=20),)


@dataclass
class _Numbers:
    """What was last computed: it is made anew only where a rating is new, and by one visitor at a time."""

    panel: Panel
    _of: list[Collected] = field(default_factory=list)
    _found: tuple[list[Agreed], list[_Drift], str] = field(default_factory=lambda: ([], [], ""))
    _turn: Lock = field(default_factory=Lock)
    _patients: dict[str, str] | None = None

    def of(self, ratings: list[Collected]) -> tuple[list[Agreed], list[_Drift], str]:
        with self._turn:
            if ratings != self._of:
                self._found, self._of = self._computed(ratings), ratings
            return self._found

    def _computed(self, ratings: list[Collected]) -> tuple[list[Agreed], list[_Drift], str]:
        study = self.panel.study_now
        if study is None or not ratings:
            return [], [], ""
        if self._patients is None:
            self._patients = {case.id: case.patient for case in study.cases if case.patient}
        try:
            table = table_of(ratings, study.instrument, self._patients)
            return agreement_so_far(table, ratings), drifts(table, ratings), ""
        except MedjuryError as error:
            return [], [], str(error)


def routes(panel: Panel) -> APIRouter:
    router = APIRouter(include_in_schema=False)
    numbers, stopping = _Numbers(panel), Stopping(panel.study)

    @router.get("/live")
    def live(request: Request, person: Coordinator) -> Response:
        with panel.database.reading() as connection:
            states = [(each, round_state(connection, each)) for each in rounds(connection)]
            ratings = collect(connection)
        agreed, drifted, problem = numbers.of(ratings)
        planned = sum(state.items for each, state in states if each.kind == "rating")
        study = stopping.study = panel.study_now
        hour = study.settings.report.clinician_cost_per_hour if study else None
        hours = sum(state.hours for each, state in states)
        return page(
            request,
            "live/live.html",
            states=states,
            agreed=agreed,
            drifted=[each for each in drifted if _is_reported(each[2])],
            watched=len(drifted),
            problem=problem,
            drawn=any(each.probability is not None for each in ratings),
            stopping=stopping.of(ratings, planned),
            planned=planned,
            hours=hours,
            cost=None if hour is None else hours * hour,
            interval=shown,
            drawing={"width": WIDTH, "height": HEIGHT, "bar": BAR_WIDTH, "at": height},
            bars={
                each.id: time_bars([t for one in state.raters for t in one.times]) for each, state in states
            },
            percent=percent,
            minutes=_minutes,
            worked=_worked,
        )

    return router


def _minutes(seconds: float | None) -> str:
    if seconds is None:
        return "not measured"
    return f"{seconds:.0f} s" if seconds < 60 else f"{seconds / 60:.1f} min"


def _worked(hours: float) -> str:
    return f"{hours:.1f} hours" if hours >= 1 else f"{60 * hours:.0f} minutes"


WAIT_SECONDS = 1.0  # how long a page waits for it


Outlook = tuple[SettlingRow, ...] | str  # how each rule stands; or, in one sentence, why nothing can be said


@dataclass
class Stopping:
    """What was last found. One computation runs at a time, and what it finds is kept until a rating or the run
    changes."""

    study: RatedStudy | None
    wait_seconds: float = WAIT_SECONDS
    _turn: Lock = field(default_factory=Lock)
    _worker: Thread | None = None
    _of: tuple[Any, ...] = ()
    _found: Outlook | None = None

    def of(self, ratings: Sequence[Collected], planned: int) -> Outlook | None:
        """How the study stands with these ratings, of `planned` answers; None while that is being computed."""
        folder = _run_folder(self.study)
        if self.study is None or folder is None:
            return ()
        key = (list(ratings), planned, (folder / files.MANIFEST).stat().st_mtime_ns, id(self.study))
        with self._turn:
            if key == self._of and self._found is not None:
                return self._found
            if self._worker is None or not self._worker.is_alive():
                self._of, self._found = key, None
                work = (self.study, folder, key)
                self._worker = Thread(target=self._compute, args=work, daemon=True)
                self._worker.start()
            worker = self._worker
        worker.join(self.wait_seconds)
        with self._turn:
            return self._found if key == self._of else None

    def _compute(self, study: RatedStudy, folder: Path, key: tuple[Any, ...]) -> None:
        try:
            found = stopping_of(study, folder, key[0], key[1])
        except MedjuryError as error:
            found = str(error)
        except Exception:  # whatever it is, the page must not say for ever that it is being computed
            found = "It cannot be computed from these ratings; `medjury plan more` says why."
        with self._turn:
            if self._of == key:
                self._found = found


def stopping_of(study: RatedStudy, folder: Path, ratings: Sequence[Collected], planned: int) -> Outlook:
    """Every rule that more ratings could settle, on the run's judges and these clinicians."""
    table = table_beside_run(study, open_run(folder), ratings)
    people = [name for name, kind in table.raters.items() if kind == "clinician"]
    rated = table.rows.filter(table.rows["rater"].is_in(people)).select("item", "system").n_unique()
    if rated < FEWEST:
        return f"Too little is rated yet: from {FEWEST} answers on it is computed."
    return tuple(settling(table, planned=max(planned, rated), resamples=_RESAMPLES).rows)


def table_beside_run(study: RatedStudy, run: RatingTable, ratings: Sequence[Collected]) -> RatingTable:
    """The run's judges with what clinicians said in the panel so far: those of rating rounds, each for themselves,
    and whoever settles what they say. Of cases that the run has not judged nothing is taken."""
    import polars as pl

    alone = {each.name for each in study.rounds if each.settings.kind == "rating"}
    consensus, settles = _rule(study)
    own = [
        each
        for each in ratings
        if each.rater == settles or (each.panel in alone and each.rater != RECONCILED)
    ]
    if settles and not any(each.rater == settles for each in own):
        raise MedjuryError(
            f"Where raters differ, the study takes the word of {settles!r}, and there is none yet: it is computed "
            "once the first difference is settled."
        )
    kept = ["item", "system", "rater", "dimension", "score", "status", "reason", "rater_kind", "patient"]
    judged = run.everything.filter(pl.col("rater_kind").is_in(list(MACHINES))).with_columns(
        pl.col("cluster").alias("patient")
    )
    patients = dict(judged.select("item", "patient").unique("item").iter_rows())
    said = (
        ratings_frame(own)
        .filter(pl.col("item").is_in(list(patients)))
        .with_columns(
            pl.lit("clinician").alias("rater_kind"),
            pl.col("item").replace_strict(patients, default=None, return_dtype=pl.String).alias("patient"),
        )
    )
    frame = pl.concat(
        [judged.select(*kept, "repeat"), said.select(*kept, "probability")], how="diagonal_relaxed"
    )
    table = with_rules(rating_table(frame, instrument=study.instrument), run.rules)
    return replace(
        table,
        jury_rule=run.jury_rule,
        juries=run.juries,
        settings=run.settings,
        people=People(consensus=consensus, adjudicator=settles),
    )


def _rule(study: RatedStudy) -> tuple[ConsensusRule, str]:
    """How the study makes one score of several raters', and who settles it ("": nobody)."""
    stated = study.settings.humans
    return ("mean", "") if stated is None else (stated.consensus, stated.adjudicator or "")


def _run_folder(study: RatedStudy | None) -> Path | None:
    """The run of the study, where it is complete."""
    if study is None:
        return None
    folder = study.settings.output_in(study.file.resolve().parent)
    try:
        return folder if RunFolder(folder).manifest.status == "complete" else None
    except MedjuryError:
        return None
