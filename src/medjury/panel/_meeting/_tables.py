"""The tables of what raters do together. What people said is only added: a change is a new version."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Integer,
    Table,
    Text,
    UniqueConstraint,
)

from medjury.panel._tables import append_only, metadata

meetings_table = Table(
    "meetings",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("round", Integer, ForeignKey("rounds.id"), nullable=False, unique=True),
    Column("differ", Text, nullable=False),  # the rule by which answers were listed
    Column("danger", Float, nullable=False),  # where the danger line lay, as a share of the scale
    Column("by", Text, nullable=False),
    Column("names", Boolean, nullable=False),
    Column("opened_at", Text, nullable=False),
    Column("closed_at", Text),  # from then on what is not settled is the adjudicator's
    CheckConstraint("\"by\" IN ('raters', 'adjudicator')"),
)

meeting_items_table = Table(
    "meeting_items",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("meeting", Integer, ForeignKey("meetings.id"), nullable=False, index=True),
    Column("item", Integer, ForeignKey("items.id"), nullable=False),
    Column("code", Text, nullable=False, unique=True),  # in addresses: random
    Column("position", Float, nullable=False),  # random
    Column("participants", JSON, nullable=False),  # people in a random order: Rater A, Rater B, ...
    Column("dimensions", JSON, nullable=False),  # those on which they differ
    UniqueConstraint("meeting", "item"),
)

proposals_table = Table(
    "proposals",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("meeting_item", Integer, ForeignKey("meeting_items.id"), nullable=False),
    Column("version", Integer, nullable=False),
    Column("person", Text, nullable=False),
    Column("agreed", Boolean, nullable=False),  # False: "we do not agree"
    Column("said", JSON, nullable=False),
    Column("outcomes", JSON, nullable=False),
    Column("reason", Text, nullable=False),
    Column("said_at", Text, nullable=False),
    UniqueConstraint("meeting_item", "version"),
)

confirmations_table = Table(
    "confirmations",
    metadata,
    Column("proposal", Integer, ForeignKey("proposals.id"), primary_key=True),
    Column("person", Text, primary_key=True),
    Column("confirmed_at", Text, nullable=False),
)

decisions_table = Table(
    "decisions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("meeting_item", Integer, ForeignKey("meeting_items.id"), nullable=False),
    Column("version", Integer, nullable=False),
    Column("person", Text, nullable=False),
    Column("said", JSON, nullable=False),
    Column("outcomes", JSON, nullable=False),
    Column("reason", Text, nullable=False),
    Column("said_at", Text, nullable=False),
    UniqueConstraint("meeting_item", "version"),
)

reference_cases_table = Table(
    "reference_cases",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("item", Text, nullable=False, unique=True),
    Column("shown", JSON, nullable=False),  # the record
    Column("routine", Text),  # the routine diagnosis, shown late
    Column("instrument", JSON, nullable=False),  # as it was when the case was set up
)

reference_answers_table = Table(
    "reference_answers",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("case", Integer, ForeignKey("reference_cases.id"), nullable=False, index=True),
    Column("code", Text, nullable=False, unique=True),
    Column("position", Float, nullable=False),
    Column("system", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("shown", JSON, nullable=False),
    Column("probability", Float),  # of being drawn among the case's answers; null: all are scored
    UniqueConstraint("case", "system"),
)

reference_panels_table = Table(
    "reference_panels",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("members", JSON, nullable=False),  # people in a random order: Member A, Member B, ...
    Column("names", Boolean, nullable=False),  # whether members see one another's names
    Column("made_at", Text, nullable=False),
)

reference_work_table = Table(
    "reference_work",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("panel", Integer, ForeignKey("reference_panels.id"), nullable=False, index=True),
    Column("case", Integer, ForeignKey("reference_cases.id"), nullable=False, unique=True),
    Column("code", Text, nullable=False, unique=True),
    Column("position", Float, nullable=False),
)

reference_stages_table = Table(
    "reference_stages",
    metadata,
    Column("work", Integer, ForeignKey("reference_work.id"), primary_key=True),
    Column("stage", Text, primary_key=True),
    Column("person", Text, nullable=False),
    Column("began_at", Text, nullable=False),
    CheckConstraint("stage IN ('together', 'routine', 'scoring', 'done')"),
)

reference_entries_table = Table(
    "reference_entries",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("work", Integer, ForeignKey("reference_work.id"), nullable=False),
    Column("part", Text, nullable=False),  # alone:PERSON, together, routine, or score:ANSWER
    Column("version", Integer, nullable=False),
    Column("person", Text, nullable=False),  # who typed it
    Column("submitted", Boolean, nullable=False),
    Column("said", JSON, nullable=False),
    Column("outcomes", JSON, nullable=False),  # of scores
    Column("said_at", Text, nullable=False),
    UniqueConstraint("work", "part", "version"),
)

asked_table = Table(
    "asked",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("assignment", Integer, ForeignKey("assignments.id"), nullable=False),
    Column("question", Text, nullable=False),
    Column("code", Text, nullable=False, unique=True),
    Column("position", Float, nullable=False),
    Column("turned", Boolean, nullable=False),  # True: the second of the two texts stands left
    Column("asked_at", Text, nullable=False),
    UniqueConstraint("assignment", "question"),
)

replies_table = Table(
    "question_replies",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("asked", Integer, ForeignKey("asked.id"), nullable=False),
    Column("version", Integer, nullable=False),
    Column("choice", Text, nullable=False),  # as it was shown: left, right, or the words of a choice
    Column("why", Text, nullable=False),
    Column("said_at", Text, nullable=False),
    UniqueConstraint("asked", "version"),
)

for _table in (
    proposals_table,
    confirmations_table,
    decisions_table,
    reference_answers_table,
    reference_stages_table,
    reference_entries_table,
    asked_table,
    replies_table,
):
    append_only(_table)
