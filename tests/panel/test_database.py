"""The panel's database: private, whole or not at all, and refused where another version wrote it."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from sqlalchemy import select, update

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import create_private
from medjury.panel import _database
from medjury.panel._database import open_panel_database
from medjury.panel._tables import VERSION, version_table


@pytest.fixture(autouse=True)
def _a_new_file_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """As users have it: the program makes every table."""
    monkeypatch.setattr(_database, "create_private", create_private)


def test_a_new_file_is_the_owners_alone(tmp_path: Path) -> None:
    open_panel_database(tmp_path / "panel.sqlite").close()
    assert stat.S_IMODE((tmp_path / "panel.sqlite").stat().st_mode) == 0o600


def test_what_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    database = open_panel_database(tmp_path / "panel.sqlite")
    with pytest.raises(RuntimeError), database.writing() as connection:
        connection.execute(update(version_table).values(version=99))
        raise RuntimeError
    with database.reading() as connection:
        assert connection.execute(select(version_table.c.version)).scalar_one() == VERSION
    database.close()


def test_what_another_version_wrote_is_refused(tmp_path: Path) -> None:
    database = open_panel_database(tmp_path / "panel.sqlite")
    with database.writing() as connection:
        connection.execute(update(version_table).values(version=99))
    database.close()
    with pytest.raises(MedjuryError, match="written by another version"):
        open_panel_database(tmp_path / "panel.sqlite")


@pytest.mark.parametrize("place", ["mysql://host/name", "nowhere/panel.sqlite", "."])
def test_what_is_no_database_is_refused_in_words(place: str, tmp_path: Path) -> None:
    with pytest.raises(MedjuryError, match=r"panel cannot be kept in mysql|name a file"):
        open_panel_database(place if "://" in place else tmp_path / place)


def test_a_reader_sees_one_state_throughout(either_place: str, tmp_path: Path) -> None:
    database = open_panel_database(either_place)
    version = select(version_table.c.version)
    with database.reading() as reader:
        assert reader.execute(version).scalar_one() == VERSION
        with database.writing() as writer:
            writer.execute(update(version_table).values(version=7))
        assert reader.execute(version).scalar_one() == VERSION, "one state, whatever others write meanwhile"
    with database.reading() as reader:
        assert reader.execute(version).scalar_one() == 7
    database.close()
