"""All ratings that count: given in this panel, brought in from files, or settled by raters together; and how they
become part of the study: a file beside it, and its run where it has one. Nobody is asked. One include at a time:
of two, the one that began earlier would put older ratings over the newer ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import create_private, whole_part
from medjury.instruments import NotApplicable, Score
from medjury.panel._access._people import RECONCILED, compared, names_of_people
from medjury.panel._database import PanelDatabase
from medjury.panel._design._assignments import members
from medjury.panel._design._form import outcome_from_row
from medjury.panel._design._rounds import Round, instrument_to_row, item_count, rounds
from medjury.panel._language import IN_ENGLISH
from medjury.panel._meeting._differences import reconciled_labels
from medjury.panel._meeting._reference_files import REFERENCE, panel_scores
from medjury.panel._rating._answers import Collected, latest_answers, marks_text
from medjury.panel._tables import (
    answers_table,
    assignments_table,
    imported_table,
    profiles_table,
    reference_cases_table,
)
from medjury.store.ratings import PROFILE
from medjury.studies import RatedStudy, load_study, panel_file, run_study

if TYPE_CHECKING:
    import polars
    from sqlalchemy.engine import Connection


_PROFILE = tuple(name for name in PROFILE if name != "panel")
_OWN_WORDS = tuple(name for name in _PROFILE if name != "rated_in")  # what raters say of themselves


def counted_ratings(ratings: Sequence[Collected]) -> str:
    """How much there is, in words; what raters settled together is nobody's rating."""
    own = [each for each in ratings if each.rater != RECONCILED]
    text = f"{len(own):,} ratings of {len({each.rater for each in own}):,} raters"
    labels = len(ratings) - len(own)
    return f"{text}, and {labels:,} labels on which they agree in the end" if labels else text


def collect(connection: Connection) -> list[Collected]:
    """Every rating that is part of the study, the last word of each rater. Training and calibration never are."""
    counted = [each for each in rounds(connection) if each.counts]
    sources = {
        "in a round": [rating for each in counted for rating in _given(connection, each)],
        RECONCILED: [rating for each in counted for rating in reconciled_labels(connection, each)],
        REFERENCE: list(panel_scores(connection)),
        "elsewhere": list(_brought_in(connection)),
    }
    return list(_one_name_each(sources))


def _given(connection: Connection, round_: Round) -> Iterator[Collected]:
    names, profiles = names_of_people(connection), _profiles(connection)
    for each in latest_answers(connection, round_):
        seconds = each.seconds if each.measured else None
        yield replace(each, rater=names[each.rater], seconds=seconds, profile=profiles.get(each.rater, {}))


def _one_name_each(sources: Mapping[str, list[Collected]]) -> Iterator[Collected]:
    """Who rated in two rounds is two raters: what was scored again is not the same rating. Nor is a panel, or
    somebody who rated elsewhere, the person of that name here."""
    first: dict[str, str] = {}
    for source, ratings in sources.items():
        for each in ratings:
            own = each.panel if source == "in a round" else source
            known = first.setdefault(compared(each.rater), own)
            yield each if known == own else replace(each, rater=f"{each.rater}, {own}")


def _profiles(connection: Connection) -> dict[str, dict[str, str]]:
    rows = connection.execute(select(profiles_table)).mappings()
    found = {
        row["person"]: {name: str(row[name]) for name in _OWN_WORDS if row[name] not in (None, "")}
        for row in rows
    }
    a, s = assignments_table, answers_table
    spoken = (
        select(a.c.person, s.c.language)
        .join(s, s.c.assignment == a.c.id)
        .where(s.c.submitted, s.c.language.is_not(None), a.c.withdrawn_at.is_(None))
        .where(a.c.round.in_([each.id for each in rounds(connection) if each.counts]))
        .distinct()
        .order_by(s.c.language)
    )
    languages: dict[str, list[str]] = {}
    for person, language in connection.execute(spoken):
        languages.setdefault(person, []).append(IN_ENGLISH[language])
    for person, names in languages.items():
        found.setdefault(person, {})["rated_in"] = " and ".join(names)
    return found


