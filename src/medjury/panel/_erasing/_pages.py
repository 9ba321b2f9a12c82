"""The coordinator's page of erasing: first what would go, then the id typed once more."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import delete, func, select

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import whole_part
from medjury.panel._access._people import Person
from medjury.panel._access._trail import erased_at, note_erasure
from medjury.panel._access._visitors import Coordinator, Form, SentForm
from medjury.panel._exchange._collecting import one_at_a_time
from medjury.panel._exchange._files import write_export
from medjury.panel._look import page
from medjury.panel._panel import Panel
from medjury.panel._tables import (
    answers_table,
    asked_table,
    assignments_table,
    confirmations_table,
    decisions_table,
    erasing_allowed,
    exports_table,
    imported_table,
    items_table,
    looks_table,
    meeting_items_table,
    proposals_table,
    reference_answers_table,
    reference_cases_table,
    reference_entries_table,
    reference_stages_table,
    reference_work_table,
    replies_table,
)
from medjury.statistics import counted
from medjury.store.runs import Ledger
from medjury.studies import RatedStudy, load_study, panel_file, record_erasure

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


# Erasing everything of a patient, or of cases: rows, files that the panel wrote, and the free space in which the
# bytes of deleted rows are.
#
# Answers are append-only for everybody else. What stays is the log of erasures, which names nobody, and of each row
# of the trail that named the patient its hash, so that the chain still holds.

_WORDS = {
    "items": ("text of a case", "texts of cases"),
    "answers": ("answer or draft", "answers and drafts"),
    "question_replies": ("reply to a further question", "replies to further questions"),
    "proposals": ("proposal in a meeting", "proposals in meetings"),
    "decisions": ("decision", "decisions"),
    "reference_cases": ("case of a reference panel", "cases of reference panels"),
    "reference_entries": ("entry of a reference panel", "entries of reference panels"),
    "imported_ratings": ("rating from a file", "ratings from files"),
}
_NOT_REACHED = (
    "This does not erase the following, which you must deal with yourself:",
    "- the files of cases, and other files that the study file names: take the cases out there;",
    "- the study's store and its run folders: `medjury runs erase STORE --patient ID --cases FILE`;",
    "- what programs sent to the jury of a passport: its store is in the folder STUDY.jury;",
    "- files that somebody downloaded in a browser, and copies of files;",
    "- what people wrote of the patient elsewhere: in comments on other cases, or on the definitions of a round;",
    "- backups and snapshots of this database; PostgreSQL's write-ahead log and replicas.",
)


@dataclass(frozen=True)
class Choice:
    """What is to be erased: the cases in `items`, named by the ids in `names`, of a patient or of the cases."""

    by: Literal["patient", "case"]
    names: tuple[str, ...]
    items: frozenset[str]


@dataclass(frozen=True)
class ErasedFromPanel:
    """How many rows of each table went (or would go); the files that were written anew, and those that were not
    because they were changed since; when it was erased before, where nothing was found."""

    rows: Mapping[str, int]
    trail: int = 0
    files: tuple[str, ...] = ()
    changed_files: tuple[str, ...] = ()
    earlier: str = ""
    registration: str = ""  # what became of the study's registration, in words

    def __bool__(self) -> bool:
        return any(self.rows.values())

    @property
    def counts(self) -> list[str]:
        """What went, in words."""
        return [
            f"{count:,} {words[count > 1]}"
            for table, words in _WORDS.items()
            if (count := self.rows.get(table))
        ]

    def text(self, place: str, *, dry_run: bool = False) -> str:
        verb = "Would be erased from" if dry_run else "Erased from"
        lines = [f"{verb} {place}: {', '.join(self.counts) or 'links only'}."]
        if self.earlier:
            lines = [
                f"{place} holds nothing about it: it was erased at {self.earlier}. Free space was cleared again."
            ]
        if self.trail:
            lines.append(
                f"{counted(self.trail, 'row')} of the audit trail reduced to a hash; the chain is intact."
            )
        lines += [f"Written again without it: {file}" for file in self.files]
        lines += [f"Changed since it was written here, so check it: {file}" for file in self.changed_files]
        lines += [self.registration] if self.registration else []
        return "\n".join([*lines, "", *_NOT_REACHED])


def erase_from_panel(
    panel: Panel, *, patient: str | None = None, cases: Iterable[str] = (), dry_run: bool = False
) -> str:
    """Erase everything that the panel holds of a patient, or of cases; what went and what is left, in words."""
    choice = choice_of(panel, patient or "", cases)
    done = would_go(panel, choice) if dry_run else erase(panel, choice)
    return done.text(panel.database.place, dry_run=dry_run)


def cases_of(study: RatedStudy, patient: str) -> frozenset[str]:
    """The cases of a patient, in the study's file of cases and in those of its rounds."""
    sources = {id(source): source for source in (study.cases, *(each.cases for each in study.rounds))}
    return frozenset(case.id for source in sources.values() for case in source if case.patient == patient)


