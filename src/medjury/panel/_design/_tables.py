"""The tables of what is rated by whom. An item holds the texts that raters may see and nothing else of the case."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Integer,
    Table,
    Text,
    UniqueConstraint,
)

from medjury.panel._tables import metadata

rounds_table = Table(
    "rounds",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("position", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("settings", JSON, nullable=False),  # the round's part of the study file and the panel's own
    Column("instrument", JSON, nullable=False),  # as it was when the round was set up: what was shown is kept
    Column("warnings", JSON, nullable=False),  # what the coordinator should know before anyone rates
    Column("set_up_at", Text, nullable=False),
    CheckConstraint("kind IN ('training', 'calibration', 'rating', 'rescore')"),
    CheckConstraint("state IN ('waiting', 'open', 'discussing', 'closed', 'met')"),
)

items_table = Table(
    "items",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("round", Integer, ForeignKey("rounds.id"), nullable=False, index=True),
    Column("item", Text, nullable=False),
    Column("system", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),  # of the whole case, so that a rating can be held against it
    Column("shown", JSON, nullable=False),
    Column("key", JSON),  # the right grades of a training case
    Column("probability", Float),  # of being drawn for review; null: every answer is rated
    Column("place", Integer),  # in the order of reading, where it was drawn
    UniqueConstraint("round", "item", "system"),
    CheckConstraint("probability > 0 AND probability <= 1"),
)

members_table = Table(
    "members",
    metadata,
    Column("round", Integer, ForeignKey("rounds.id"), primary_key=True),
    Column("person", Text, primary_key=True),
    Column("joined_at", Text, nullable=False),
    Column("left_at", Text),
    Column("passed_at", Text),  # a training round: by its mark, or by the coordinator's word
)

assignments_table = Table(
    "assignments",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("round", Integer, ForeignKey("rounds.id"), nullable=False, index=True),
    Column("item", Integer, ForeignKey("items.id"), nullable=False),
    Column("person", Text, nullable=False, index=True),
    Column("code", Text, nullable=False, unique=True),  # what the rater sees in an address: random
    Column("position", Float, nullable=False),  # the rater's own order, random; or that of the draw
    Column("probability", Float),  # of being drawn; null: every case is rated, or drawn alike
    Column("assigned_at", Text, nullable=False),
    Column("opened_at", Text),  # from then on it is the rater's, and is not given to another
    Column("finished_at", Text),  # the first time an answer was sent
    Column("withdrawn_at", Text),
    UniqueConstraint("item", "person"),
    CheckConstraint("probability > 0 AND probability <= 1"),
)

profiles_table = Table(
    "profiles",
    metadata,
    Column("person", Text, primary_key=True),
    Column("years", Integer, nullable=False),
    Column("specialty", Text, nullable=False),
    Column("affiliation", Text, nullable=False),
    Column("seniority", Text, nullable=False),
    Column("written_at", Text, nullable=False),
)

remarks_table = Table(
    "definition_remarks",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("round", Integer, ForeignKey("rounds.id"), nullable=False),
    Column("person", Text, nullable=False),
    Column("dimension", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("written_at", Text, nullable=False),
)
