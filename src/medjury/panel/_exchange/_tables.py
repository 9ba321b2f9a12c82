"""The table of ratings that were given elsewhere and brought in from a file. A row is only ever added."""

from __future__ import annotations

from sqlalchemy import JSON, Column, Float, Integer, Table, Text

from medjury.panel._tables import append_only, metadata

imported_table = Table(
    "imported_ratings",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("rater", Text, nullable=False),
    Column("item", Text, nullable=False),
    Column("system", Text, nullable=False),
    Column("dimension", Text, nullable=False),
    Column("outcome", JSON, nullable=False),
    Column("seconds", Float),
    Column("probability", Float),
    Column("profile", JSON, nullable=False),
    Column("file", Text, nullable=False),
    Column("imported_at", Text, nullable=False),
)

append_only(imported_table)
