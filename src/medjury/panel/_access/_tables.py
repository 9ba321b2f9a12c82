"""The tables of people and of what they did. No secret is kept that could be used: links and sessions as hashes,
passwords by argon2."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
)

from medjury.panel._tables import append_only, metadata

people_table = Table(
    "people",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column(
        "sign_in_name", Text, nullable=False, unique=True
    ),  # the name as it is compared: case and spaces aside
    Column("role", Text, nullable=False),
    Column("email", Text, unique=True),  # by which the site's OpenID Connect knows the person
    Column(
        "subject", Text, unique=True
    ),  # and, once they signed in with it, the provider's own name for them
    Column("password", Text),
    Column("created_at", Text, nullable=False),
    Column("joined_at", Text),
    Column("disabled_at", Text),
    CheckConstraint("role IN ('coordinator', 'rater', 'adjudicator', 'viewer')"),
)

invitations_table = Table(
    "invitations",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("person", Text, ForeignKey("people.id"), nullable=False),
    Column("created_at", Text, nullable=False),
    Column("expires_at", Text, nullable=False),
    Column("ended_at", Text),
    Column("used", Boolean, nullable=False, default=False),
    Index("invitations_by_person", "person"),
)

sessions_table = Table(
    "sessions",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("person", Text, ForeignKey("people.id"), nullable=False),
    Column("created_at", Text, nullable=False),
    Column("seen_at", Text, nullable=False),
    Column("expires_at", Text, nullable=False),
    Column("ended_at", Text),
    Index("sessions_by_person", "person"),
)

# Browsers in which somebody has signed in. It opens nothing: who is there still proves who they are.
devices_table = Table(
    "devices",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("person", Text, ForeignKey("people.id"), primary_key=True),
    Column("seen_at", Text, nullable=False),
    Index("devices_by_person", "person"),
)

passkeys_table = Table(
    "passkeys",
    metadata,
    Column("id", Text, primary_key=True),
    Column("person", Text, ForeignKey("people.id"), nullable=False),
    Column("public_key", LargeBinary, nullable=False),
    Column("sign_count", Integer, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("used_at", Text),
    Index("passkeys_by_person", "person"),
)

# What we handed out and expect back once: the challenge of a passkey, the state of an OpenID Connect sign-in.
challenges_table = Table(
    "challenges",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("purpose", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("expires_at", Text, nullable=False),
)

# Failed attempts by device, account and address, kept here so that a restart does not forget them.
attempts_table = Table(
    "attempts",
    metadata,
    Column("key", Text, primary_key=True),
    Column("failures", Integer, nullable=False),
    Column("last_at", Text, nullable=False),
)

api_keys_table = Table(
    "api_keys",
    metadata,
    Column("id", Text, primary_key=True),
    Column("hash", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("person", Text, ForeignKey("people.id"), nullable=False),
    Column("created_at", Text, nullable=False),
    Column("expires_at", Text, nullable=False),
    Column("used_at", Text),
    Column("ended_at", Text),
)

trail_table = Table(
    "trail",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("at", Text, nullable=False),
    Column("person", Text, nullable=False),
    Column("what", Text, nullable=False),
    Column("about", Text, nullable=False),
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
)

# What was erased, as slow, salted hashes of ids, so that it is known when it comes back. No id, no text.
erasures_table = Table(
    "erasures",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("at", Text, nullable=False),
    Column("by", Text, nullable=False),  # patient or case
    Column("salt", Text, nullable=False),
    Column("named", JSON, nullable=False),
    Column("cases", JSON, nullable=False),
    Column("counts", JSON, nullable=False),  # how many went, by table
)

append_only(trail_table)
append_only(erasures_table)
