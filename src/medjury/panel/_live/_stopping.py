"""How many more ratings will settle the study: the gate's rules on what is rated so far, beside the study's run.

It takes seconds, so it is computed beside the page, once for each change; the page waits for it a moment only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from medjury.foundation.errors import MedjuryError
from medjury.panel._access import RECONCILED
from medjury.panel._exchange import ratings_frame
from medjury.panel._rating import Collected
from medjury.store.runs import RunFolder, files
from medjury.tables import MACHINES, ConsensusRule, People, RatingTable, open_run, rating_table, with_rules
from medjury.validation import SettlingRow, settling

if TYPE_CHECKING:
    from medjury.studies import RatedStudy

FEWEST = 10  # answers, before anything is said
WAIT_SECONDS = 1.0  # how long a page waits for it
_RESAMPLES = 1000


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
