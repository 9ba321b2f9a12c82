"""The tables of what raters said and how long they looked. Answers are only added: each change is a version."""

from __future__ import annotations

from sqlalchemy import JSON, Boolean, Column, Float, ForeignKey, Integer, Table, Text, UniqueConstraint

from medjury.panel._tables import append_only, metadata

answers_table = Table(
    "answers",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("assignment", Integer, ForeignKey("assignments.id"), nullable=False, index=True),
    Column("version", Integer, nullable=False),
    Column("submitted", Boolean, nullable=False),  # else a draft
    Column("said", JSON, nullable=False),  # what stood in the form, dimension by dimension
    Column("outcomes", JSON, nullable=False),  # what it means, after the skip rules; empty for a draft
    Column("comment", Text, nullable=False),
    Column("seconds", Float),  # looked at so far, idle time removed
    Column("measured", Boolean, nullable=False),  # by the page itself; else the time from opening to sending
    Column("saved_at", Text, nullable=False),
    UniqueConstraint("assignment", "version"),
)

looks_table = Table(
    "looks",
    metadata,
    Column("assignment", Integer, ForeignKey("assignments.id"), primary_key=True),
    Column("opened_at", Text, nullable=False),
    Column("last_at", Text, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("beats", Integer, nullable=False),
)

append_only(answers_table)
