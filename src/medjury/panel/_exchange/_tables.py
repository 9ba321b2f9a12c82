"""The tables of ratings that were given elsewhere and brought in from a file, where a row is only ever added, and
of files that were written here, so that an erasure finds them."""

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

exports_table = Table(
    "exports",
    metadata,
    Column("path", Text, primary_key=True),
    Column("kind", Text, nullable=False),  # ratings:FORMAT, references or questions
    Column("digest", Text, nullable=False),  # of the file as it was written
    Column("written_at", Text, nullable=False),
)

append_only(imported_table)
