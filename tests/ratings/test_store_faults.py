"""What a store says and keeps when the disk, the file, the server or the process fails it."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from tests.ratings.samples import claim, rating, write

from medjury.models import Reply
from medjury.store.ratings import Store, StoreDesk, open_store
from medjury.store.ratings._store.owner import Claim, new_owner
from medjury.store.ratings._store.store_error import StoreError, StoreFull, StoreLocked
from medjury.store.ratings._store.transaction import StoredReply


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "ratings.sqlite"


def test_a_file_that_is_not_a_database_is_refused_and_left_alone(file: Path) -> None:
    file.write_text("item,score\n1,4\n")
    with pytest.raises(StoreError, match=r"ratings\.sqlite is not a store"):
        open_store(file)
    assert file.read_text() == "item,score\n1,4\n"


def test_a_database_that_is_not_ours_is_refused_and_left_alone(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE patients (name TEXT)")
    connection.close()
    with pytest.raises(StoreError, match="not a medjury runs store: it holds patients"):
        open_store(file)
    with sqlite3.connect(file) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("patients",)]
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    connection.close()


def test_a_new_store_is_readable_by_its_owner_alone(file: Path) -> None:
    with open_store(file) as store:
        write(store, ratings=[rating()])
        for each in file.parent.iterdir():
            assert each.stat().st_mode & 0o777 == 0o600


def test_an_empty_file_becomes_a_store(file: Path) -> None:
    file.touch()
    with open_store(file) as store:
        write(store, ratings=[rating()])
        assert list(store.ratings()) == [rating()]


def test_a_damaged_store_says_so(file: Path) -> None:
    with open_store(file) as store:
        write(store, ratings=[rating(item=f"case-{number}", key=str(number)) for number in range(2_000)])
    content = bytearray(file.read_bytes())
    content[4096 * 3 : 4096 * 60] = b"\xff" * (4096 * 57)
    file.write_bytes(content)
    with pytest.raises(StoreError, match="is damaged"), open_store(file) as store:
        list(store.ratings())


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("mysql://host/name", "cannot be kept in mysql"),
        ("", "kept in a file"),
        (":memory:", "kept in a file"),
        ("no/such/folder/ratings.sqlite", "folder no/such/folder does not exist"),
        (".", "kept in a file"),
        ("/", "is a folder"),
        ("postgresql://host:port/name", "not of the form"),
    ],
)
def test_an_address_that_cannot_be(address: str, message: str) -> None:
    with pytest.raises(StoreError, match=message):
        open_store(address)


def test_a_closed_store_stays_closed(store_address: str) -> None:
    store = open_store(store_address)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="this store is closed"):
        write(store, ratings=[rating()])


def test_a_store_that_must_exist_is_not_created(file: Path) -> None:
    with pytest.raises(StoreError, match="does not exist"):
        open_store(file, create=False)
    assert not file.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_write_permission(file: Path) -> None:
    file.parent.chmod(0o500)
    try:
        with pytest.raises(StoreError, match="Check the rights"):
            open_store(file)
    finally:
        file.parent.chmod(0o700)


def test_a_server_that_is_not_there_is_named_without_its_password() -> None:
    with pytest.raises(StoreError, match="cannot be reached") as caught:
        open_store("postgresql://doctor:opensesame@127.0.0.1:1/ratings", wait_seconds=1)
    assert "opensesame" not in str(caught.value)
    assert "doctor:***@127.0.0.1:1/ratings" in str(caught.value)


def test_a_password_among_the_options_of_an_address_is_not_shown(postgres_url: str) -> None:
    with pytest.raises(StoreError, match="cannot be reached") as caught:
        open_store("postgresql://doctor@127.0.0.1:1/ratings?password=hunter2&sslmode=disable", wait_seconds=1)
    assert "hunter2" not in str(caught.value)
    assert "postgresql://doctor@127.0.0.1:1/ratings cannot" in str(caught.value)
    with open_store(f"{postgres_url}&password=hunter2") as store:
        assert "?" not in store.place
    with pytest.raises(StoreError, match="this store is closed") as caught:
        write(store, ratings=[rating()])
    assert "hunter2" not in str(caught.value)


def test_a_locked_store_says_who_may_hold_it(file: Path) -> None:
    with open_store(file, wait_seconds=0.2) as store:
        holder = subprocess.Popen(
            [sys.executable, "-c", _HOLD_SQLITE, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert holder.stdout is not None
        holder.stdout.readline()
        try:
            with pytest.raises(StoreLocked, match=r"ratings\.sqlite is locked.*more than 0\.2 s") as caught:
                write(store, ratings=[rating()])
        finally:
            holder.communicate(b"\n")
        if Path("/proc/self/fd").exists():
            assert f"process {holder.pid}" in str(caught.value)
        write(store, ratings=[rating()])
        assert list(store.ratings()) == [rating()]


_HOLD_SQLITE = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
connection.execute("ROLLBACK")
"""


def test_a_locked_server_says_how_to_find_the_holder(postgres_url: str) -> None:
    with open_store(postgres_url) as holder, open_store(postgres_url, wait_seconds=0.2) as store:
        with pytest.raises(StoreLocked, match="pg_stat_activity"), holder._connection.transaction(write=True):
            write(store, ratings=[rating()])
        write(store, ratings=[rating()])
        assert list(store.ratings()) == [rating()]


