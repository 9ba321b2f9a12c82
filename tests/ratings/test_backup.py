"""A backup that is made while a store is written holds whole transactions, and can be worked with."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import psycopg
from tests.ratings.samples import rating, settled

from medjury.store.ratings import Store, open_store

DIMENSIONS = ("accuracy", "completeness", "clarity")


def written_meanwhile(store: Store, back_up: Callable[[], None]) -> None:
    """Write unit after unit, three ratings each, from before the backup begins until it has ended."""
    stop, begun = threading.Event(), threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            unit = [rating(item=f"c-{number}", key=f"unit {number}", dimension=name) for name in DIMENSIONS]
            store.write_ratings("first", unit)
            number += 1
            if number == 50:
                begun.set()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert begun.wait(60)
        back_up()
    finally:
        stop.set()
        writer.join()


def check_restored(original: Store, address: str) -> None:
    """It holds at least what was there when the backup began, in whole units, and takes more."""
    with open_store(address, create=False) as restored:
        rows = list(restored.ratings("first"))
        assert len(rows) >= 50 * len(DIMENSIONS) and len(rows) % len(DIMENSIONS) == 0
        assert set(rows) <= set(original.ratings("first"))
        keys = {row.key for row in original.ratings("first")}
        assert settled(restored, keys) == {row.key for row in rows}
        assert restored.write_ratings("first", [rating(item="later", key="later")]) == 1


def test_a_file_is_backed_up_while_it_is_written(tmp_path: Path) -> None:
    copy = tmp_path / "backup.sqlite"
    with open_store(tmp_path / "s.sqlite") as store:

        def back_up() -> None:  # what `sqlite3 FILE ".backup COPY"` does
            source, target = sqlite3.connect(tmp_path / "s.sqlite"), sqlite3.connect(copy)
            source.backup(target)
            source.close()
            target.close()

        written_meanwhile(store, back_up)
        check_restored(store, str(copy))


def tool(name: str, connection: psycopg.Connection) -> str:
    """The program that came with the server: an older one refuses it."""
    row = connection.execute("SELECT setting FROM pg_config WHERE name = 'BINDIR'").fetchone()
    inside = Path(row[0] if row else "") / name
    found = str(inside) if inside.exists() else shutil.which(name)
    assert found is not None, f"there is no {name} beside the server, nor on the path"
    return found


def test_a_database_is_backed_up_while_it_is_written(tmp_path: Path, postgres_url: str) -> None:
    dump, name = tmp_path / "s.dump", f"restored_{os.getpid()}"
    with open_store(postgres_url) as store, psycopg.connect(postgres_url, autocommit=True) as connection:
        words = [
            tool("pg_dump", connection), "--schema=medjury", "--format=custom", f"--file={dump}",
            postgres_url,
        ]  # fmt: skip
        written_meanwhile(store, lambda: _run(*words))
        connection.execute(f"CREATE DATABASE {name}")
        restored = postgres_url.replace(f"/{connection.info.dbname}?", f"/{name}?")
        _run(tool("pg_restore", connection), "--dbname", restored, str(dump))
        check_restored(store, restored)


def _run(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
