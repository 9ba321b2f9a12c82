"""From the study's cases to what a panel reads: the record first, the routine diagnosis late, the answers last."""

from __future__ import annotations

import random
import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Input, Instrument
from medjury.intake.cases import Case
from medjury.panel._access import erased_among
from medjury.panel._design._blinding import hide, hider
from medjury.panel._design._kept_instrument import instrument_to_row
from medjury.panel._design._shown import Passage, passages_to_row, shown_of
from medjury.panel._meeting._tables import reference_answers_table, reference_cases_table

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from medjury.studies import RatedStudy

_LISTED = 5


@dataclass(frozen=True)
class _Record:
    item: str
    shown: list[dict[str, Any]]
    routine: str | None
    answers: list[dict[str, Any]]


def set_up_references(connection: Connection, study: RatedStudy) -> int:
    """Add the cases for which panels of this study write references, and say how many are new. What is there
    already stays as it was."""
    if study.panel.references is None:
        return 0
    known = set(connection.execute(select(reference_cases_table.c.item)).scalars())
    kept = instrument_to_row(study.instrument)
    added = 0
    new = [record for record in _records(study) if record.item not in known]
    gone = erased_among(connection, [record.item for record in new])
    for record in new:
        if record.item in gone:
            continue
        values = {"item": record.item, "shown": record.shown, "routine": record.routine, "instrument": kept}
        made = connection.execute(insert(reference_cases_table).values(**values))
        identity = made.inserted_primary_key[0] if made.inserted_primary_key else None
        if record.answers:
            rows = [{**row, "case": identity} for row in _drawn(study, record)]
            connection.execute(insert(reference_answers_table), rows)
        added += 1
    return added


def _records(study: RatedStudy) -> Iterator[_Record]:
    stated = study.panel.references
    assert stated is not None
    pattern = hider(study.panel.blind_words)
    found: dict[str, _Record] = {}
    lacking: list[str] = []
    for case in study.cases:
        shown = passages_to_row(_record(case, study.instrument, stated.show, pattern))
        missing = [name for name in stated.show if not case.input(name)]
        if missing:
            lacking.append(f"{case.id}: {', '.join(missing)}")
            continue
        routine = case.input(stated.routine) if stated.routine else None
        told = hide(routine, pattern) if isinstance(routine, str) and routine.strip() else None
        before = found.setdefault(case.id, _Record(case.id, shown, told, []))
        if (before.shown, before.routine) != (shown, told):
            raise MedjuryError(
                f"the answers to {case.id!r} come with different records; a panel reads one record for each case"
            )
        if case.candidate:
            before.answers.append(_answer(case, study.instrument, stated.show, pattern))
    if lacking:
        more = f" and {len(lacking) - _LISTED} more" if len(lacking) > _LISTED else ""
        raise MedjuryError(
            f"`references` shows texts that some cases lack: {'; '.join(lacking[:_LISTED])}{more}. Add the texts, "
            "or leave these cases out."
        )
    yield from found.values()


def _record(
    case: Case, instrument: Instrument, show: Sequence[str], pattern: re.Pattern[str] | None
) -> tuple[Passage, ...]:
    """The texts that are shown, in the order in which the study names them."""
    labels = {each.name: each.label for each in instrument.inputs}
    inputs = tuple(Input(name, labels.get(name, name.replace("_", " ").capitalize())) for name in show)
    return shown_of(case, Instrument("", "", "", "", inputs, ()), None, pattern)


def _answer(
    case: Case, instrument: Instrument, show: Sequence[str], pattern: re.Pattern[str] | None
) -> dict[str, Any]:
    """The answer and what else the instrument asks for; the reference is the panel's own."""
    passages = shown_of(case, instrument, None, pattern)
    kept = [each for each in passages if each.name != "reference" and each.name not in show]
    return {"system": case.system, "fingerprint": case.fingerprint(), "shown": passages_to_row(kept)}


def _drawn(study: RatedStudy, record: _Record) -> list[dict[str, Any]]:
    """The answers that the panel scores, drawn by chance where the study says how many."""
    assert study.panel.references is not None
    wanted = study.panel.references.answers
    rows, probability = record.answers, None
    if wanted is not None and wanted < len(rows):
        chance = random.Random(f"answers {study.panel.seed} {record.item}")
        rows, probability = chance.sample(rows, wanted), wanted / len(rows)
    return [
        {
            **row,
            "code": secrets.token_urlsafe(12),
            "position": secrets.randbelow(2**52) / 2**52,
            "probability": probability,
        }
        for row in rows
    ]
