"""The panel's ratings become part of the study: a file beside it, and its run where it has one. Nobody is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from medjury.errors import MedjuryError
from medjury.files import whole_part
from medjury.panel._database import PanelDatabase
from medjury.panel._exchange._collecting import Collected, collect, counted_ratings, ratings_frame
from medjury.studies import (
    PANEL,
    RatedStudy,
    RunResult,
    finished_run,
    load_study,
    panel_file,
    run_study,
)


@dataclass(frozen=True)
class Included:
    """What was written, and the run that has the ratings now (None: there is none yet that is complete)."""

    file: Path
    ratings: int
    told: str
    run: RunResult | None
    report: Path | None
    notes: tuple[str, ...] = ()

    def text(self) -> str:
        lines = [f"{self.told}: {self.file}", *self.notes]
        if self.run is not None:
            lines.append(self.run.text())
        if self.report is not None:
            lines.append(f"Report: {self.report}")
        return "\n".join(lines)


def include(study: RatedStudy, database: PanelDatabase) -> Included:
    """Write the ratings beside the study file, and bring them into its run. No model is asked anything."""
    with database.reading() as connection:
        ratings = collect(connection)
    if not ratings:
        raise MedjuryError("nobody has rated a case yet; there is nothing to include")
    refuse_changed(study, ratings)
    file = write_ratings_file(study, ratings)
    told = counted_ratings(ratings)
    stated = study.settings.humans
    if stated is None or stated.path != PANEL:
        own = "names no clinicians" if stated is None else f"takes its clinicians from {stated.path}"
        note = f"{study.file.name} {own}: write `humans: {PANEL}` into it, and run `medjury run {study.file}`"
        return Included(file, len(ratings), told, None, None, (note,))
    if not study.settings.judges or not finished_run(load_study(study.file)):
        note = f"There is no complete run yet: `medjury run {study.file}` takes these ratings along"
        return Included(file, len(ratings), told, None, None, (note,))
    return Included(file, len(ratings), told, *_run_again(study))


def _run_again(study: RatedStudy) -> tuple[RunResult, Path]:
    from medjury.report import write_page

    result = run_study(load_study(study.file), ask=False)
    return result, write_page(result.folder)


def refuse_changed(study: RatedStudy, ratings: Sequence[Collected]) -> None:
    """A rating is of the text that the rater saw: where the study's case has another text now, it is refused."""
    for round_ in study.rounds:
        seen = {
            (each.item, each.system): each.fingerprint
            for each in ratings
            if each.panel == round_.name and each.fingerprint
        }
        for case in round_.cases if seen else ():
            if seen.get((case.id, case.system), case.fingerprint()) != case.fingerprint():
                raise MedjuryError(
                    f"case {case.id} was changed after it was rated; put the file back as it was, or rate it again "
                    "in a new round"
                )


def write_ratings_file(study: RatedStudy, ratings: list[Collected]) -> Path:
    """The file that `humans: panel` reads: the owner's alone, and there whole or not at all."""
    file = panel_file(study.file, study.name)
    with whole_part(file) as part:
        ratings_frame(ratings).write_parquet(part)
    return file
