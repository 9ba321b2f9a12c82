"""Replies between their arrival and their transaction: no death of a process loses one, and no file stays."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ratings.samples import rating

from medjury.models import Reply
from medjury.store.ratings import Store, StoreDesk, erase, open_store
from medjury.store.ratings._erasure import Selection
from medjury.store.ratings._store import arrivals
from medjury.store.ratings._store.arrivals import Arrivals, left_behind
from medjury.store.ratings._store.store_error import StoreError, StoreLocked
from medjury.store.ratings._store.transaction import StoredReply, Transaction

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="files cannot be held there")

# Claims a call, gets its reply and dies the moment the reply is said to survive: no transaction has begun.
_DIES = """
import asyncio, os, signal, sys
from medjury.models import Reply
from medjury.store.ratings import StoreDesk, open_store

async def work():
    with open_store(sys.argv[1]) as store:
        desk = StoreDesk(store, "first")
        for key in sys.argv[2:]:
            assert await desk.find_or_claim(key) is None
        if not sys.stdin.readline():
            return
        asked = [desk.put(key, Reply(f"said of {key}"), 0.5, lambda: None) for key in sys.argv[3:]]
        for each in asked:
            asyncio.ensure_future(each)
        await asyncio.sleep(0)
        await desk.put(sys.argv[2], Reply(f"said of {sys.argv[2]}"), 0.5, die)

