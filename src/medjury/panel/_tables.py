"""The panel's tables. What a person said is only ever added: a changed answer is a new row."""

from __future__ import annotations

from sqlalchemy import Column, Integer, MetaData, Table

VERSION = 1
metadata = MetaData()
version_table = Table("version", metadata, Column("version", Integer, nullable=False))
