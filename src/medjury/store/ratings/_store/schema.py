"""The tables of the store, in the words of each database."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from medjury.store.ratings._store.partitions import PART_OF_RUN, PARTITIONED
from medjury.store.ratings._store.store_error import StoreError

VERSION = 1
# Words that differ between the two databases. "C" collation gives PostgreSQL the order that SQLite has. There the
# rows of each run lie in a part of their own, which a key has to name.
_WORDS: Mapping[str, Mapping[str, str]] = {
    "sqlite": {
        "text": "TEXT",
        "real": "REAL",
        "integer": "INTEGER",
        "sequence": "INTEGER",
        "clustered": "WITHOUT ROWID",
        "part": "",
        "and_part": "",
        "parted": "",
    },
    "postgresql": {
        "text": 'TEXT COLLATE "C"',
        "real": "DOUBLE PRECISION",
        "integer": "BIGINT",
        "sequence": "BIGSERIAL",
        "clustered": "",
        "part": "part INTEGER NOT NULL,",
        "and_part": ", part",
        "parted": "PARTITION BY LIST (part)",
    },
}

_TABLES = (
    """CREATE TABLE replies (
        key {text} NOT NULL, text {text} NOT NULL, finish {text} NOT NULL, tokens_in {integer} NOT NULL,
        tokens_out {integer} NOT NULL, tokens_cached {integer} NOT NULL, tokens_written {integer} NOT NULL,
        seconds {real} NOT NULL, model {text} NOT NULL, cost {real}, run {text} NOT NULL, token {text} NOT NULL,
        created_at {text} NOT NULL, {part} PRIMARY KEY (key{and_part})) {parted}""",
    # Two models: that which was asked for, and that which says it answered. The probability is that with which the
    # answer was drawn for its rater.
    """CREATE TABLE ratings (
        sequence {sequence}, item {text} NOT NULL, system {text} NOT NULL, rater {text} NOT NULL,
        rater_kind {text} NOT NULL, instrument {text} NOT NULL, dimension {text} NOT NULL,
        repeat {integer} NOT NULL, score {real}, status {text} NOT NULL, reason {text},
        explanation {text} NOT NULL, seconds {real}, tokens_in {integer}, tokens_out {integer}, cost {real},
        created_at {text} NOT NULL, key {text} NOT NULL, calls {integer}, model_asked {text},
        model_answered {text}, probability {real}, attempt {integer} NOT NULL, {part}
        PRIMARY KEY (sequence{and_part}), UNIQUE (key, dimension, attempt{and_part}),
        CHECK ((status = 'scored') = (score IS NOT NULL)),
        CHECK ((status = 'unscored') = (reason IS NOT NULL))) {parted}""",
    # How a rating of several steps came about.
    """CREATE TABLE records (
        sequence {sequence}, key {text} NOT NULL, item {text} NOT NULL, system {text} NOT NULL,
        rater {text} NOT NULL, repeat {integer} NOT NULL, body {text} NOT NULL, created_at {text} NOT NULL, {part}
        PRIMARY KEY (sequence{and_part})) {parted}""",
    "CREATE INDEX records_by_key ON records (key)",
    # Which reply answered which question of a rating, and by which case it was read: a reply that comes later takes
    # the place of a failure.
    """CREATE TABLE questions (unit {text} NOT NULL, name {text} NOT NULL, reply {text}, failure {text} NOT NULL,
        read_as {text} NOT NULL, PRIMARY KEY (unit, name)) {clustered}""",
    "CREATE TABLE members (run {text} NOT NULL, key {text} NOT NULL, PRIMARY KEY (run, key)) {clustered}",
    "CREATE TABLE runs (run {text} PRIMARY KEY, manifest {text} NOT NULL, created_at {text} NOT NULL)",
    """CREATE TABLE owners (owner {text} PRIMARY KEY, host {text} NOT NULL, pid {integer} NOT NULL,
        started {text} NOT NULL, heartbeat {real} NOT NULL)""",
    "CREATE TABLE claims (key {text} PRIMARY KEY, owner {text} NOT NULL) {clustered}",
    # Batch jobs, written down before they are handed over, and the calls in them until their end is stored.
    """CREATE TABLE batch_jobs (job {text} PRIMARY KEY, endpoint {text} NOT NULL, log {text} NOT NULL,
        created_at {text} NOT NULL, provider_id {text})""",
    """CREATE TABLE batch_calls (job {text} NOT NULL, key {text} NOT NULL, announced {integer},
        perhaps {real} NOT NULL, PRIMARY KEY (job, key)) {clustered}""",
    # What was erased, when and how many rows: entries that are chained by hashes, and hold no id.
    "CREATE TABLE erasures (number {integer} PRIMARY KEY, entry {text} NOT NULL)",
    # What the tokens are derived with that prove that an answer is one.
    "CREATE TABLE secrets (name {text} PRIMARY KEY, value {text} NOT NULL)",
)

_APPEND_ONLY = ("replies", "ratings", "records", "erasures")
_ERASABLE = ("replies", "ratings", "records")


def _refusal(table: str, verb: str) -> str:
    return f"""CREATE TRIGGER {table}_never_{verb.lower()} BEFORE {verb} ON {table}
        BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END"""


_SQLITE = (
    "CREATE INDEX replies_by_run ON replies (run)",
    # Reading in order then needs no sort, so memory stays flat and no text lands in a temporary file. PostgreSQL
    # sorts within its own data folder, and its indexes refuse long entries.
    "CREATE INDEX ratings_in_order ON ratings (item, system, rater, dimension, repeat, key)",
    *(_refusal(table, verb) for table in _APPEND_ONLY for verb in ("UPDATE", "DELETE")),
)

_POSTGRES = (
    "CREATE TABLE parts (part INTEGER GENERATED ALWAYS AS IDENTITY (MINVALUE 0) PRIMARY KEY, "
    "run {text} NOT NULL UNIQUE)",
    "CREATE TABLE run_parts (run {text} NOT NULL, part INTEGER NOT NULL, PRIMARY KEY (run, part))",
    "CREATE TABLE unit_parts (key {text} PRIMARY KEY, part INTEGER NOT NULL)",
    "CREATE TABLE reply_parts (key {text} PRIMARY KEY, part INTEGER NOT NULL)",
    "CREATE INDEX members_by_key ON members (key)",
    # No text is in a number, and who may not use the schema may not use this either.
    *(f"GRANT USAGE ON SEQUENCE {table}_sequence_seq TO PUBLIC" for table in ("ratings", "records")),
    """CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION '% are append-only', TG_TABLE_NAME; END $$""",
    *(
        f"CREATE TRIGGER {table}_never_change BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        for table in _APPEND_ONLY
    ),
    PART_OF_RUN,
    "SELECT part_of_run('')",
    # What workers on several machines share while they work on one study: the log of their requests until it is in
    # the run folder, what these have cost, what each worker has set aside, and how fast models are asked. A file is
    # not shared.
    """CREATE TABLE requests (
        number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, log {text} NOT NULL, owner {text} NOT NULL,
        serial BIGINT NOT NULL, ends BIGINT, entry {text} NOT NULL, calls BIGINT NOT NULL, money {real} NOT NULL,
        perhaps {real} NOT NULL, UNIQUE (owner, serial))""",
    "CREATE INDEX requests_in_order ON requests (log, number)",
    """CREATE TABLE spendings (log {text} PRIMARY KEY, calls BIGINT NOT NULL, money {real} NOT NULL,
        perhaps {real} NOT NULL)""",
    """CREATE TABLE allowances (owner {text} NOT NULL, log {text} NOT NULL, calls BIGINT NOT NULL,
        money {real} NOT NULL, on_their_way BIGINT NOT NULL, PRIMARY KEY (owner, log))""",
    """CREATE TABLE paces (log {text} NOT NULL, name {text} NOT NULL, level {real} NOT NULL, moment {real} NOT NULL,
        PRIMARY KEY (log, name))""",
)
_OWN = {"sqlite": _SQLITE, "postgresql": _POSTGRES}


@contextmanager
def deletion_allowed(cursor: Any, dialect: str) -> Iterator[None]:
    """Rows may be deleted within this block of the caller's transaction, and by nobody else: at its end it is
    refused again, and others never see that it was not."""
    for table in PARTITIONED:
        cursor.execute(
            f"DROP TRIGGER {table}_never_delete"
            if dialect == "sqlite"
            else f"ALTER TABLE {table} DISABLE TRIGGER {table}_never_change"
        )
    yield
    for table in PARTITIONED:
        cursor.execute(
            _refusal(table, "DELETE")
            if dialect == "sqlite"
            else f"ALTER TABLE {table} ENABLE TRIGGER {table}_never_change"
        )


def create_tables(cursor: Any, dialect: str, place: str) -> None:
    """Make the tables, inside the caller's transaction, where there are none; refuse what another version wrote."""
    tables = table_names(cursor, dialect)
    refuse_foreign(tables, place)
    if tables:
        version = _version(cursor)
        if version != VERSION:
            raise StoreError(
                f"{place} was written by another version of medjury (schema {version}; this one knows {VERSION}). "
                "Use that version, or another store."
            )
        return
    for statement in (*_TABLES, *_OWN[dialect]):
        cursor.execute(statement.format(**_WORDS[dialect]) if "{" in statement else statement)
    cursor.execute("CREATE TABLE schema_version (version INTEGER PRIMARY KEY)")
    cursor.execute(f"INSERT INTO schema_version VALUES ({VERSION})")  # noqa: S608 - our own number


def is_current(cursor: Any, dialect: str) -> bool:
    """True where nothing is to be done, found without taking a lock."""
    return "schema_version" in table_names(cursor, dialect) and _version(cursor) == VERSION


def refuse_foreign(tables: Collection[str], place: str) -> None:
    """Somebody else's database is not ours to write in."""
    if tables and "schema_version" not in tables:
        raise StoreError(
            f"{place} is a database, but not a medjury runs store: it holds {', '.join(sorted(tables)[:5])}. "
            "Name another file or database."
        )


def _version(cursor: Any) -> int:
    cursor.execute("SELECT max(version) FROM schema_version")
    return int(cursor.fetchone()[0] or 0)


def table_names(cursor: Any, dialect: str) -> set[str]:
    """The tables where a store would lie."""
    if dialect == "sqlite":
        cursor.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    else:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
    return {row[0] for row in cursor.fetchall()}