def die():
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(work())
"""


ME = "0123456789abcdef" * 2


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "ratings.sqlite"


def beside(file: Path) -> list[Path]:
    return sorted(file.parent.glob("*-arrived-*"))


def a_process_that_dies(file: Path, *keys: str) -> Callable[[], None]:
    """It has claimed its calls; the function lets their replies come, and waits for its death."""
    process = subprocess.Popen(
        [sys.executable, "-c", _DIES, str(file), *keys], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )

    def let_die() -> None:
        _, words = process.communicate(b"\n", timeout=60)
        assert process.returncode == -signal.SIGKILL, words.decode()

    return let_die


def left(file: Path, *keys: str) -> None:
    """The files that a process leaves which dies before its transaction."""
    written = Arrivals(file, ME)
    for key in keys:
        assert written.note(StoredReply(key, Reply(f"said of {key}"), 0.5, "first"))
    written.leave()


def test_a_reply_that_survives_is_stored_by_whoever_opens_the_store_next(file: Path) -> None:
    a_process_that_dies(file, "a", "b", "c")()
    assert beside(file), "it died before its transaction"
    with open_store(file) as store:
        assert {key: reply.text for key, reply in store.replies(["a", "b", "c"]).items()} == {
            "a": "said of a", "b": "said of b", "c": "said of c",
        }  # fmt: skip
        assert store.spent("first") == (1.5, 3)
    assert not beside(file)


async def test_a_living_run_takes_over_the_replies_of_a_dead_one_and_pays_for_none_again(file: Path) -> None:
    with open_store(file) as store:
        async with StoreDesk(store, "second") as desk:
            assert await desk.find_or_claim("own") is None
            die = a_process_that_dies(file, "a", "b")
            await asyncio.to_thread(_wait_for_claim, store, "b")
            await asyncio.to_thread(die)
            found = await asyncio.gather(desk.find_or_claim("a"), desk.find_or_claim("b"))
            assert [reply and reply.text for reply in found] == ["said of a", "said of b"]
            assert await desk.find_or_claim("c") is None
    assert store.path == file
    with open_store(file) as store:
        assert store.spent("first") == (1.0, 2)
    assert not beside(file)


def _wait_for_claim(store: Store, key: str) -> None:
    claimed = "SELECT key FROM claims WHERE key IN (SELECT value FROM json_each(?))"
    while not store.in_transaction(lambda transaction: transaction.select(claimed, [key])):
        time.sleep(0.01)


async def test_what_a_living_process_has_written_down_is_left_to_it(file: Path) -> None:
    with open_store(file) as store:
        async with StoreDesk(store, "first") as desk:
            assert await desk.find_or_claim("a") is None
            written = beside(file)
            assert len(written) == 2
            with open_store(file):
                assert beside(file) == written, "nor in the same process"
            code = "import sys; from medjury.store.ratings import open_store; open_store(sys.argv[1]).close()"
            await asyncio.to_thread(subprocess.run, [sys.executable, "-c", code, str(file)], check=True)
            assert beside(file) == written
        assert not beside(file), "its end leaves nothing"


def _note_size(file: Path, sizes: list[int]) -> None:
    sizes.append(sum(each.stat().st_size for each in beside(file)))


async def test_a_file_is_emptied_when_its_replies_are_stored(file: Path) -> None:
    with open_store(file) as store:
        async with StoreDesk(store, "first") as desk:
            for number in range(5):
                sizes: list[int] = []
                await desk.find_or_claim(str(number))
                await desk.put(str(number), Reply("x" * 500), 0.1, partial(_note_size, file, sizes))
                assert len(sizes) == 1 and sizes[0] > 500, "written down before the others are told"
                assert sum(each.stat().st_size for each in beside(file)) == 0
        assert store.spent("first").calls == 5


def _fail(*_: object) -> None:
    raise StoreError("no room left")


async def test_what_a_failing_store_did_not_take_is_stored_when_the_desk_ends(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    survived: list[str] = []
    with open_store(file) as store:
        desk = StoreDesk(store, "first")
        assert await desk.find_or_claim("a") is None
        assert await desk.find_or_claim("b") is None
        with monkeypatch.context() as broken:
            broken.setattr(Transaction, "add_replies", _fail)
            with pytest.raises(StoreError, match="no room left"):
                await desk.put("a", Reply("yes"), 1.0, lambda: survived.append("a"))
        await desk.put("b", Reply("no"), 1.0, lambda: survived.append("b"))
        assert survived == ["a", "b"] and store.spent("first").calls == 1
        await desk.close()
        assert store.spent("first").calls == 2 and store.replies(["a"])["a"].text == "yes"
        async with StoreDesk(store, "second") as other:
            assert await other.find_or_claim("a") == Reply("yes", cost=1.0), "nobody pays again"
    assert not beside(file)


async def test_what_it_does_not_take_until_the_end_waits_for_whoever_opens_it_next(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(file) as store:
        desk = StoreDesk(store, "first")
        assert await desk.find_or_claim("a") is None
        with monkeypatch.context() as broken:
            broken.setattr(Transaction, "add_replies", _fail)
            with pytest.raises(StoreError, match="no room left"):
                await desk.put("a", Reply("yes"), 1.0, lambda: None)
            with pytest.raises(StoreError, match="no room left"):
                await desk.close()
        assert store.spent("first").calls == 0 and beside(file)
    with open_store(file) as store:
        assert store.spent("first").calls == 1
    assert not beside(file)


def test_a_desk_that_is_left_open_leaves_no_text(file: Path) -> None:
    async def work(store: Store) -> None:
        desk = StoreDesk(store, "first")
        await desk.find_or_claim("a")
        putting = asyncio.ensure_future(desk.put("a", Reply("yes"), 1.0, lambda: None))
        await asyncio.sleep(0)
        putting.cancel()  # the loop ends before the transaction does

    with open_store(file) as store:
        asyncio.run(work(store))
        deadline = time.monotonic() + 60
        while beside(file):
            assert time.monotonic() < deadline, "its thread ends, and takes the files with it"
            time.sleep(0.01)
        assert store.spent("first").calls == 1


async def test_without_leave_to_write_there_a_reply_waits_for_its_transaction(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrivals, "_created", lambda _: -1)
    with open_store(file) as store:
        async with StoreDesk(store, "first") as desk:
            assert await desk.find_or_claim("a") is None
            await desk.put(
                "a", Reply("yes", seconds=60.0), 1.0, lambda: pytest.fail("nothing is written down")
            )
            await asyncio.gather(*(desk.put(str(each), Reply("x", seconds=60.0), 0.0) for each in range(200)))
            assert desk.seconds_between_batches == pytest.approx(0.025), "its place waits meanwhile"
        assert store.spent("first").calls == 201


IMPOSSIBLE: tuple[dict[str, Any], ...] = (
    *({name: value} for name in ("tokens_in", "tokens_out", "tokens_cached", "tokens_written")
      for value in (10**30, -1, None, "12", 1.5, True)),
    {"seconds": float("nan")}, {"seconds": None}, {"seconds": "1"}, {"cost": float("inf")}, {"cost": "much"},
    {"finish": "\ud800"}, {"finish": ["stop"]}, {"text": None}, {"text": 5}, {"model": None},
)  # fmt: skip


@pytest.mark.parametrize("impossible", IMPOSSIBLE, ids=str)
def test_what_the_store_cannot_keep_is_neither_written_down_nor_read(
    file: Path, impossible: dict[str, Any]
) -> None:
    bad = StoredReply("bad", replace(Reply("x"), **impossible), 1.0, "run")
    good = StoredReply("good", Reply("x", tokens_in=2**63 - 1), 1.0, "run")
    written = Arrivals(file, ME)
    assert not written.note(bad) and written.note(good)
    written.leave()
    path = max(beside(file), key=lambda path: path.stat().st_size)
    path.write_bytes(arrivals._line(bad) + path.read_bytes())  # as another version might
    with open_store(file) as store:
        assert set(store.replies(["bad", "good"])) == {"good"}
    assert not beside(file)


NONSENSE = (
    b"[" * 200_000, b'{"1":1}', b"null", b'"1234567890123"', b"[]",
    *(b'["%d",' % form + b"0," * 12 + b"0]" for form in (1, 2)), b"\xff",
)  # fmt: skip


@pytest.mark.parametrize("body", NONSENSE, ids=lambda body: body[:9].decode("latin-1"))
def test_nonsense_with_the_right_check_sum_is_passed_over(file: Path, body: bytes) -> None:
    path = file.with_name(f"ratings.sqlite-arrived-{ME}-00000000")
    path.write_bytes(
        b"%08x %s\n" % (zlib.crc32(body), body) + arrivals._line(StoredReply("a", Reply("x"), 0.0))
    )
    with open_store(file) as store:
        assert set(store.replies(["a"])) == {"a"}
    assert not beside(file)


def test_a_line_that_did_not_fit_spoils_no_other(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = Arrivals(file, ME)
    assert written.note(StoredReply("a", Reply("x"), 0.0))
    whole = os.write
    with monkeypatch.context() as full:
        full.setattr(os, "write", lambda descriptor, line: whole(descriptor, line[:20]))
        assert not written.note(StoredReply("b", Reply("x"), 0.0))
    assert not written.note(StoredReply("c", Reply("x"), 0.0)), "its place is not given away"
    written.leave()
    with left_behind(file) as found:
        assert [each.key for each in found] == ["a"]


_REPLIES = st.builds(
    StoredReply,
    st.text(min_size=1, max_size=20),
    st.builds(
        Reply, text=st.text(st.characters(codec=None), max_size=60),
        finish=st.sampled_from(["stop", "length", "refusal"]), tokens_in=st.integers(0, 2**63 - 1),
        seconds=st.floats(0, 1e6), model=st.text(max_size=10), cost=st.none() | st.floats(0, 1e6),
    ),
    st.none() | st.floats(0, 1e6),
    st.text(max_size=10),
)  # fmt: skip


@given(replies=st.lists(_REPLIES, max_size=4), torn=st.integers(0, 60), rest=st.binary(max_size=30))
def test_what_is_read_is_what_was_written_whatever_follows(
    tmp_path_factory: pytest.TempPathFactory, replies: list[StoredReply], torn: int, rest: bytes
) -> None:
    file = tmp_path_factory.mktemp("store") / "ratings.sqlite"
    written = Arrivals(file, ME)
    for each in replies:
        assert written.note(each)
    written.leave()
    first = max(beside(file), key=lambda path: path.stat().st_size)
    line = arrivals._line(StoredReply("torn", Reply("half of it"), 1.0, "run"))
    first.write_bytes(first.read_bytes() + line[: min(torn, len(line) - 2)] + b"\n" + rest)
    with left_behind(file) as found:
        assert found == replies
    assert not beside(file)


def test_a_changed_byte_spoils_its_own_line_alone(file: Path) -> None:
    written = Arrivals(file, ME)
    for name in ("a", "b", "c"):
        written.note(StoredReply(name, Reply("Score: 4"), 1.0, "run"))
    written.leave()
    first = max(beside(file), key=lambda path: path.stat().st_size)
    whole = first.read_bytes()
    place = whole.index(b"Score: 4", whole.index(b'"b"'))
    first.write_bytes(whole[:place] + b"Score: 5" + whole[place + 8 :])
    with left_behind(file) as found:
        assert [each.key for each in found] == ["a", "c"]


def test_its_rights_are_those_of_the_store(file: Path) -> None:
    written = Arrivals(file, ME)
    assert {stat.S_IMODE(each.stat().st_mode) for each in beside(file)} == {0o600}
    written.remove()
    file.parent.chmod(0o750)
    shared = Arrivals(file, ME)
    assert {stat.S_IMODE(each.stat().st_mode) for each in beside(file)} == {0o640}
    shared.remove()


def test_one_who_looks_at_the_very_moment_a_file_is_made_does_not_remove_it(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = ExitStack()
    hold = arrivals._hold

    def looks_first(descriptor: int) -> bool:
        if len(beside(file)) == 1:
            monkeypatch.setattr(arrivals, "_hold", hold)
            looks.enter_context(left_behind(file))  # takes it for left behind, and is about to remove it
        return hold(descriptor)

    monkeypatch.setattr(arrivals, "_hold", looks_first)
    written = Arrivals(file, ME)
    looks.close()
    assert written.works and len(beside(file)) == 2
    assert written.note(StoredReply("a", Reply("x"), 0.0, "run"))
    assert sum(each.stat().st_size for each in beside(file)) > 0
    written.remove()
    assert not beside(file)


def test_other_files_are_left_alone(file: Path) -> None:
    names = ("-arrived-from-clinic.txt", "-arrived-2.sqlite", f"-arrived-{ME}", f"-arrived-{ME}-00000000.bak")
    others = [file.with_name(f"ratings.sqlite{name}") for name in names]
    for path in others:
        path.write_bytes(arrivals._line(StoredReply("a", Reply("x"), 0.0)))
    folder, pipe, large = (file.with_name(f"ratings.sqlite-arrived-{ME}-0000000{n}") for n in range(3))
    folder.mkdir()
    os.mkfifo(pipe)
    with large.open("wb") as empty:
        empty.truncate(2**40)
    with open_store(file) as store:
        assert not store.replies(["a"])
        assert not store._left_by(ME), "nor where their owner is known to have ended"
    assert all(path.exists() for path in (*others, folder, pipe, large))


def test_a_process_that_was_split_off_holds_nothing(file: Path) -> None:
    written = Arrivals(file, ME)
    child = os.fork()
    if not child:
        os._exit(0 if not written.works and not written.note(StoredReply("a", Reply("x"), 0.0)) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert written.works
    ready, wait = os.pipe(), os.pipe()
    if not (child := os.fork()):
        os.write(ready[1], b".")
        os.read(wait[0], 1)
        os._exit(0)
    os.read(ready[0], 1)
    written.note(StoredReply("a", Reply("x"), 0.0))
    written.leave()
    with left_behind(file) as found:
        assert [each.key for each in found] == ["a"], "the child lives, and holds nothing"
    os.write(wait[1], b".")
    os.waitpid(child, 0)


def test_another_working_folder_changes_nothing(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)

    async def work() -> None:
        with open_store("ratings.sqlite") as store:
            monkeypatch.chdir(tmp_path / "elsewhere")
            async with StoreDesk(store, "first") as desk:
                await desk.find_or_claim("a")
                assert len(beside(file)) == 2

    asyncio.run(work())
    assert not list((tmp_path / "elsewhere").iterdir()) and not beside(file)


def test_a_link_is_not_followed(file: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(arrivals._line(StoredReply("a", Reply("x"), 0.0, "run")))
    (tmp_path / f"ratings.sqlite-arrived-{ME}-00000000").symlink_to(elsewhere)
    with open_store(file) as store:
        assert not store.replies(["a"]) and not store._left_by(ME)
    assert elsewhere.exists()


def test_a_store_behind_a_link_has_one_place_for_them(file: Path, tmp_path: Path) -> None:
    open_store(file).close()
    (tmp_path / "other").mkdir()
    link = tmp_path / "other" / "link.sqlite"
    link.symlink_to(file)
    a_process_that_dies(link, "a")()
    with open_store(file) as store:
        assert store.replies(["a"])["a"].text == "said of a"


def test_what_was_left_behind_is_erased_with_the_rest(file: Path) -> None:
    with open_store(file) as store:
        store.write_ratings("first", [rating(item="case-1")])
    with open_store(file) as store:
        a_process_that_dies(file, "a")()
        erased = erase(store, Selection("run", ("first",)))
        assert erased
    assert not beside(file)
    assert not any(b"said of a" in each.read_bytes() for each in file.parent.iterdir())


def test_nothing_is_erased_while_somebody_holds_such_a_file(file: Path) -> None:
    with open_store(file) as store:
        store.write_ratings("first", [rating(item="case-1")])
        written = Arrivals(file, ME)
        written.note(StoredReply("a", Reply("said of a"), 0.0, "first"))
        with pytest.raises(StoreLocked, match="is using it"):
            erase(store, Selection("run", ("first",)))
        assert list(store.ratings("first")), "all of it, or nothing"
        written.leave()
        assert erase(store, Selection("run", ("first",)))
    with open_store(file) as store:
        assert not store.replies(["a"]), "it does not come back"


async def test_a_run_takes_what_a_dead_one_left_out_of_the_folder_when_it_ends(file: Path) -> None:
    with open_store(file) as store:
        async with StoreDesk(store, "second") as desk:
            await desk.find_or_claim("own")
            await asyncio.to_thread(a_process_that_dies(file, "a"))
            assert len(beside(file)) == 4
        assert not beside(file) and store.replies(["a"])


def test_who_only_reads_does_not_wait_long_for_a_writer(file: Path) -> None:
    open_store(file).close()
    left(file, "a")
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    began = time.monotonic()
    with open_store(file, wait_seconds=600.0) as store:
        assert not store.replies(["a"]) and beside(file)
        assert time.monotonic() - began < 60, "a moment"
        holder.execute("ROLLBACK")
        [[waits]] = store.outside_transactions(
            lambda cursor, _: cursor.execute("PRAGMA busy_timeout").fetchall()
        )
        assert waits == 600_000, "what comes later waits as ever"
    holder.close()


def test_a_store_that_cannot_be_written_just_now_is_opened_all_the_same(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_store(file).close()
    left(file, "a")

    def held(*_: object, **__: object) -> None:
        raise StoreError("locked")

    with monkeypatch.context() as patch:
        patch.setattr(Store, "in_transaction", held)
        open_store(file).close()
    assert beside(file), "it stays for the next"
    with open_store(file) as store:
        assert "a" in store.replies(["a"])


def test_only_the_desk_of_a_file_writes_them(postgres_url: str, tmp_path: Path) -> None:
    async def work() -> None:
        with open_store(postgres_url) as store:
            async with StoreDesk(store, "first") as desk:
                await desk.find_or_claim("a")
                await desk.put("a", Reply("x"), 0.0, lambda: pytest.fail("a server's store has no file"))

    asyncio.run(work())
    assert not list(tmp_path.iterdir())
