"""Every statement the store makes, written once and put into the words of either database.

Plain text on the raw cursor, because building each statement anew costs more than running it. `?` stands for
a value, `{keys}` for "is one of these keys" (one value, whatever their number), `{each_key}` for a row of each of
them, `{now}` for the time in seconds. PostgreSQL has the rows of each run in a part of their own: there
`{keys_in_parts}` and `{run}` take their values by name, and other words with `part` in them say which parts need
not be looked at. Nothing but these words is ever put into a statement.
"""
# ruff: noqa: S608

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import lru_cache

RATING_COLUMNS = (
    "item", "system", "rater", "rater_kind", "instrument", "dimension", "repeat", "score", "status", "reason",
    "explanation", "seconds", "tokens_in", "tokens_out", "cost", "created_at", "key", "calls",
    "model_asked", "model_answered", "probability",
)  # fmt: skip

_NEWER = """SELECT 1 FROM ratings AS newer WHERE newer.key = ratings.key
    AND newer.dimension = ratings.dimension AND newer.attempt > ratings.attempt"""
_LATEST = f"NOT EXISTS ({_NEWER}{{newer_in_part}})"
_LATEST_OF_KEYS = f"NOT EXISTS ({_NEWER}{{newer_in_parts}})"
_LATEST_OF_RUN = f"""NOT EXISTS ({_NEWER}{{newer_in_parts}}){{in_parts}}
    AND EXISTS (SELECT 1 FROM members WHERE members.run = {{run}} AND members.key = ratings.key)"""
_COLUMNS = ", ".join(RATING_COLUMNS)
_ORDER = "item, system, rater, dimension, repeat, key"
_COUNTED = "rater, rater_kind, status, reason"


@dataclass(frozen=True, slots=True)
class Statements:
    find_replies: str = """SELECT key, text, finish, tokens_in, tokens_out, tokens_cached, seconds, model,
        cost, tokens_written, token FROM replies WHERE key {keys_in_parts}"""
    add_reply: str = """INSERT INTO replies (key, text, finish, tokens_in, tokens_out, tokens_cached, seconds,
        model, cost, tokens_written, run, created_at, token{part_column})
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?{part_value})
        ON CONFLICT DO NOTHING"""
    find_claims: str = "SELECT key, owner FROM claims WHERE key {keys}"
    add_claims: str = "INSERT INTO claims (owner, key) SELECT ?, {each_key} ON CONFLICT DO NOTHING"
    drop_claims: str = "DELETE FROM claims WHERE owner = ? AND key {keys}"
    drop_claims_of: str = "DELETE FROM claims WHERE owner = ?"
    beat: str = """INSERT INTO owners (owner, host, pid, started, heartbeat) VALUES (?, ?, ?, ?, {now})
        ON CONFLICT (owner) DO UPDATE SET heartbeat = excluded.heartbeat"""
    find_owners: str = "SELECT owner, host, pid, started, heartbeat FROM owners"
    drop_owner: str = "DELETE FROM owners WHERE owner = ?"
    find_settled: str = f"""SELECT key, reason FROM ratings
        WHERE key {{keys_in_parts}} AND {_LATEST_OF_KEYS} GROUP BY key, reason"""
    find_latest: str = f"""SELECT key, dimension, score, status, reason, explanation, probability FROM ratings
        WHERE key {{keys_in_parts}} AND {_LATEST_OF_KEYS}"""
    find_attempts: str = "SELECT key, max(attempt) FROM ratings WHERE key {keys_in_parts} GROUP BY key"
    add_rating: str = f"""INSERT INTO ratings ({_COLUMNS}, attempt{{part_column}})
        VALUES ({", ".join("?" * (len(RATING_COLUMNS) + 1))}{{part_value}}) ON CONFLICT DO NOTHING"""
    add_record: str = """INSERT INTO records (key, item, system, rater, repeat, body, created_at{part_column})
        VALUES (?, ?, ?, ?, ?, ?, ?{part_value})"""
    read_records: str = """SELECT key, item, system, rater, repeat, body, created_at FROM records
        WHERE NOT EXISTS (SELECT 1 FROM records AS newer WHERE newer.key = records.key
            AND newer.sequence > records.sequence{newer_in_parts}){in_parts}
        AND EXISTS (SELECT 1 FROM members WHERE members.run = {run} AND members.key = records.key)
        ORDER BY item, system, rater, repeat, key"""
    add_question: str = """INSERT INTO questions (unit, name, reply, failure, read_as) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (unit, name) DO UPDATE SET reply = excluded.reply, failure = excluded.failure,
            read_as = excluded.read_as
        WHERE questions.reply IS NULL"""
    find_questions: str = "SELECT unit, name, reply, failure, read_as FROM questions WHERE unit {keys}"
    # A name ends in a full stop and how often its question had been handed back.
    count_read: str = """SELECT read_as, substr(name, 33), count(*) FROM questions WHERE reply IS NOT NULL
        AND EXISTS (SELECT 1 FROM members WHERE members.run = ? AND members.key = questions.unit)
        GROUP BY read_as, substr(name, 33)"""
    find_secret: str = "SELECT value FROM secrets WHERE name = 'tokens'"  # noqa: S105
    add_secret: str = """INSERT INTO secrets (name, value) VALUES ('tokens', ?)
        ON CONFLICT DO NOTHING"""  # noqa: S105
    add_members: str = "INSERT INTO members (run, key) SELECT ?, {each_key} ON CONFLICT DO NOTHING"
    put_run: str = """INSERT INTO runs (run, manifest, created_at) VALUES (?, ?, ?)
        ON CONFLICT (run) DO UPDATE SET manifest = excluded.manifest"""
    find_runs: str = "SELECT run, manifest, created_at FROM runs ORDER BY created_at, run"
    add_job: str = "INSERT INTO batch_jobs (job, endpoint, log, created_at) VALUES (?, ?, ?, ?)"
    add_job_call: str = "INSERT INTO batch_calls (job, key, announced, perhaps) VALUES (?, ?, ?, ?)"
    name_job: str = "UPDATE batch_jobs SET provider_id = ? WHERE job = ?"
    drop_job_call: str = "DELETE FROM batch_calls WHERE job = ? AND key = ?"
    find_jobs: str = """SELECT batch_jobs.job, log, created_at, provider_id, key, announced, perhaps
        FROM batch_jobs JOIN batch_calls ON batch_calls.job = batch_jobs.job
        WHERE endpoint = ? ORDER BY created_at, batch_jobs.job"""
    spent: str = "SELECT coalesce(sum(cost), 0.0), count(*) FROM replies WHERE run = {run}{in_parts}"
    read_all: str = f"SELECT {_COLUMNS} FROM ratings WHERE {_LATEST} ORDER BY {_ORDER}"
    read_run: str = f"SELECT {_COLUMNS} FROM ratings WHERE {_LATEST_OF_RUN} ORDER BY {_ORDER}"
    count_run: str = f"""SELECT {_COUNTED}, count(*) FROM ratings WHERE {_LATEST_OF_RUN}
        GROUP BY {_COUNTED} ORDER BY {_COUNTED}"""
    # Erasing
    find_rated_units: str = "SELECT DISTINCT key FROM ratings WHERE item {keys}"
    find_recorded_units: str = "SELECT DISTINCT key FROM records WHERE item {keys}"
    find_items: str = "SELECT item FROM ratings UNION SELECT item FROM records"
    find_unlinked: str = "SELECT key FROM replies EXCEPT SELECT reply FROM questions"
    find_dates: str = "SELECT key, created_at FROM ratings UNION ALL SELECT key, created_at FROM records"
    find_reply_dates: str = "SELECT key, created_at FROM replies"
    find_links: str = "SELECT unit, reply FROM questions WHERE reply IS NOT NULL"
    find_runs_of: str = "SELECT DISTINCT run FROM members WHERE key {keys} ORDER BY run"
    find_manifests: str = "SELECT run, manifest FROM runs"
    erase_ratings: str = "DELETE FROM ratings WHERE key {keys}"
    erase_records: str = "DELETE FROM records WHERE key {keys}"
    erase_replies: str = "DELETE FROM replies WHERE key {keys}"
    erase_questions: str = "DELETE FROM questions WHERE unit {keys}"
    erase_members: str = "DELETE FROM members WHERE key {keys}"
    erase_claims: str = "DELETE FROM claims WHERE key {keys}"
    find_units_of_run: str = """SELECT key FROM members WHERE run = ?
        EXCEPT SELECT key FROM members WHERE run <> ?"""
    find_replies_of_run: str = "SELECT key FROM replies WHERE run = {run}{in_parts}"
    find_links_of: str = "SELECT unit, reply FROM questions WHERE reply {keys}"
    count_members_of_run: str = "SELECT count(*) FROM members WHERE run = ?"
    erase_members_of_run: str = "DELETE FROM members WHERE run = ?"
    erase_run: str = "DELETE FROM runs WHERE run = ?"
    find_erasures: str = "SELECT entry FROM erasures ORDER BY number"
    add_erasure: str = "INSERT INTO erasures (number, entry) VALUES (?, ?)"


