"""Which right a role lacks in PostgreSQL, and the words that give it."""

from __future__ import annotations

import re
from typing import Any

from medjury.store.ratings._store.database import POSTGRES_SCHEMA, Database
from medjury.store.ratings._store.store_error import StoreError

_DENIED = re.compile(r"permission denied for (\w+) (\S+)")
_OWNER = "Ask the owner of the database to run:"


def refuse_without_rights(database: Database, cursor: Any) -> None:
    """PostgreSQL passes in silence over a schema that a role may not use, and then says that there is none."""
    if database.dialect != "postgresql":
        return
    cursor.execute(
        "SELECT has_schema_privilege(oid, 'USAGE'), has_schema_privilege(oid, 'CREATE') OR EXISTS (SELECT 1 "
        "FROM pg_tables WHERE schemaname = nspname AND tablename = 'schema_version') "
        "FROM pg_namespace WHERE nspname = %s",
        (POSTGRES_SCHEMA,),
    )
    found = cursor.fetchone()
    if found is None:
        cursor.execute("SELECT has_database_privilege(current_database(), 'CREATE')")
        if not cursor.fetchone()[0]:
            name = database.name
            raise StoreError(
                f"{database.place}: the role {_role(database)} lacks the right CREATE on the database {name}, "
                f"and there is no schema {POSTGRES_SCHEMA} yet. "
                f"{cure(f'permission denied for database {name}', database)}"
            )
    elif not all(found):
        lacks = "USAGE" if not found[0] else "CREATE"
        raise StoreError(
            f"{database.place}: the role {_role(database)} lacks the right {lacks} on the schema "
            f"{POSTGRES_SCHEMA}. {cure('', database)}"
        )


def cure(words: str, database: Database) -> str:
    """The GRANT that gives what PostgreSQL says is missing."""
    role = _role(database)
    if "must be owner" in words:
        return "Only the owner of the tables may do this: give the command again as that role."
    found = _DENIED.search(words)
    kind, name = found.groups() if found else ("", "")
    if kind == "database":
        return f"{_OWNER} CREATE SCHEMA {POSTGRES_SCHEMA} AUTHORIZATION {role};"
    tables = f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {POSTGRES_SCHEMA} TO {role};"
    schema = f"GRANT USAGE, CREATE ON SCHEMA {POSTGRES_SCHEMA} TO {role};"
    if kind in ("table", "relation", "sequence"):
        lacks = f"The role {role} lacks rights on the {kind} {name} of the schema {POSTGRES_SCHEMA}."
        return f"{lacks} {_OWNER} {tables}"
    return f"{_OWNER} {schema} {tables}"


def _role(database: Database) -> str:
    return '"' + (database.role or "the role that connects").replace('"', '""') + '"'