def test_a_full_disk_keeps_all_or_nothing_and_goes_on_when_there_is_room(file: Path) -> None:
    with open_store(file) as store:
        write(store, ratings=[rating(key="before")])
        pages = store._connection.open.cursor().execute("PRAGMA page_count").fetchone()[0]
        store._connection.open.cursor().execute(f"PRAGMA max_page_count = {pages + 5}")
        large = [
            rating(item=f"case-{number}", key=str(number), explanation="x" * 500) for number in range(500)
        ]
        with pytest.raises(StoreFull, match="no room left"):
            write(store, replies=[StoredReply("a", Reply("yes"), 1.0, "run")], ratings=large)
        assert [row.key for row in store.ratings()] == ["before"]
        assert store.spent("run").calls == 0
        store._connection.open.cursor().execute("PRAGMA max_page_count = 1000000")
        assert write(store, ratings=large) == 500


async def test_a_full_disk_reaches_every_task_that_writes(file: Path) -> None:
    with open_store(file) as store:
        async with StoreDesk(store, "run") as desk:
            await desk.write_ratings("run", [rating(key="before")])
            pages = store._connection.open.cursor().execute("PRAGMA page_count").fetchone()[0]
            store._connection.open.cursor().execute(f"PRAGMA max_page_count = {pages}")
            writes = [
                desk.write_ratings("run", [rating(key=str(number), explanation="x" * 9000)])
                for number in range(20)
            ]
            results = await asyncio.gather(*writes, return_exceptions=True)
            assert all(isinstance(result, StoreFull) for result in results)
            store._connection.open.cursor().execute("PRAGMA max_page_count = 1000000")
            await desk.write_ratings("run", [rating(key="after")])
        assert sorted(row.key for row in store.ratings("run")) == ["after", "before"]


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "tiny"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a small disk cannot be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_really_full_disk(tiny_disk: Path) -> None:
    with open_store(tiny_disk / "ratings.sqlite") as store:
        kept = 0
        with pytest.raises(StoreError, match=r"no room left|the disk failed"):
            for number in range(2_000):
                write(
                    store, ratings=[rating(item=f"case-{number:04}", key=str(number), explanation="x" * 500)]
                )
                kept += 1
        assert len(list(store.ratings())) == kept > 10


def test_a_lost_connection_is_made_again(postgres_url: str) -> None:
    with open_store(postgres_url) as store:
        owner = new_owner()
        claim(store, ["a"], owner)
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name LIKE 'medjury%' AND datname = current_database()"
            )
        write(store, replies=[StoredReply("a", Reply("yes"), 1.0, "run")], ratings=[rating()])
        assert list(store.ratings()) == [rating()]
        assert store.spent("run") == (1.0, 1)


_WRITE_UNTIL_KILLED = """
import sys
sys.path.insert(0, sys.argv[2])
from medjury.models import Reply
from medjury.store.ratings import open_store
from medjury.store.ratings._store.owner import new_owner
from medjury.store.ratings._store.transaction import StoredReply
from tests.ratings.samples import claim, rating, write
store, owner = open_store(sys.argv[1]), new_owner()
for number in range(1_000_000):
    key = f"{owner.pid}-{number}"
    claim(store, [key], owner)
    rows = [rating(item=key, key=key, dimension=name, explanation="x" * 3000) for name in "abcdefgh"]
    reply = StoredReply(key, Reply("yes"), 1.0, "run")
    write(store, replies=[reply], ratings=rows, members={"run": [key]}, releases=(owner, [key]))
    print(number, flush=True)
"""


@pytest.mark.parametrize("after", [1, 45])
def test_a_killed_writer_leaves_whole_transactions_only(store: Store, store_address: str, after: int) -> None:
    repository = str(Path(__file__).parents[2])
    writer = subprocess.Popen(
        [sys.executable, "-c", _WRITE_UNTIL_KILLED, store_address, repository], stdout=subprocess.PIPE
    )
    assert writer.stdout is not None
    for _ in range(after):
        reported = int(writer.stdout.readline())
    writer.send_signal(signal.SIGKILL)
    writer.stdout.read()
    writer.wait()
    writer.stdout.close()
    with open_store(store_address) as reopened:
        rows = list(reopened.ratings("run"))
        keys = {row.key for row in rows}
        assert len(rows) == 8 * len(keys), "every key has all its dimensions"
        assert len(keys) >= reported + 1, "what was reported as stored is stored"
        assert reopened.spent("run").calls == len(keys)
        claimed = claim(reopened, [f"{writer.pid}-{len(keys)}"], new_owner())
        assert not [answer for answer in claimed.values() if answer is Claim.BUSY]


_COUNT_TOGETHER = """
import asyncio, sys
from medjury.models import Reply
from medjury.store.ratings import StoreDesk, open_store

async def main():
    made = 0
    with open_store(sys.argv[1]) as store:
        async with StoreDesk(store, sys.argv[2]) as desk:
            async def one(key):
                nonlocal made
                if await desk.find_or_claim(key) is None:
                    made += 1
                    await asyncio.sleep(0.002)
                    await desk.put(key, Reply(key), 1.0)
            print("ready", flush=True)
            sys.stdin.readline()
            await asyncio.gather(*(one(f"key-{number}") for number in range(200)))
    print(made)

asyncio.run(main())
"""


def test_two_processes_on_one_store_never_make_the_same_call(store_address: str) -> None:
    """The store does not exist yet either: both try to create it."""
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", _COUNT_TOGETHER, store_address, name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for name in ("first", "second")
    ]  # fmt: skip
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("\n")
        worker.stdin.flush()
    made = [int(worker.communicate(timeout=60)[0]) for worker in workers]
    assert sum(made) == 200
    with open_store(store_address) as store:
        assert [store.spent(name).calls for name in ("first", "second")] == made
