"""The tables of the store, as numbered migrations in the words of each database.

A migration, once released, is never edited: a change to the tables is a new one at the end of the list.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from medjury.store.ratings._store.partitions import MIGRATION as _POSTGRES_PARTS
from medjury.store.ratings._store.store_error import StoreError

# Words that differ between the two databases. "C" collation gives PostgreSQL the order that SQLite has.
WORDS: Mapping[str, Mapping[str, str]] = {
    "sqlite": {
        "text": "TEXT",
        "real": "REAL",
        "integer": "INTEGER",
        "sequence": "INTEGER PRIMARY KEY",
        "clustered": "WITHOUT ROWID",
    },
    "postgresql": {
        "text": 'TEXT COLLATE "C"',
        "real": "DOUBLE PRECISION",
        "integer": "BIGINT",
        "sequence": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        "clustered": "",
    },
}

_TABLES = (
    """CREATE TABLE replies (
        key {text} PRIMARY KEY, text {text} NOT NULL, finish {text} NOT NULL, tokens_in {integer} NOT NULL,
        tokens_out {integer} NOT NULL, tokens_cached {integer} NOT NULL, seconds {real} NOT NULL,
        model {text} NOT NULL, cost {real}, run {text} NOT NULL, created_at {text} NOT NULL)""",
    "CREATE INDEX replies_by_run ON replies (run)",
    """CREATE TABLE ratings (
        sequence {sequence}, item {text} NOT NULL, system {text} NOT NULL, rater {text} NOT NULL,
        rater_kind {text} NOT NULL, instrument {text} NOT NULL, dimension {text} NOT NULL,
        repeat {integer} NOT NULL, score {real}, status {text} NOT NULL, reason {text},
        explanation {text} NOT NULL, seconds {real}, tokens_in {integer}, tokens_out {integer}, cost {real},
        created_at {text} NOT NULL, key {text} NOT NULL, attempt {integer} NOT NULL,
        UNIQUE (key, dimension, attempt),
        CHECK ((status = 'scored') = (score IS NOT NULL)),
        CHECK ((status = 'unscored') = (reason IS NOT NULL)))""",
    "CREATE TABLE members (run {text} NOT NULL, key {text} NOT NULL, PRIMARY KEY (run, key)) {clustered}",
    "CREATE TABLE runs (run {text} PRIMARY KEY, manifest {text} NOT NULL, created_at {text} NOT NULL)",
    """CREATE TABLE owners (owner {text} PRIMARY KEY, host {text} NOT NULL, pid {integer} NOT NULL,
        started {text} NOT NULL, heartbeat {real} NOT NULL)""",
    "CREATE TABLE claims (key {text} PRIMARY KEY, owner {text} NOT NULL) {clustered}",
)

# Reading in order then needs no sort, so memory stays flat and no text lands in a temporary file. PostgreSQL
# sorts within its own data folder, and its indexes refuse long entries.
_SQLITE_ORDER = "CREATE INDEX ratings_in_order ON ratings (item, system, rater, dimension, repeat, key)"

_SQLITE_APPEND_ONLY = tuple(
    f"""CREATE TRIGGER {table}_never_{verb.lower()} BEFORE {verb} ON {table}
        BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END"""
    for table in ("replies", "ratings")
    for verb in ("UPDATE", "DELETE")
)
_POSTGRES_APPEND_ONLY = (
    """CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION '% are append-only', TG_TABLE_NAME; END $$""",
    *(
        f"""CREATE TRIGGER {table}_never_change BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}
            FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"""
        for table in ("replies", "ratings")
    ),
)

# How a rating of several steps came about, and how many calls each rating took.
_RECORDS = (
    "ALTER TABLE ratings ADD COLUMN calls {integer}",
    """CREATE TABLE records (
        sequence {sequence}, key {text} NOT NULL, item {text} NOT NULL, system {text} NOT NULL,
        rater {text} NOT NULL, repeat {integer} NOT NULL, body {text} NOT NULL, created_at {text} NOT NULL)""",
    "CREATE INDEX records_by_key ON records (key)",
)
_SQLITE_RECORDS_APPEND_ONLY = tuple(
    f"""CREATE TRIGGER records_never_{verb.lower()} BEFORE {verb} ON records
        BEGIN SELECT RAISE(ABORT, 'records are append-only'); END"""
    for verb in ("UPDATE", "DELETE")
)
_POSTGRES_RECORDS_APPEND_ONLY = (
    """CREATE TRIGGER records_never_change BEFORE UPDATE OR DELETE OR TRUNCATE ON records
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()""",
)

# Which reply answered which question of a rating: a reply that comes later takes the place of a failure.
_QUESTIONS = (
    """CREATE TABLE questions (unit {text} NOT NULL, name {text} NOT NULL, reply {text}, failure {text} NOT NULL,
        PRIMARY KEY (unit, name)) {clustered}""",
)

# Which model was asked for, and which one says that it answered.
_ANSWERING_MODELS = (
    "ALTER TABLE ratings ADD COLUMN model_asked {text}",
    "ALTER TABLE ratings ADD COLUMN model_answered {text}",
)

# With which probability the answer was drawn for its rater.
_PROBABILITIES = ("ALTER TABLE ratings ADD COLUMN probability {real}",)

# How many tokens of a prompt were put into the provider's cache, at a price of their own.
_WRITTEN = ("ALTER TABLE replies ADD COLUMN tokens_written {integer} NOT NULL DEFAULT 0",)

# Batch jobs, written down before they are handed over, and the calls in them until their end is stored.
_JOBS = (
    """CREATE TABLE batch_jobs (job {text} PRIMARY KEY, endpoint {text} NOT NULL, log {text} NOT NULL,
        created_at {text} NOT NULL, provider_id {text})""",
    """CREATE TABLE batch_calls (job {text} NOT NULL, key {text} NOT NULL, announced {integer},
        perhaps {real} NOT NULL, PRIMARY KEY (job, key)) {clustered}""",
)

# What was erased, when and how many rows: entries that are chained by hashes, and hold no id.
_ERASURES = ("CREATE TABLE erasures (number {integer} PRIMARY KEY, entry {text} NOT NULL)",)
_SQLITE_ERASURES_APPEND_ONLY = tuple(
    f"""CREATE TRIGGER erasures_never_{verb.lower()} BEFORE {verb} ON erasures
        BEGIN SELECT RAISE(ABORT, 'erasures are append-only'); END"""
    for verb in ("UPDATE", "DELETE")
)
_POSTGRES_ERASURES_APPEND_ONLY = (
    """CREATE TRIGGER erasures_never_change BEFORE UPDATE OR DELETE OR TRUNCATE ON erasures
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()""",
)

# What workers on several machines share while they work on one study: the log of their requests until it is in the
# run folder, what these have cost, what each worker has set aside, and how fast models are asked. A file
# is not shared.
_POSTGRES_SHARED = (
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

# What proves that an answer is one: the secret that tokens are derived with, the token that a reply's question
# showed, and by which of the two cases the reply was read.
_TOKENS = (
    "CREATE TABLE secrets (name {text} PRIMARY KEY, value {text} NOT NULL)",
    "ALTER TABLE replies ADD COLUMN token {text} NOT NULL DEFAULT ''",
    "ALTER TABLE questions ADD COLUMN read_as {text} NOT NULL DEFAULT 'not known'",
)

MIGRATIONS: tuple[Mapping[str, tuple[str, ...]], ...] = (
    {
        "sqlite": (*_TABLES, _SQLITE_ORDER, *_SQLITE_APPEND_ONLY),
        "postgresql": (*_TABLES, *_POSTGRES_APPEND_ONLY),
    },
    {
        "sqlite": (*_RECORDS, *_SQLITE_RECORDS_APPEND_ONLY),
        "postgresql": (*_RECORDS, *_POSTGRES_RECORDS_APPEND_ONLY),
    },
    dict.fromkeys(("sqlite", "postgresql"), _QUESTIONS),
    dict.fromkeys(("sqlite", "postgresql"), _ANSWERING_MODELS),
    dict.fromkeys(("sqlite", "postgresql"), _PROBABILITIES),
    dict.fromkeys(("sqlite", "postgresql"), _WRITTEN),
    dict.fromkeys(("sqlite", "postgresql"), _JOBS),
    {
        "sqlite": (*_ERASURES, *_SQLITE_ERASURES_APPEND_ONLY),
        "postgresql": (*_ERASURES, *_POSTGRES_ERASURES_APPEND_ONLY),
    },
    {"sqlite": (), "postgresql": _POSTGRES_SHARED},
    {"sqlite": (), "postgresql": _POSTGRES_PARTS},
    dict.fromkeys(("sqlite", "postgresql"), _TOKENS),
)
_ERASABLE = ("replies", "ratings", "records")


@contextmanager
def deletion_allowed(cursor: Any, dialect: str) -> Iterator[None]:
    """Rows may be deleted within this block of the caller's transaction, and by nobody else: at its end it is
    refused again, and others never see that it was not."""
    if dialect == "sqlite":
        refusals = [
            statement
            for statement in (*_SQLITE_APPEND_ONLY, *_SQLITE_RECORDS_APPEND_ONLY)
            if "BEFORE DELETE" in statement
        ]
        for table in _ERASABLE:
            cursor.execute(f"DROP TRIGGER {table}_never_delete")
    else:
        refusals = [f"ALTER TABLE {table} ENABLE TRIGGER {table}_never_change" for table in _ERASABLE]
        for table in _ERASABLE:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER {table}_never_change")
    yield
    for statement in refusals:
        cursor.execute(statement)


def migrate(cursor: Any, dialect: str, place: str) -> None:
    """Bring the tables up to date, inside the caller's transaction; refuse what a newer version wrote."""
    version = _version(cursor, dialect, place)
    if version > len(MIGRATIONS):
        raise StoreError(
            f"{place} was written by a newer medjury (schema {version}; this one knows up to "
            f"{len(MIGRATIONS)}). Upgrade medjury, or use another store."
        )
    words = WORDS[dialect]
    for number in range(version + 1, len(MIGRATIONS) + 1):
        for statement in MIGRATIONS[number - 1][dialect]:
            cursor.execute(statement.format(**words) if "{" in statement else statement)
        cursor.execute(f"INSERT INTO schema_version VALUES ({number})")  # noqa: S608 - our own number


def is_current(cursor: Any, dialect: str) -> bool:
    """True where nothing is to be done, found without taking a lock."""
    if "schema_version" not in table_names(cursor, dialect):
        return False
    cursor.execute("SELECT max(version) FROM schema_version")
    return bool(cursor.fetchone()[0] == len(MIGRATIONS))


def refuse_foreign(tables: Collection[str], place: str) -> None:
    """Somebody else's database is not ours to write in."""
    if tables and "schema_version" not in tables:
        raise StoreError(
            f"{place} is a database, but not a medjury runs store: it holds {', '.join(sorted(tables)[:5])}. "
            "Name another file or database."
        )


def _version(cursor: Any, dialect: str, place: str) -> int:
    tables = table_names(cursor, dialect)
    if "schema_version" in tables:
        cursor.execute("SELECT max(version) FROM schema_version")
        return int(cursor.fetchone()[0] or 0)
    refuse_foreign(tables, place)
    cursor.execute("CREATE TABLE schema_version (version INTEGER PRIMARY KEY)")
    return 0


def table_names(cursor: Any, dialect: str) -> set[str]:
    """The tables where a store would lie."""
    if dialect == "sqlite":
        cursor.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    else:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
    return {row[0] for row in cursor.fetchall()}