def choice_of(panel: Panel, patient: str = "", cases: Iterable[str] = ()) -> Choice:
    """What is meant by a patient, or by cases; refused where the study knows no such patient."""
    if not patient:
        ids = frozenset(cases)
        return Choice("case", tuple(sorted(ids)), ids)
    if panel.study is None:
        raise MedjuryError("only the study's cases know whose they are; name its file, or name the cases")
    if not (found := cases_of(panel.study, patient)):
        raise MedjuryError(
            f"none of the cases of {panel.study.file.name} is of that patient; nothing was erased. Check the id. "
            "Where the cases were taken out of their file already, name them (`--case ID`)"
        )
    return Choice("patient", (patient,), found)


def would_go(panel: Panel, choice: Choice) -> ErasedFromPanel:
    """What an erasure would take; refused where that is nothing and it never was erased."""
    with panel.database.reading() as connection:
        rows = {
            column.table.name: connection.execute(select(func.count()).where(column.in_(ids))).scalar_one()
            for column, ids in _rows(connection, choice)[0]
        }
        earlier = "" if any(rows.values()) else erased_at(connection, choice.by, choice.names)
    return _found(panel, ErasedFromPanel(rows, earlier=earlier))


def _found(panel: Panel, done: ErasedFromPanel) -> ErasedFromPanel:
    if done or done.earlier:
        return done
    raise MedjuryError(
        f"{panel.database.place} holds nothing about what was named; nothing was erased. Check the id."
    )


def erase(panel: Panel, choice: Choice, by: Person | str = "the command line") -> ErasedFromPanel:
    """Erase, or refuse where there is nothing of it. The same again finishes what was stopped half-way."""
    with panel.database.writing() as connection:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("PRAGMA secure_delete = ON")
        done = _found(panel, _erase(connection, panel, choice, by))
    registration = _keep_registration(panel, choice)  # while the study's files still hold the cases
    files, changed = _write_files_anew(panel, choice)
    panel.database.clear_free_space([*done.rows, "trail"])
    return ErasedFromPanel(done.rows, done.trail, files, changed, done.earlier, registration)


def _keep_registration(panel: Panel, choice: Choice) -> str:
    """Record the erasure, as hashes, in the ledger of a registered study; what became of it, in words."""
    if panel.study is None or not Ledger.read(panel.study.file.resolve().parent).lines:
        return ""
    try:
        noted = record_erasure(load_study(panel.study.file), choice.items)
    except MedjuryError as error:
        return f"The erasure is not recorded in the study's ledger, and its registration is lost: {error}"
    return "" if noted is None else noted.text()


def _erase(connection: Connection, panel: Panel, choice: Choice, by: Person | str) -> ErasedFromPanel:
    chosen, codes = _rows(connection, choice)
    rows: dict[str, int] = {}
    with erasing_allowed(connection):
        for column, ids in chosen:
            gone = connection.execute(delete(column.table).where(column.in_(ids)))
            rows[column.table.name] = gone.rowcount
        if not any(rows.values()):
            return ErasedFromPanel(rows, earlier=erased_at(connection, choice.by, choice.names))
        counts = {name: count for name, count in rows.items() if count}
        reduced = note_erasure(
            connection, by, choice.by, choice.names, choice.items, codes, counts, panel.now()
        )
    return ErasedFromPanel(rows, reduced)