_WORDS = {
    "sqlite": {
        "{keys}": "IN (SELECT value FROM json_each(?))",
        "{each_key}": "value FROM json_each(?) WHERE true",
        "{now}": "((julianday('now') - 2440587.5) * 86400.0)",
        "{keys_in_parts}": "IN (SELECT value FROM json_each(?))",
        "{run}": "?",
        **dict.fromkeys(
            ("{newer_in_part}", "{newer_in_parts}", "{in_parts}", "{part_column}", "{part_value}"), ""
        ),
    },
    "postgresql": {
        "{keys}": "= ANY(%s)",
        "{each_key}": "unnest(CAST(%s AS text[]))",
        "{now}": "extract(epoch FROM clock_timestamp())::float8",
        "{keys_in_parts}": "= ANY(%(keys)s) AND part = ANY(%(parts)s)",
        "{run}": "%(run)s",
        "{newer_in_part}": " AND newer.part = ratings.part",
        "{newer_in_parts}": " AND newer.part = ANY(%(parts)s)",
        "{in_parts}": " AND part = ANY(%(parts)s)",
        "{part_column}": ", part",
        "{part_value}": ", ?",
        "?": "%s",
    },
}


def statements(dialect: str) -> Statements:
    """All statements in the words of one database."""

    def put(text: str) -> str:
        for word, replacement in _WORDS[dialect].items():
            text = text.replace(word, replacement)
        return text

    return Statements(**{each.name: put(str(each.default)) for each in fields(Statements)})


@lru_cache(maxsize=64)
def for_rows(statement: str, number: int) -> str:
    """A statement that adds one row, for so many."""
    before, _, rest = statement.partition("VALUES (")
    marks, _, after = rest.partition(")")
    return f"{before}VALUES {', '.join([f'({marks})'] * number)}{after}"


def key_list(dialect: str, keys: Iterable[str]) -> str | list[str]:
    """The one value that `{keys}` and `{each_key}` take."""
    return json.dumps(list(keys)) if dialect == "sqlite" else list(keys)
