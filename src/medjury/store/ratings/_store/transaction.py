"""What can be done to a store within one transaction. Store and StoreDesk combine these steps."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

from medjury.foundation.clock import utc_now
from medjury.instruments import TRANSIENT, Outcome, Reason
from medjury.models import SECRET_BYTES, Job, JobCall, Reply
from medjury.store.ratings._frame import row_of_rating
from medjury.store.ratings._rating import Question, Rating, StoredRecord, outcome_of
from medjury.store.ratings._store.escaping import escape, unescape
from medjury.store.ratings._store.owner import Claim, Heartbeats, Owner, is_dead
from medjury.store.ratings._store.partitions import Kind, note_use, parts_of, place, place_or_find
from medjury.store.ratings._store.statements import RATING_COLUMNS, Statements, for_rows, key_list
from medjury.store.ratings._store.store_error import ValueRefused


def add_rows(
    cursor: Any, dialect: str, table: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Append rows that are known to be new, inside the caller's transaction."""
    names = ", ".join(columns)
    if dialect == "sqlite":
        marks = ", ".join("?" * len(columns))
        cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", rows)  # noqa: S608 - our own names
        return
    with cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


# How a row compares with the last one of its key and dimension: it says something else, the same, or it may not
# take its place.
_Word = Literal["news", "same", "refused"]
_Row = tuple[Any, ...]
_ROWS_AT_ONCE = (40, 8, 1)  # of 22 values each: an SQLite may be built to take 999
_MANY = 100  # ratings from which on PostgreSQL's COPY is quicker than statements
_LONGEST_NAME = 600  # PostgreSQL's indexes refuse entries over 2,700 bytes


@dataclass(frozen=True, slots=True)
class StoredReply:
    """A reply under the key of its call; `run` paid `cost` for it (None: the price is not known)."""

    key: str
    reply: Reply
    cost: float | None
    run: str = ""