def _rows(connection: Connection, choice: Choice) -> tuple[list[tuple[Any, list[Any]]], set[str]]:
    """The rows that go, in the order in which they may, by a column and its values; and the random names by which
    pages and the trail call them."""

    def ids(column: Any, among: Iterable[Any], of: Any = None) -> list[Any]:
        table = column.table
        return list(
            connection.execute(select(table.c.id if of is None else of).where(column.in_(among))).scalars()
        )

    items = ids(items_table.c.item, choice.items)
    assigned = ids(assignments_table.c.item, items)
    asked = ids(asked_table.c.assignment, assigned)
    met = ids(meeting_items_table.c.item, items)
    proposed = ids(proposals_table.c.meeting_item, met)
    cases = ids(reference_cases_table.c.item, choice.items)
    work = ids(reference_work_table.c.case, cases)
    chosen: list[tuple[Any, list[Any]]] = [
        (replies_table.c.asked, asked), (asked_table.c.id, asked),
        (answers_table.c.assignment, assigned), (looks_table.c.assignment, assigned),
        (confirmations_table.c.proposal, proposed), (proposals_table.c.id, proposed),
        (decisions_table.c.meeting_item, met), (meeting_items_table.c.id, met),
        (assignments_table.c.id, assigned), (items_table.c.id, items),
        (reference_entries_table.c.work, work), (reference_stages_table.c.work, work),
        (reference_work_table.c.id, work), (reference_answers_table.c.case, cases),
        (reference_cases_table.c.id, cases), (imported_table.c.item, list(choice.items)),
    ]  # fmt: skip
    coded = (
        asked_table,
        meeting_items_table,
        assignments_table,
        reference_work_table,
        reference_answers_table,
    )
    codes = {
        code
        for column, among in chosen
        if column.table in coded
        for code in ids(column, among, column.table.c.code)
    }
    return chosen, codes


def _write_files_anew(panel: Panel, choice: Choice) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The file that the study takes its clinicians' ratings from loses the rows; other files that were written here
    are written as they would be today. A file that somebody changed since is left to them."""
    written, changed = [], []
    if panel.study is not None and (file := panel_file(panel.study.file, panel.study.name)).exists():
        _take_out(file, choice.items)
        written.append(str(file))
    with panel.database.reading() as connection:
        exports = connection.execute(select(exports_table).order_by(exports_table.c.path)).all()
    for row in exports:
        if not (file := Path(row.path)).is_file():
            continue
        if hashlib.sha256(file.read_bytes()).hexdigest() != row.digest:
            changed.append(row.path)
            continue
        write_export(panel, file, row.kind)
        written.append(row.path)
    return tuple(written), tuple(changed)


def _take_out(file: Path, items: frozenset[str]) -> None:
    import polars

    with one_at_a_time(file), whole_part(file) as part:
        polars.read_parquet(file).filter(~polars.col("item").is_in(list(items))).write_parquet(part)


_KINDS = ("patient", "case")


def routes(panel: Panel) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.get("/erase")
    def ask(request: Request, person: Coordinator) -> Response:
        return _page(request)

    @router.post("/erase")
    def show(request: Request, person: Coordinator, form: SentForm) -> Response:
        try:
            found = would_go(panel, _choice(panel, form))
        except MedjuryError as error:
            return _page(request, form, problem=str(error), status=400)
        return _page(request, form, found=found)

    @router.post("/erase/now")
    def now(request: Request, person: Coordinator, form: SentForm) -> Response:
        try:
            choice = _choice(panel, form)
            if form.get("again", "").strip() != form.get("id", "").strip():
                return _page(
                    request,
                    form,
                    problem="The two ids differ. Nothing was erased. Type the id once more.",
                    found=would_go(panel, choice),
                    status=400,
                )
            done = erase(panel, choice, person)
        except MedjuryError as error:
            return _page(request, form, problem=str(error), status=400)
        return _page(request, report=done.text("the panel"))

    return router


def _choice(panel: Panel, form: Form) -> Choice:
    named = form.get("id", "").strip()
    if not named or form.get("kind") not in _KINDS:
        raise MedjuryError("Type the id of a patient or of a case.")
    return choice_of(panel, named) if form["kind"] == "patient" else choice_of(panel, cases=[named])


def _page(request: Request, form: Form | None = None, *, status: int = 200, **values: Any) -> Response:
    typed = {} if form is None else {"id": form.get("id", "").strip(), "kind": form.get("kind", "patient")}
    shown = {"problem": "", "report": "", "found": None, "id": "", "kind": "patient", **typed, **values}
    return page(request, "erasing/erase.html", status=status, **shown)
