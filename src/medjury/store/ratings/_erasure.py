"""Erasing: everything of some cases, or of a time, leaves a store, down to the bytes of its file.

Ratings and replies are append-only for everybody else. An erasure takes the rows, the links to them and the free
space in which their bytes lie, and leaves an entry in the log of erasures.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from medjury.foundation.clock import utc_now
from medjury.store.ratings._store.database import holders
from medjury.store.ratings._store.escaping import escape, unescape
from medjury.store.ratings._store.partitions import drop_part, forget_keys, values_of_run
from medjury.store.ratings._store.schema import deletion_allowed
from medjury.store.ratings._store.statements import key_list
from medjury.store.ratings._store.store import Store, at_work, refuse_while_at_work
from medjury.store.ratings._store.store_error import StoreError, StoreLocked
from medjury.store.ratings._store.transaction import Transaction

# The log of erasures: an entry for each, chained by hashes. It holds no id and no text, so that nothing of it ever
# has to be erased, and the chain stays whole.

_FIRST = "0" * 64
_PATIENCE = 10.0  # seconds that an older transaction has to end
_ROUNDS = 100_000  # ids are short: whoever tries them all shall need time for each


@dataclass(frozen=True, slots=True)
class ErasureEntry:
    """One erasure: what was named (a patient, a case, a date), when, and how many rows went."""

    number: int
    at: str
    by: str
    marks: tuple[str, ...]  # a salted hash of each id that was named; of a date the date itself
    salt: str
    rows: Mapping[str, int]
    hash: str

    def names(self, by: str, ids: Iterable[str]) -> bool:
        """True where this entry is of these very ids."""
        return self.by == by and tuple(mark_of(each, self.salt) for each in sorted(ids)) == self.marks


def mark_of(name: str, salt: str) -> str:
    """The slow, salted hash of an id."""
    mark = hashlib.pbkdf2_hmac("sha256", name.encode("utf-8", "surrogatepass"), bytes.fromhex(salt), _ROUNDS)
    return mark.hex()


def write_entry(previous: ErasureEntry | None, at: str, by: str, marks: Iterable[str], salt: str,
                rows: Mapping[str, int]) -> tuple[int, str]:  # fmt: skip
    """The number and the text of the entry that follows `previous`."""
    number = 1 if previous is None else previous.number + 1
    body = {
        "n": number, "at": at, "event": "erasure", "by": by, "of": list(marks), "salt": salt, "rows": dict(rows),
        "previous": _FIRST if previous is None else previous.hash,
    }  # fmt: skip
    return number, json.dumps({**body, "hash": _hash(body)})


def read_entries_of(lines: Iterable[str], place: str) -> list[ErasureEntry]:
    """The entries of a chain that is whole; a `StoreError` names the first one that is not."""
    found: list[ErasureEntry] = []
    for number, line in enumerate(lines, 1):
        body: dict[str, Any] = json.loads(line)
        digest = body.pop("hash", "")
        before = found[-1].hash if found else _FIRST
        if body.get("n") != number or body.get("previous") != before or digest != _hash(body):
            raise StoreError(f"{place}: entry {number} of the log of erasures was changed, or one is missing")
        entry = ErasureEntry(
            number, body["at"], body["by"], tuple(body["of"]), body["salt"], body["rows"], digest
        )
        found.append(entry)
    return found


def _hash(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


_TABLES = ("ratings", "replies", "records", "questions", "members", "claims", "runs")
_NOTHING = "Nothing was erased."


@dataclass(frozen=True, slots=True)
class Selection:
    """What is to be erased: the cases in `items`, named `by` the ids in `names`; or what is older than `before`; or
    the run in `names`, with all that no other run has too.

    Replies that no rating is linked to (of questions that were asked again, of killed runs) are of unknown cases:
    they go too, unless `keep_unlinked`.
    """

    by: Literal["patient", "case", "date", "run"]
    names: tuple[str, ...] = ()
    items: frozenset[str] = frozenset()
    before: datetime | None = None
    keep_unlinked: bool = False

    @classmethod
    def older(cls, text: str) -> Selection:
        """What is older than a day, or a moment, in UTC."""
        before = _date(text)
        if before is None:
            raise StoreError("the date cannot be read: write it as 2026-01-31")
        return cls("date", before=before)


_WORDS = {
    "ratings": ("rating", "ratings"),
    "replies": ("reply", "replies"),
    "records": ("record of how ratings came about", "records of how ratings came about"),
    "questions": ("question", "questions"),
    "runs": ("manifest with an id in it", "manifests with an id in them"),
}
_NOT_REACHED = (
    "This command does not erase the following, which you must deal with yourself:",
    "- the run folders{runs}: ratings, records, drafts, patients, tables and reports lie there as files. Take the "
    "cases out of the file of cases and run the study again (nothing is paid twice), or delete the folders. Their "
    "audit.jsonl holds hashes only and stays whole;",
    "- the files of cases, exports, answers written by `medjury runs record`, files for training, prompts with "
    "examples;",
    "- batch jobs that are still with a provider: their answers come with the next run of their study;",
    "- the database of the panel, if clinicians rated there: `medjury panel erase STUDY --patient ID`;",
    "- backups, copies and snapshots of this store; PostgreSQL's write-ahead log and replicas;",
    "- what a reply about another case may quote of it, where it was an example in the prompt.",
)


@dataclass(slots=True)
class Erased:
    """How many rows of each table went (or would go), of which runs, and what was found beside them."""

    rows: dict[str, int] = field(default_factory=dict)
    unlinked: int = 0  # replies whose case is not known
    unlinked_go: bool = True
    undated: int = 0  # ratings kept, because their date cannot be read
    runs: tuple[str, ...] = ()
    earlier: str = ""  # nothing was found, because it was erased at this time
    turns: tuple[str, ...] = ()  # cases that were not named and look like turns of those that were

    def __bool__(self) -> bool:
        return any(self.rows.values())

    def text(self, place: str, *, dry_run: bool) -> str:
        """A few lines; what is left over follows whatever was self."""
        if not self and not self.earlier:
            return f"{place} holds nothing that is older."
        if self.earlier:
            lines = [
                f"{place} holds nothing about it: it was erased at {self.earlier}. Free space was cleared again."
            ]
        else:
            rows = [
                f"{count:,} {words[count > 1]}"
                for name, words in _WORDS.items()
                if (count := self.rows.get(name))
            ]
            verb = "Would be erased from" if dry_run else "Erased from"
            lines = [f"{verb} {place}: {', '.join(rows) or 'links only'}."]
        if self.unlinked:
            fate = "are among them" if self.unlinked_go else "are kept"
            lines.append(
                f"{self.unlinked:,} replies belong to no rating, so their case is not known (questions that "
                f"were asked again, runs that were stopped, an old store): they {fate}."
            )
        if self.undated:
            lines.append(f"{self.undated:,} ratings were kept because their date cannot be read.")
        lines += self._turns_text()
        runs = f" of {', '.join(self.runs)}" if self.runs else ""
        return "\n".join([*lines, "", *(each.format(runs=runs) for each in _NOT_REACHED)])

    def not_found_text(self) -> str:
        """That nothing was found, and where something may be all the same."""
        found = "none of its ratings is about what was named; nothing was erased. Check the id."
        found = " ".join((found, *self._turns_text()))
        if not self.unlinked:
            return found
        return (
            f"{found} But {self.unlinked:,} replies belong to no rating, so their case is not known; "
            "`--before DATE` erases them by their age."
        )

    def _turns_text(self) -> list[str]:
        if not self.turns:
            return []
        count = "1 case is" if len(self.turns) == 1 else f"{len(self.turns):,} cases are"
        shown = ", ".join(self.turns[:3]) + (", ..." if len(self.turns) > 3 else "")
        return [f"{count} kept that may be turns of it ({shown}): erase each by its id (`--case ID`)."]


def erase(store: Store, selection: Selection, *, dry_run: bool = False) -> Erased:
    """Erase, or count what would go. Nothing found is not an error here: see `Erased`."""
    if dry_run:
        return store.in_transaction(lambda transaction: _choose(transaction, selection)[0], write=False)
    refuse_while_at_work(store, _NOTHING)
    store.take_over()  # what lies beside the file is erased with the rest
    if beside := store.waiting_beside():
        raise at_work(store.place, f"A process that writes {beside[0].name}", _NOTHING)
    _empty_the_log(store, _NOTHING)
    done = store.in_transaction(lambda transaction: _erase(transaction, selection, store.place))
    if done or done.earlier:  # an earlier erasure may have been stopped before this
        if who := store.outside_transactions(lambda cursor, dialect: _rewrite(cursor, dialect, selection.by)):
            raise StoreLocked(
                f"{store.place}: {who} began a transaction before the rows were erased, and as long as it is open "
                "their bytes stay on the disk. End it and run the same command again."
            )
        _empty_the_log(store, "The rows are erased, but their bytes are still in its -wal file.")
    return done


def erasures(store: Store) -> list[ErasureEntry]:
    """The log of erasures, oldest first, once its chain is found whole."""
    return store.in_transaction(lambda transaction: _entries(transaction, store.place), write=False)


def _choose(transaction: Transaction, selection: Selection) -> tuple[Erased, set[str], set[str]]:
    """What goes, and the keys of its ratings and of its replies, as they are in the tables."""
    found = Erased()
    if selection.by == "run":
        units, replies = _of_run(transaction, selection.names[0], found)
    elif selection.before is None:
        units, replies = _of_items(transaction, selection, found)
    else:
        units, replies = _before(transaction, selection.before, found)
    for table in ("ratings", "records", "questions", "members"):
        found.rows[table] = _count(transaction, table, "unit" if table == "questions" else "key", units)
    for table in ("replies", "claims"):
        found.rows[table] = _count(transaction, table, "key", replies)
    if selection.by == "run":
        found.runs = selection.names
        transaction.cursor.execute(transaction.sql.count_members_of_run, (escape(selection.names[0]),))
        found.rows["members"] = int(transaction.cursor.fetchone()[0])
        return found, units, replies
    keys = [unescape(key) for key in units]
    found.runs = tuple(unescape(row[0]) for row in transaction.select(transaction.sql.find_runs_of, keys))
    return found, units, replies


def _of_items(transaction: Transaction, selection: Selection, found: Erased) -> tuple[set[str], set[str]]:
    sql = transaction.sql
    units = {
        row[0]
        for statement in (sql.find_rated_units, sql.find_recorded_units)
        for row in transaction.select(statement, selection.items)
    }
    transaction.cursor.execute(sql.find_items)
    items = {unescape(row[0]) for row in transaction.cursor.fetchall()} - selection.items
    found.turns = tuple(sorted(each for each in items if _conversation_of(each) in selection.items))
    asked = transaction.find_questions([unescape(unit) for unit in units])
    replies = {escape(each.reply) for each in asked if each.reply is not None}
    transaction.cursor.execute(sql.find_unlinked)
    unlinked = {row[0] for row in transaction.cursor.fetchall()}
    found.unlinked, found.unlinked_go = len(unlinked), not selection.keep_unlinked
    # Where nothing is of these cases their names may be wrong: then nothing goes.
    return units, replies | unlinked if units and not selection.keep_unlinked else replies


def _conversation_of(item: str) -> str:
    """The id of the conversation that a case is a turn of, as far as its own id tells; else the id."""
    whole, _, turn = item.rpartition("#")
    return whole if turn.isdecimal() else item


def _of_run(transaction: Transaction, run: str, found: Erased) -> tuple[set[str], set[str]]:
    """The units that no other run has, and the replies that the run paid for, but for those that a unit was read
    from which stays."""
    cursor, sql, name = transaction.cursor, transaction.sql, escape(run)
    cursor.execute(sql.find_units_of_run, (name, name))
    units = {row[0] for row in cursor.fetchall()}
    cursor.execute(sql.find_replies_of_run, values_of_run(cursor, transaction.dialect, name))
    replies = {row[0] for row in cursor.fetchall()}
    cursor.execute(sql.find_links_of, (key_list(transaction.dialect, replies),))
    links = cursor.fetchall()
    replies -= {reply for unit, reply in links if unit not in units}
    found.unlinked = len(replies - {reply for _, reply in links})
    return units, replies


def _before(transaction: Transaction, moment: datetime, found: Erased) -> tuple[set[str], set[str]]:
    cursor, sql = transaction.cursor, transaction.sql
    newer: set[str] = set()
    units: set[str] = set()
    cursor.execute(sql.find_dates)
    for key, created_at in cursor.fetchall():
        date = _date(created_at)
        found.undated += date is None
        (units if date is not None and date < moment else newer).add(key)
    units -= newer
    links: dict[str, set[str]] = {}
    cursor.execute(sql.find_links)
    for unit, reply in cursor.fetchall():
        links.setdefault(reply, set()).add(unit)
    cursor.execute(sql.find_reply_dates)
    replies = set()
    for key, created_at in cursor.fetchall():
        date, of = _date(created_at), links.get(key, set())
        if of & units or (not of and date is not None and date < moment):
            replies.add(key)
            found.unlinked += not of
    return units, replies


def _erase(transaction: Transaction, selection: Selection, place: str) -> Erased:
    if transaction.living_owners():
        raise at_work(place, "Another run", _NOTHING)
    found, units, replies = _choose(transaction, selection)
    entries = _entries(transaction, place)
    if not found:
        earlier = (each.at for each in reversed(entries) if each.names(selection.by, selection.names))
        found.earlier = next(earlier, "")
        return found
    cursor, sql, salt = transaction.cursor, transaction.sql, secrets.token_hex(16)
    if selection.by == "run":
        found.rows["runs"] = _forget_run(transaction, escape(selection.names[0]), units, replies)
    else:
        _delete(transaction, units, replies)
        found.rows["runs"] = _forget_in_manifests(transaction, selection, salt)
    marks = [mark_of(name, salt) for name in sorted(selection.names)]
    if selection.before is not None:
        marks = [selection.before.isoformat()]
    last = entries[-1] if entries else None
    cursor.execute(sql.add_erasure, write_entry(last, utc_now(), selection.by, marks, salt, found.rows))
    return found


def _delete(transaction: Transaction, units: set[str], replies: set[str]) -> None:
    cursor, sql = transaction.cursor, transaction.sql
    with deletion_allowed(cursor, transaction.dialect):
        for statement, keys in (
            (sql.erase_ratings, units), (sql.erase_records, units), (sql.erase_questions, units),
            (sql.erase_members, units), (sql.erase_replies, replies), (sql.erase_claims, replies),
        ):  # fmt: skip
            cursor.execute(statement, (key_list(transaction.dialect, keys),))
    if transaction.dialect == "postgresql":
        forget_keys(cursor, list(units), list(replies))


def _forget_run(transaction: Transaction, run: str, units: set[str], replies: set[str]) -> int:
    """The run goes with its manifest; PostgreSQL drops its tables, and SQLite deletes its rows."""
    cursor, sql = transaction.cursor, transaction.sql
    if transaction.dialect == "postgresql":
        drop_part(cursor, run)
        for statement, keys in ((sql.erase_questions, units), (sql.erase_claims, replies)):
            cursor.execute(statement, (list(keys),))
    else:
        _delete(transaction, units, replies)
    cursor.execute(sql.erase_members_of_run, (run,))
    cursor.execute(sql.erase_run, (run,))
    return int(cursor.rowcount)


def _forget_in_manifests(transaction: Transaction, selection: Selection, salt: str) -> int:
    """Put a hash in the place of each id in the stored manifests; how many of them held one."""
    ids = {*selection.items, *selection.names}
    changed = 0
    transaction.cursor.execute(transaction.sql.find_manifests)
    for run, text in transaction.cursor.fetchall():
        manifest = json.loads(text)
        without = _without(manifest, ids, salt)
        if without != manifest:
            values = (run, json.dumps(without, sort_keys=True), utc_now())
            transaction.cursor.execute(transaction.sql.put_run, values)
            changed += 1
    return changed


def _without(value: Any, ids: Collection[str], salt: str) -> Any:
    if isinstance(value, str):
        return f"erased-{mark_of(value, salt)[:16]}" if value in ids else value
    if isinstance(value, list):
        return [_without(each, ids, salt) for each in value]
    if isinstance(value, Mapping):
        return {_without(name, ids, salt): _without(each, ids, salt) for name, each in value.items()}
    return value


def _entries(transaction: Transaction, place: str) -> list[ErasureEntry]:
    transaction.cursor.execute(transaction.sql.find_erasures)
    return read_entries_of((row[0] for row in transaction.cursor.fetchall()), place)


def _count(transaction: Transaction, table: str, column: str, keys: set[str]) -> int:
    one_of = "IN (SELECT value FROM json_each(?))" if transaction.dialect == "sqlite" else "= ANY(%s)"
    statement = f"SELECT count(*) FROM {table} WHERE {column} {one_of}"  # noqa: S608 - our own names
    transaction.cursor.execute(statement, (key_list(transaction.dialect, keys),))
    return int(transaction.cursor.fetchone()[0])


def _date(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _rewrite(cursor: Any, dialect: str, by: str) -> str:
    """Write the tables anew without free space, in which the bytes of what was deleted lie. Of a run in PostgreSQL
    whole tables are gone; beside them only its manifest held words, and not hashes alone. Names who is in the way:
    PostgreSQL keeps what an older transaction may still see."""
    if dialect == "sqlite":
        cursor.execute("VACUUM")
        return ""
    if who := _older(cursor):
        return who
    for table in (
        _TABLES if by != "run" else ("runs",)
    ):  # ANALYZE: the planner keeps samples of what a column holds
        cursor.execute(f"VACUUM (FULL, ANALYZE) {table}")
    if who := _older(cursor):
        return who
    cursor.execute("VACUUM FULL pg_catalog.pg_statistic")
    return ""


def _older(cursor: Any) -> str:
    """Who in this database has had a transaction open since before now and does not end it within seconds: another
    program, or PostgreSQL itself while it cleans up."""
    cursor.execute(
        "SELECT pid, xact_start FROM pg_stat_activity "
        "WHERE datname = current_database() AND backend_xmin IS NOT NULL AND pid <> pg_backend_pid()"
    )
    there = {tuple(row) for row in cursor.fetchall()}
    until = time.monotonic() + _PATIENCE
    while there:
        cursor.execute(
            "SELECT pid, xact_start, coalesce(nullif(application_name, ''), backend_type) FROM pg_stat_activity"
        )
        still = {(pid, begun): name for pid, begun, name in cursor.fetchall() if (pid, begun) in there}
        if not still or time.monotonic() > until:
            return f"{next(iter(still.values()))} (process {next(iter(still))[0]})" if still else ""
        time.sleep(0.1)
    return ""


def _empty_the_log(store: Store, state: str) -> None:
    """SQLite keeps what was written last in a file of its own, as long as somebody reads it."""

    def work(cursor: Any, dialect: str) -> bool:
        if dialect != "sqlite":
            return False
        cursor.execute("PRAGMA secure_delete = ON")
        return bool(cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0])

    if store.outside_transactions(work):
        who = ", ".join(holders(store.path)) if store.path is not None else ""
        raise StoreLocked(
            f"{store.place}: {who or 'another program'} is reading it. {state} Close that program and run the "
            "same command again."
        )
