"""The panel's ratings become part of the study: a file beside it, and its run where it has one. Nobody is asked.
One include at a time: of two, the one that began earlier would put older ratings over the newer ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING

from sqlalchemy import select

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import create_private, whole_part
from medjury.panel._access import RECONCILED
from medjury.panel._database import PanelDatabase
from medjury.panel._design import rounds
from medjury.panel._design._rounds import instrument_to_row
from medjury.panel._exchange._collecting import collect, counted_ratings, ratings_frame
from medjury.panel._meeting._reference_files import REFERENCE
from medjury.panel._rating import Collected
from medjury.panel._tables import reference_cases_table
from medjury.studies import RatedStudy, load_study, panel_file, run_study

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


WAIT_SECONDS = 300
_ASK_AGAIN_SECONDS = 0.1


@contextmanager
def one_at_a_time(file: Path) -> Iterator[None]:
    """Hold what is written to `file`, or wait for whoever does; it is free when a process ends, however it ends.
    (Windows has no such lock here: there the rule is the user's to keep.)"""
    try:
        import fcntl
    except ImportError:
        yield
        return
    place = file.with_suffix(".lock")
    create_private(place)
    with place.open("rb") as held:
        limit = monotonic() + WAIT_SECONDS
        while True:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if monotonic() > limit:
                    raise MedjuryError(
                        f"{file}: somebody else is including ratings and has not ended; try again then"
                    ) from None
                sleep(_ASK_AGAIN_SECONDS)
        yield


_MEANING = ("definition", "grades", "higher_is_better", "skip")
_NOT_NAMED = (
    "{count:,} ratings that were settled together are left out: the study file does not name them. Write "
    "`humans: {{path: panel, consensus: adjudicated, adjudicator: reconciled}}` into it and include again"
)


def include(study: RatedStudy, database: PanelDatabase) -> tuple[int, str]:
    """Write the ratings beside the study file, and bring them into its run. No model is asked anything. How many
    there are, and what came of it, in words."""
    with one_at_a_time(panel_file(study.file, study.name)):
        return _include(study, database)


def _include(study: RatedStudy, database: PanelDatabase) -> tuple[int, str]:
    with database.reading() as connection:
        ratings = collect(connection)
        refuse_changed_questions(study, connection, ratings)
    if not ratings:
        raise MedjuryError("nobody has rated a case yet; there is nothing to include")
    refuse_changed(study, ratings)
    settled = _settled_unless_named(study, ratings)
    ratings = [each for each in ratings if each not in settled]
    lines = [f"{counted_ratings(ratings)}: {write_ratings_file(study, ratings)}"]
    lines += [_NOT_NAMED.format(count=len(settled))] if settled else []
    stated = study.settings.humans
    if stated is None or not stated.are_of_panel:
        own = "names no clinicians" if stated is None else f"takes its clinicians from {stated.path}"
        lines.append(
            f"{study.file.name} {own}: write `humans: panel` into it, and run `medjury run {study.file}`"
        )
    elif not study.settings.judges or not load_study(study.file).finished:
        lines.append(f"There is no complete run yet: `medjury run {study.file}` includes these ratings")
    else:
        lines += _run_again(study)
    return len(ratings), "\n".join(lines)


def _run_again(study: RatedStudy) -> list[str]:
    from medjury.report import write_page

    result = run_study(load_study(study.file), ask=False)
    return [result.text(), f"Report: {write_page(result.folder)}"]


def _settled_unless_named(study: RatedStudy, ratings: Sequence[Collected]) -> list[Collected]:
    """What raters settled together, where the study gives it no part: it is no clinician who rated alone, and
    would be one more who agrees with those whose word it is."""
    stated = study.settings.humans
    parts = () if stated is None else (stated.reference, stated.second_panel, stated.adjudicator)
    named = {name for part in parts for name in ([part] if isinstance(part, str) else part or ())}
    return [] if RECONCILED in named else [each for each in ratings if each.rater == RECONCILED]


def refuse_changed(study: RatedStudy, ratings: Sequence[Collected]) -> None:
    """A rating is of the text that the rater saw: where the study's case has another text now, it is refused."""
    sources = {round_.name: round_.cases for round_ in study.rounds}
    by_round: dict[str, dict[tuple[str, str], str]] = {}
    for each in ratings:
        if each.fingerprint:
            by_round.setdefault(each.panel, {})[each.item, each.system] = each.fingerprint
    may_lack = study.settings.humans is not None and study.settings.humans.on_unknown == "drop"
    for name, seen in by_round.items():
        now = {(case.id, case.system): case.fingerprint() for case in sources.get(name, study.cases)}
        for (item, system), fingerprint in seen.items():
            if now.get((item, system), "") not in (fingerprint, "" if may_lack else fingerprint):
                what = "was changed" if (item, system) in now else "left the study"
                raise MedjuryError(
                    f"case {item} {what} after it was rated; put the file back as it was, or rate it again "
                    "in a new round"
                )


def refuse_changed_questions(study: RatedStudy, connection: Connection, ratings: Sequence[Collected]) -> None:
    """A grade means what its words said when it was given: where a question says something else now, it is
    refused."""
    now = {each["name"]: each for each in instrument_to_row(study.instrument)["dimensions"]}
    given = {each.panel for each in ratings}
    kept = [each.kept_instrument for each in rounds(connection) if each.name in given]
    if REFERENCE in given:
        kept += connection.execute(select(reference_cases_table.c.instrument)).scalars()
    for asked in (each for row in kept for each in row["dimensions"]):
        if any(now.get(asked["name"], {}).get(part) != asked[part] for part in _MEANING):
            raise MedjuryError(
                f"the question {asked['name']} of the instrument was changed after it was rated; put it back as it "
                "was, or rate again in a new round"
            )


def write_ratings_file(study: RatedStudy, ratings: list[Collected]) -> Path:
    """The file that `humans: panel` reads: the owner's alone, and there whole or not at all."""
    file = panel_file(study.file, study.name)
    with whole_part(file) as part:
        ratings_frame(ratings).write_parquet(part)
    return file
