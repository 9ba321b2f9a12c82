"""From the study's cases to what a panel reads (the record first, the routine diagnosis late, the answers last),
and from what it wrote to references, labels and scores for everybody after it.
"""

from __future__ import annotations

import random
import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Input, Instrument
from medjury.intake.cases import Case, CaseSource, write_cases
from medjury.panel._access._trail import erased_among
from medjury.panel._design._form import Passage, hide, hider, passages_to_row, shown_of
from medjury.panel._design._rounds import instrument_to_row
from medjury.panel._language import marked
from medjury.panel._meeting._reference import ROUTINE, TOGETHER, CaseWork, all_work
from medjury.panel._rating._answers import Collected
from medjury.panel._tables import (
    inserted,
    reference_answers_table,
    reference_cases_table,
    reference_work_table,
)

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from medjury.studies import RatedStudy


_LISTED = 5
REFERENCE = "reference panel"


_Rows = tuple[dict[str, Any], list[dict[str, Any]]]  # of a case, and of the answers to it


def set_up_references(connection: Connection, study: RatedStudy) -> int:
    """Add the cases for which panels of this study write references, and say how many are new. What is there
    already stays as it was."""
    if study.panel.references is None:
        return 0
    known = set(connection.execute(select(reference_cases_table.c.item)).scalars())
    kept = instrument_to_row(study.instrument)
    added = 0
    new = [(case, answers) for case, answers in _records(study) if case["item"] not in known]
    gone = erased_among(connection, [case["item"] for case, _ in new])
    for case, answers in new:
        if case["item"] in gone:
            continue
        identity = inserted(connection, reference_cases_table, **case, instrument=kept)
        if answers:
            rows = [{**row, "case": identity} for row in _drawn(study, case["item"], answers)]
            connection.execute(insert(reference_answers_table), rows)
        added += 1
    return added


def _records(study: RatedStudy) -> Iterator[_Rows]:
    stated = study.panel.references
    assert stated is not None
    pattern = hider(study.panel.blind_words)
    found: dict[str, _Rows] = {}
    lacking: list[str] = []
    for case in study.cases:
        shown = passages_to_row(_record(case, study.instrument, stated.show, pattern))
        missing = [name for name in stated.show if not case.input(name)]
        if missing:
            lacking.append(f"{case.id}: {', '.join(missing)}")
            continue
        routine = case.input(stated.routine) if stated.routine else None
        text = hide(routine, pattern) if isinstance(routine, str) and routine.strip() else None
        row = {"item": case.id, "shown": shown, "routine": text}
        before, answers = found.setdefault(case.id, (row, []))
        if before != row:
            raise MedjuryError(
                f"the answers to {case.id!r} come with different records; a panel reads one record for each case"
            )
        if case.candidate:
            answers.append(_answer_row(case, study.instrument, stated.show, pattern))
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


def _answer_row(
    case: Case, instrument: Instrument, show: Sequence[str], pattern: re.Pattern[str] | None
) -> dict[str, Any]:
    """The answer and what else the instrument asks for; the reference is the panel's own."""
    passages = shown_of(case, instrument, None, pattern)
    kept = [each for each in passages if each.name != "reference" and each.name not in show]
    return {"system": case.system, "fingerprint": case.fingerprint(), "shown": passages_to_row(kept)}


def _drawn(study: RatedStudy, item: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The answers that the panel scores, drawn by chance where the study says how many."""
    assert study.panel.references is not None
    wanted = study.panel.references.answers
    probability = None
    if wanted is not None and wanted < len(rows):
        chance = random.Random(f"answers {study.panel.seed} {item}")
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


FIELDS = {
    "primary": marked("Primary diagnosis"),
    "secondary": marked("Secondary diagnoses"),
    "differential": marked("Differential diagnosis"),
    "reasoning": marked("Reasoning"),
}


def panel_references(connection: Connection) -> dict[str, dict[str, Any]]:
    """By case, the references that can no longer change (their panel has gone on to the next stage), as a case
    keeps them: `reference`, `texts` and `metadata`."""
    found = {}
    for item, work in _by_item(connection):
        written, verdict = work.last(TOGETHER, submitted=True), work.last(ROUTINE, submitted=True)
        if work.stage in ("alone", "together") or written is None:
            continue
        said = {name: text for name in FIELDS if (text := str(written.said.get(name, "")))}
        metadata: dict[str, Any] = {"reference_panel": work.panel.name}
        if verdict is not None:
            metadata["routine_is_wrong"] = int(verdict.said["agrees"] != "yes")
        found[item] = {
            "reference": "\n".join(f"{FIELDS[name]}: {text}" for name, text in said.items()),
            "texts": {f"panel_{name}": text for name, text in said.items()},
            "metadata": metadata,
        }
    return found


def panel_scores(connection: Connection) -> Iterator[Collected]:
    """What panels scored together, of the cases with which they have done: a panel agrees and is one rater."""
    answers = {row.id: row for row in connection.execute(select(reference_answers_table))}
    for item, work in _by_item(connection):
        if work.stage != "done":
            continue
        for each in work.answers:
            entry, row = work.last(each.part, submitted=True), answers[each.id]
            assert entry is not None  # a case is not done before all are scored
            comment = str(entry.said.get("comment", ""))
            for name, outcome in entry.outcomes.items():
                yield Collected(
                    item, row.system, work.panel.name, REFERENCE, name, outcome,
                    probability=row.probability, comment=comment, given_at=entry.said_at,
                )  # fmt: skip


def write_references(connection: Connection, cases: CaseSource, file: str | Path) -> tuple[int, int]:
    """Write the study's cases with the panels' references in place of their own. Says how many cases (by id) have
    one, and how many have none yet; those are left out."""
    found = panel_references(connection)
    every: set[str] = set()

    def referenced() -> Iterator[Case]:
        for case in cases:
            every.add(case.id)
            if (own := found.get(case.id)) is not None:
                texts, metadata = {**case.texts, **own["texts"]}, {**case.metadata, **own["metadata"]}
                yield replace(case, reference=own["reference"], texts=texts, metadata=metadata)

    write_cases(referenced(), file)
    written = len(every & found.keys())
    return written, len(every) - written


def case_names(connection: Connection) -> dict[int, str]:
    """By the work on it, the name of each case: for coordinators and files, never for members."""
    w, c = reference_work_table, reference_cases_table
    rows = connection.execute(select(w.c.id, c.c.item).join(c, c.c.id == w.c.case))
    return {row.id: row.item for row in rows}


def _by_item(connection: Connection) -> Iterator[tuple[str, CaseWork]]:
    names = case_names(connection)
    for work in all_work(connection, reference_work_table.c.id.is_not(None)):
        yield names[work.id], work