class Transaction:
    """The steps of one transaction on a raw cursor."""

    def __init__(
        self,
        cursor: Any,
        sql: Statements,
        dialect: str,
        heartbeats: Heartbeats,
        left_by: Callable[[str], Sequence[StoredReply]],
    ) -> None:
        self.cursor = cursor
        self.sql = sql
        self.dialect = dialect
        self._heartbeats = heartbeats
        self._left_by = left_by  # replies that an owner who has ended had not stored yet

    # Replies and claims

    def find_replies(self, keys: Iterable[str]) -> dict[str, Reply]:
        return {
            unescape(key): Reply(
                unescape(text), finish, into, out, cached, seconds, unescape(model), cost, written, unescape(token)
            )
            for key, text, finish, into, out, cached, seconds, model, cost, written, token
            in self._select_parted(self.sql.find_replies, "reply", keys)
        }  # fmt: skip

    def find_or_claim(self, keys: Collection[str], owner: Owner) -> dict[str, Reply | Claim]:
        """The stored reply, or the right to make the call, or the news that another owner is making it."""
        answers: dict[str, Reply | Claim] = dict(self.find_replies(keys))
        open_keys = [key for key in keys if key not in answers]
        if not open_keys:
            return answers
        self._for_each(self.sql.add_claims, owner.id, open_keys)
        if self.cursor.rowcount == len(open_keys):  # nobody held any of them
            return answers | dict.fromkeys(open_keys, Claim.OURS)
        holders = self._holders(open_keys)
        if any(holder != owner.id for holder in holders.values()) and self.drop_dead_owners(owner):
            answers |= self.find_replies(open_keys)
            open_keys = [key for key in open_keys if key not in answers]
            holders = self._holders(open_keys)
        free = []
        for key in open_keys:
            holder = holders.get(key)
            if holder is None:
                free.append(key)
            answers[key] = Claim.OURS if holder in (None, owner.id) else Claim.BUSY
        if free:
            self._for_each(self.sql.add_claims, owner.id, free)
        return answers

    def add_replies(self, replies: Sequence[StoredReply]) -> None:
        """Keep replies; of two for one key the first stays."""
        if not replies:
            return
        now = utc_now()
        rows = {
            escape(each.key): (
                escape(each.key), escape(each.reply.text), each.reply.finish, each.reply.tokens_in,
                each.reply.tokens_out, each.reply.tokens_cached, each.reply.seconds,
                escape(each.reply.model), each.cost, each.reply.tokens_written, escape(each.run), now,
                escape(each.reply.token),
            )
            for each in reversed(replies)
        }  # fmt: skip
        new = self._placed("reply", {key: row[10] for key, row in rows.items()})
        self._add_together(self.sql.add_reply, [(*row, *new[key]) for key, row in rows.items() if key in new])

    def drop_claims(self, keys: Iterable[str], owner: Owner) -> None:
        if those := list(keys):
            self._for_each(self.sql.drop_claims, owner.id, those)

    def beat(self, owner: Owner) -> None:
        """Say that the owner lives."""
        self.cursor.execute(self.sql.beat, (owner.id, escape(owner.host), owner.pid, owner.started))

    def drop_owner(self, owner_id: str) -> None:
        """The owner has ended; its claims end with it."""
        self.cursor.execute(self.sql.drop_claims_of, (owner_id,))
        self.cursor.execute(self.sql.drop_owner, (owner_id,))
        if self.dialect == "postgresql":
            self.cursor.execute("DELETE FROM allowances WHERE owner = %s", (owner_id,))

    def drop_dead_owners(self, me: Owner) -> int:
        """End every owner whose process is gone or silent: others may make its calls at once, but those whose
        replies it had already."""
        dead = [owner for owner, ended in self._owners(me.id) if ended]
        for owner in dead:
            self.add_replies(self._left_by(owner.id))
            self.drop_owner(owner.id)
        return len(dead)

    def living_owners(self) -> list[Owner]:
        """Who works on the store now, as far as is known."""
        return [owner for owner, ended in self._owners() if not ended]

    def _owners(self, but: str = "") -> list[tuple[Owner, bool]]:
        """Every other owner, and whether its process has ended."""
        self.cursor.execute(self.sql.find_owners)
        return [
            (each := Owner(owner, unescape(host), pid, started),
             is_dead(each, self._heartbeats.silent_seconds(owner, heartbeat)))
            for owner, host, pid, started, heartbeat in self.cursor.fetchall() if owner != but
        ]  # fmt: skip

    # Ratings

    def settled(self, keys: Collection[str], retry: Collection[Reason] = TRANSIENT) -> set[str]:
        """The keys whose every dimension has an answer, or a failure that is not to be tried again."""
        found: dict[str, bool] = {}
        for key, reason in self._select_parted(self.sql.find_settled, "unit", keys):
            found[key] = found.get(key, True) and (reason is None or reason not in retry)
        return {unescape(key) for key, good in found.items() if good}

    def add_ratings(
        self,
        ratings: Sequence[Rating],
        records: Sequence[StoredRecord] = (),
        runs: Mapping[str, str] | None = None,
    ) -> int:
        """Append ratings, and the records of those that are new; how many were new. `runs` says by key which run
        writes them.

        The same word again is not a new row. A failure does not replace an answer, nor a passing failure a
        lasting one: both would lose what was paid for. Only a person may take a grade back. Anything else that
        differs from the last row of its key and dimension is a new attempt.

        Rows of one key stand together. Where one is new, those that say the same as before are written again:
        what the calls took is shared out over all of them. And where a record tells how all of them came about,
        an attempt of which a part may not be written is not written at all: the record would tell of other
        scores than those that stand.
        """
        if not ratings:
            return 0
        given = list(map(_row, ratings))
        keys = {rating.key for rating in ratings}
        stored = self._select_parted(self.sql.find_latest, "unit", keys)
        latest = {(row[0], row[1]): row[2:] for row in stored}
        if not latest and len({(row[16], row[5]) for row in given}) == len(given):
            new, rows = len(given), [(*row, 1) for row in given]  # as nearly always: each is the first word
        else:
            attempts = dict(self._select_parted(self.sql.find_attempts, "unit", keys)) if latest else {}
            new, rows = _attempted(given, latest, attempts, {escape(each.key) for each in records})
        if not rows:
            return new
        parts = self._parts_for_units({row[16] for row in rows}, runs or {})
        if self.dialect == "postgresql":
            rows = [(*row, *parts[row[16]]) for row in rows]
        if len(rows) >= _MANY and self.dialect == "postgresql":
            # Writers take turns, and each attempt has a number of its own: none of these rows is there already.
            add_rows(self.cursor, self.dialect, "ratings", (*RATING_COLUMNS, "attempt", "part"), rows)
        else:
            self._add_together(self.sql.add_rating, rows)
        self._add_records([each for each in records if escape(each.key) in parts], parts)
        return new

    def _add_records(self, records: Sequence[StoredRecord], parts: Mapping[str, tuple[int, ...]]) -> None:
        if records:
            self.cursor.executemany(
                self.sql.add_record,
                [
                    (
                        escape(each.key), escape(each.item), escape(each.system), escape(each.rater),
                        each.repeat, escape(each.body), escape(each.created_at), *parts[escape(each.key)],
                    )
                    for each in records
                ],
            )  # fmt: skip

    def add_questions(self, questions: Sequence[Question]) -> None:
        """Keep which reply answered which question."""
        if questions:
            self._add_together(
                self.sql.add_question,
                # In one order, so that two processes which write the same ones never wait for each other.
                sorted(
                    (escape(each.unit), each.name, each.reply, escape(each.failure), each.read_as)
                    for each in questions
                ),
            )

    def find_questions(self, units: Iterable[str]) -> list[Question]:
        return [
            Question(unescape(unit), name, reply, unescape(failure), read_as)
            for unit, name, reply, failure, read_as in self.select(self.sql.find_questions, units)
        ]

    def find_secret(self) -> bytes | None:
        """What the tokens of questions are derived with, where any has been."""
        self.cursor.execute(self.sql.find_secret)
        found = self.cursor.fetchone()
        return None if found is None else bytes.fromhex(found[0])

    def make_secret(self) -> bytes:
        """The same, made where there is none."""
        self.cursor.execute(self.sql.add_secret, (secrets.token_hex(SECRET_BYTES),))
        made = self.find_secret()
        assert made is not None
        return made

    def find_outcomes(self, units: Iterable[str]) -> dict[tuple[str, str], Outcome]:
        """The latest outcome of every dimension of these keys."""
        return {
            (unescape(key), unescape(dimension)): outcome_of(score, reason, unescape(explanation))
            for key, dimension, score, _, reason, explanation, _ in self._select_parted(
                self.sql.find_latest, "unit", units
            )
        }

    # Batch jobs

    def add_job(self, job: Job) -> None:
        self.cursor.execute(self.sql.add_job, (job.id, escape(job.endpoint), job.log, job.created_at))
        rows = [(job.id, call.key, call.announced, call.perhaps) for call in job.calls]
        self.cursor.executemany(self.sql.add_job_call, rows)

    def name_job(self, job: str, provider_id: str) -> None:
        self.cursor.execute(self.sql.name_job, (escape(provider_id), job))

    def drop_job_calls(self, job: str, keys: Iterable[str]) -> None:
        self.cursor.executemany(self.sql.drop_job_call, [(job, key) for key in keys])

    def find_jobs(self, endpoint: str) -> list[Job]:
        """Those with calls whose end is not stored, the oldest first."""
        self.cursor.execute(self.sql.find_jobs, (escape(endpoint),))
        found: dict[str, Job] = {}
        calls: dict[str, list[JobCall]] = {}
        for job, log, created_at, name, key, announced, perhaps in self.cursor.fetchall():
            calls.setdefault(job, []).append(JobCall(key, announced, perhaps))
            provider_id = None if name is None else unescape(name)
            found.setdefault(job, Job(job, endpoint, log, created_at, calls[job], provider_id))
        return list(found.values())

    def add_members(self, run: str, keys: Iterable[str]) -> None:
        """These keys belong to the run, whichever run paid for them."""
        if len(run) > _LONGEST_NAME - 100:
            raise ValueRefused(f"a run's name may have at most {_LONGEST_NAME - 100} characters")
        if those := list(keys):
            self._for_each(self.sql.add_members, escape(run), those)
            if self.dialect == "postgresql":
                note_use(self.cursor, escape(run), map(escape, those))

    def held_by(self, owner: Owner, keys: Iterable[str]) -> set[str]:
        """Those of the keys that the owner has claimed."""
        return {key for key, holder in self._holders(keys).items() if holder == owner.id}

    def _holders(self, keys: Iterable[str]) -> dict[str, str]:
        return {unescape(key): owner for key, owner in self.select(self.sql.find_claims, keys)}

    def _add_together(self, statement: str, rows: Sequence[_Row]) -> None:
        """Many rows by one statement, as below; but in a few sizes, each of which SQLite has to read only once."""
        if self.dialect != "sqlite":
            self.cursor.executemany(statement, rows)
            return
        at = 0
        while at < len(rows):
            number = next(each for each in _ROWS_AT_ONCE if each <= len(rows) - at)
            values = list(chain.from_iterable(rows[at : at + number]))
            self.cursor.execute(for_rows(statement, number), values)
            at += number

    def _for_each(self, statement: str, value: str, keys: Iterable[str]) -> None:
        """One statement for all of these keys. Row by row the database would hand the processor back and forth
        between its thread and the event loop's."""
        self.cursor.execute(statement, (value, key_list(self.dialect, map(escape, keys))))

    def select(self, statement: str, keys: Iterable[str]) -> list[Any]:
        """The rows of a statement that asks for `{keys}`."""
        self.cursor.execute(statement, (key_list(self.dialect, map(escape, keys)),))
        return self.cursor.fetchall()  # type: ignore[no-any-return]

    # Parts

    def _select_parted(self, statement: str, kind: Kind, keys: Iterable[str]) -> list[Any]:
        """The rows of a statement that asks for `{keys_in_parts}`: only partitions are looked at that hold some."""
        if self.dialect == "sqlite":
            return self.select(statement, keys)
        parts = parts_of(self.cursor, kind, [escape(key) for key in keys])
        if not parts:
            return []
        self.cursor.execute(statement, {"keys": list(parts), "parts": sorted(set(parts.values()))})
        return self.cursor.fetchall()  # type: ignore[no-any-return]

    def _parts_for_units(self, keys: Collection[str], runs: Mapping[str, str]) -> dict[str, tuple[int, ...]]:
        """By key the value of the column `part`, where there is one; a new key lies with the run that writes it."""
        of = {escape(key): escape(run) for key, run in runs.items()}
        if self.dialect == "sqlite":
            return dict.fromkeys(keys, ())
        placed = place_or_find(self.cursor, "unit", {key: of.get(key, "") for key in keys})
        return {key: (part,) for key, part in placed.items()}

    def _placed(self, kind: Kind, runs: Mapping[str, str]) -> dict[str, tuple[int, ...]]:
        """The keys that were not there yet, with the value of the column `part`; SQLite finds out by itself."""
        if self.dialect == "sqlite":
            return dict.fromkeys(runs, ())
        return {key: (part,) for key, part in place(self.cursor, kind, runs).items()}


