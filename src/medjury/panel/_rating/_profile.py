"""Who a rater is, in the words that a paper reports: years, specialty, affiliation, seniority."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select

from medjury.intake.cases import clean_text
from medjury.panel._design._tables import profiles_table

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

SENIORITIES = ("student", "resident or trainee", "specialist", "consultant or attending", "nurse", "other")
_LONGEST, _MOST_YEARS = 120, 70


@dataclass(frozen=True)
class Profile:
    """A rater's own words about themselves."""

    years: int
    specialty: str
    affiliation: str
    seniority: str


def read_profile(form: Mapping[str, str]) -> Profile | str:
    """The profile in a form, or what has to be put right."""
    years, specialty = form.get("years", "").strip(), clean_text(form.get("specialty", "")).strip()
    affiliation, seniority = clean_text(form.get("affiliation", "")).strip(), form.get("seniority", "")
    if not (years.isascii() and years.isdigit() and int(years[:4]) <= _MOST_YEARS):
        return f"Give your years in practice as a whole number from 0 to {_MOST_YEARS}."
    if not specialty:
        return "Give your specialty."
    if len(specialty) > _LONGEST or len(affiliation) > _LONGEST:
        return f"Specialty and affiliation may have {_LONGEST} letters each."
    if seniority not in SENIORITIES:
        return "Choose your seniority."
    return Profile(int(years[:4]), specialty, affiliation, seniority)


def profile_of(connection: Connection, person: str) -> Profile | None:
    row = connection.execute(select(profiles_table).where(profiles_table.c.person == person)).first()
    return None if row is None else Profile(row.years, row.specialty, row.affiliation, row.seniority)


def keep_profile(connection: Connection, person: str, profile: Profile, now: datetime) -> None:
    connection.execute(delete(profiles_table).where(profiles_table.c.person == person))
    connection.execute(
        insert(profiles_table).values(person=person, written_at=now.isoformat(), **asdict(profile))
    )