def _brought_in(connection: Connection) -> Iterator[Collected]:
    """The last that was brought in for each rater, answer and dimension."""
    last: dict[tuple[str, ...], Any] = {}
    for row in connection.execute(select(imported_table).order_by(imported_table.c.id)):
        last[row.rater, row.item, row.system, row.dimension] = row
    for row in last.values():
        profile = {name: said for name, said in row.profile.items() if name in _PROFILE}
        yield Collected(
            row.item,
            row.system,
            row.rater,
            row.profile.get("panel", ""),
            row.dimension,
            outcome_from_row(row.outcome),
            row.seconds,
            probability=row.probability,
            given_at=row.imported_at,
            profile=profile,
            blinded=None,
        )


def ratings_frame(ratings: list[Collected]) -> polars.DataFrame:
    """The ratings as a table with a row for each, in the columns that Medjury reads ratings from."""
    import polars

    text, real = polars.String, polars.Float64
    columns: dict[str, Any] = dict.fromkeys(
        ("item", "system", "rater", "panel", *_PROFILE, "dimension"), text
    )
    columns |= {"score": real, "status": text, "reason": text, "explanation": text, "seconds": real}
    columns |= {
        "probability": real,
        "comment": text,
        "marks": text,
        "given_at": text,
        "blinded": polars.Boolean,
    }

    def cell(rating: Collected, name: str) -> object:
        if name == "marks":
            return marks_text(rating.marks) if rating.marks else ""
        return rating.profile.get(name) if name in _PROFILE else getattr(rating, name)

    rows = [[cell(each, name) for name in columns] for each in ratings]
    return polars.DataFrame(rows, schema=columns, orient="row")


# How far a round is, rater by rater: for the coordinator alone.


FAST_SECONDS = 5  # nobody has read a case in less
_FEWEST_CASES = 5  # before a speed is a habit


@dataclass(frozen=True)
class RaterProgress:
    """One rater in one round. `seconds` is the middle of the measured times a case, `hours` their sum."""

    name: str
    done: int
    assigned: int
    cannot_judge: int
    seconds: float | None
    hours: float
    last_at: str | None
    times: tuple[float, ...] = ()  # the measured seconds, case by case

    @property
    def is_fast(self) -> bool:
        """Whether the rater hardly reads: the coordinator should ask before the ratings are used."""
        return self.done >= _FEWEST_CASES and self.seconds is not None and self.seconds < FAST_SECONDS


@dataclass(frozen=True)
class RoundState:
    """One round as a whole."""

    items: int
    raters: tuple[RaterProgress, ...]

    @property
    def assigned(self) -> int:
        return sum(each.assigned for each in self.raters)

    @property
    def done(self) -> int:
        return sum(each.done for each in self.raters)

    @property
    def hours(self) -> float:
        return sum(each.hours for each in self.raters)


def round_state(connection: Connection, round_: Round) -> RoundState:
    names = names_of_people(connection)
    table = assignments_table
    counts = connection.execute(
        select(table.c.person, func.count().label("cases"))
        .where(table.c.round == round_.id, table.c.withdrawn_at.is_(None))
        .group_by(table.c.person)
    ).all()
    said: dict[str, dict[tuple[str, str], list[Collected]]] = {}
    for each in latest_answers(connection, round_):
        said.setdefault(each.rater, {}).setdefault((each.item, each.system), []).append(each)
    assigned = {row.person: row.cases for row in counts}
    everyone = dict.fromkeys([*members(connection, round_), *assigned, *said])
    rows = [_rater(names[person], assigned.get(person, 0), said.get(person, {})) for person in everyone]
    return RoundState(item_count(connection, round_.id), tuple(sorted(rows, key=lambda each: each.name)))


def _rater(name: str, assigned: int, said: dict[tuple[str, str], list[Collected]]) -> RaterProgress:
    times = [
        sum(each.seconds for each in rows if each.seconds is not None)
        for rows in said.values()
        if rows[0].measured and rows[0].seconds is not None
    ]
    silent = sum(
        not isinstance(each.outcome, Score | NotApplicable) for rows in said.values() for each in rows
    )
    return RaterProgress(
        name,
        len(said),
        assigned,
        silent,
        median(times) if times else None,
        sum(times) / 3600,
        max((each.given_at for rows in said.values() for each in rows), default=None),
        tuple(times),
    )


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