def _row(rating: Rating) -> _Row:
    if len(rating.key) + len(rating.dimension) > _LONGEST_NAME:
        raise ValueRefused(
            f"a rating's key and dimension may have at most {_LONGEST_NAME} characters together"
        )
    return row_of_rating(rating)


def _attempted(
    given: Sequence[_Row],
    latest: dict[tuple[str, str], tuple[Any, ...]],
    attempts: dict[str, int],
    recorded: Collection[str],
) -> tuple[int, list[_Row]]:
    """How many of these rows are new beside the `latest` words, and the rows to write, each with the number of its
    attempt. `attempts` are those stored by key; `recorded` are the keys that have a record."""
    judged: dict[str, list[tuple[_Row, _Word]]] = {}
    for row in given:
        key, dimension = row[16], row[5]
        previous = latest.get((key, dimension))
        word = "news" if previous is None else _compare(row, previous)
        if word == "news":
            latest[key, dimension] = _word_of(row)
        judged.setdefault(key, []).append((row, word))
    rows: list[_Row] = []
    new = 0
    for key, found in judged.items():
        words = {word for _, word in found}
        once = len({row[5] for row, _ in found}) == len(found)  # else several attempts in one write
        if "news" not in words or ("refused" in words and key in recorded and once):
            continue
        new += sum(word == "news" for _, word in found)
        written: set[str] = set()
        for row, word in found:
            if word == "refused" or (word == "same" and row[17] is None):  # no calls to share out
                continue
            if row[5] in written:  # two attempts in one write
                attempts[key] = attempts.get(key, 0) + 1
            written.add(row[5])
            rows.append((*row, attempts.get(key, 0) + 1))
    return new, rows


def _word_of(row: _Row) -> tuple[Any, ...]:
    """Score, status, reason, explanation and probability: what makes a row another word than the one before."""
    return (*row[7:11], row[20])


def _compare(row: _Row, previous: tuple[Any, ...]) -> _Word:
    _, status, reason, _, _ = own = _word_of(row)
    if tuple(previous) == own:
        return "same"
    if row[3] == "clinician":  # a corrected file, or a second look
        return "news"
    if status == "unscored" and previous[1] != "unscored":
        return "refused"
    return "news" if reason not in TRANSIENT or previous[2] in TRANSIENT else "refused"
