"""What is erased is gone, down to the bytes; what is not named stays, and the logs stay whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from tests.loopback import LoopbackServer
from tests.ratings.samples import claim, rating, write

from medjury.cli import main
from medjury.models import Reply, verify_audit_log
from medjury.store.ratings import (
    Question,
    Selection,
    Store,
    StoredRecord,
    erase,
    erasures,
    open_store,
)
from medjury.store.ratings._store.owner import new_owner
from medjury.store.ratings._store.store_error import StoreError, StoreLocked
from medjury.store.ratings._store.transaction import StoredReply

SECRET = "Mrs-Unmistakable-Zyx-has-gout"
OLD, NEW = "2020-01-01T00:00:00.000+00:00", "2026-06-01T00:00:00.000+00:00"


def fill(store: Store, cases: int = 60) -> None:
    """Cases c-0, c-1, ...: every text of c-7 and of the last holds the secret; enough rows to split pages."""
    ratings, records, replies, questions = [], [], [], []
    for number in range(cases):
        item, words = (
            f"c-{number}",
            SECRET * 20 if number in (7, cases - 1) else f"plain words {number} " * 20,
        )
        key = f"unit {number}"
        ratings += [
            rating(item=item, key=key, explanation=f"{words}{n}", dimension=f"d{n}") for n in range(3)
        ]
        records.append(
            StoredRecord(key, item, "scribe", "judge-a", 0, json.dumps({"kind": "x", "t": words}), NEW)
        )
        replies.append(StoredReply(f"call {number}", Reply(words), 0.5, "first"))
        questions.append(Question(key, "q", f"call {number}", ""))
    write(store, replies=replies)
    store.write_ratings("first", ratings, records)
    store.in_transaction(lambda transaction: transaction.add_questions(questions))
    store.put_run("first", {"development": ["c-7", "c-8"], "c-7": 1})


def selection(*ids: str, keep_unlinked: bool = False) -> Selection:
    return Selection("case", ids, frozenset(ids), keep_unlinked=keep_unlinked)


def counts(store: Store) -> dict[str, int]:
    found = {}
    with store._connection.transaction(write=False) as cursor:
        for table in ("ratings", "replies", "records", "questions", "members"):
            cursor.execute(f"SELECT count(*) FROM {table}")
            found[table] = cursor.fetchone()[0]
    return found


def bytes_of(store: Store, address: str) -> bytes:
    """Everything that lies on the disk in which the store's rows could be."""
    if store.path is not None:
        return b"".join(file.read_bytes() for file in sorted(store.path.parent.glob(f"{store.path.name}*")))
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        row = connection.execute(
            "SELECT current_setting('data_directory'), oid FROM pg_database WHERE datname = current_database()"
        ).fetchone()
    assert row is not None
    files = [file for file in (Path(row[0]) / "base" / str(row[1])).iterdir() if file.is_file()]
    return b"".join(file.read_bytes() for file in files)


def test_everything_of_a_case_goes_down_to_the_bytes(store: Store, store_address: str) -> None:
    fill(store)
    if store.path is None:  # as PostgreSQL does by itself: its planner keeps samples of texts
        with psycopg.connect(store_address, autocommit=True) as connection:
            connection.execute("ANALYZE")
    before = counts(store)
    assert SECRET.encode() in bytes_of(store, store_address)
    done = erase(store, selection("c-7", "c-59"))
    assert done.runs == ("first",)
    taken = {"ratings": 6, "replies": 2, "records": 2, "questions": 2, "members": 2}
    assert {name: done.rows[name] for name in taken} == taken
    assert counts(store) == {name: before[name] - taken[name] for name in before}
    left = bytes_of(store, store_address)
    assert SECRET.encode() not in left and b"plain words 8" in left
    assert "c-7" not in {row.item for row in store.ratings()}
    assert "c-7" not in json.dumps(dict(store.runs()[0].manifest))
    assert "c-8" in store.runs()[0].manifest["development"]


def test_a_dry_run_counts_the_same_and_erases_nothing(store: Store) -> None:
    fill(store, 9)
    before = counts(store)
    told = erase(store, selection("c-7"), dry_run=True)
    assert counts(store) == before and not erasures(store)
    done = erase(store, selection("c-7"))
    assert {**told.rows, "runs": 1} == done.rows


def test_what_is_stored_stays_append_only_afterwards(store: Store) -> None:
    fill(store, 9)
    erase(store, selection("c-7"))
    for table in ("ratings", "replies", "records", "erasures"):
        with (
            pytest.raises(StoreError, match="append-only"),
            store._connection.transaction(write=True) as cursor,
        ):
            cursor.execute(f"DELETE FROM {table}")


def test_the_log_names_nobody_and_a_changed_entry_is_found(store: Store) -> None:
    fill(store, 9)
    erase(store, selection("c-7"))
    erase(store, selection("c-5", "c-6"))
    first, second = erasures(store)
    assert (first.number, first.by, first.rows["ratings"], second.rows["ratings"]) == (1, "case", 3, 6)
    assert first.names("case", ["c-7"]) and not first.names("case", ["c-8"])
    with store._connection.transaction(write=False) as cursor:
        cursor.execute("SELECT entry FROM erasures ORDER BY number")
        lines = [row[0] for row in cursor.fetchall()]
    assert not any(name in line for line in lines for name in ("c-7", "c-6", "plain", SECRET))
    with store._connection.transaction(write=True) as cursor:
        cursor.execute("DROP TABLE erasures")
        cursor.execute("CREATE TABLE erasures (number INTEGER PRIMARY KEY, entry TEXT)")
        changed = lines[0].replace('"ratings": 3', '"ratings": 2').replace("'", "''")
        cursor.execute(f"INSERT INTO erasures VALUES (1, '{changed}')")
    with pytest.raises(StoreError, match="entry 1 of the log of erasures was changed"):
        erasures(store)


def test_replies_of_unknown_cases_go_too_unless_they_are_kept(store: Store) -> None:
    fill(store, 9)
    write(store, replies=[StoredReply("asked again", Reply(SECRET), 0.5, "first")])
    kept = erase(store, selection("c-1", keep_unlinked=True))
    assert (kept.rows["replies"], kept.unlinked) == (1, 1)
    done = erase(store, selection("c-2"))
    assert (done.rows["replies"], done.unlinked) == (2, 1)
    assert store.replies(["asked again", "call 3"]).keys() == {"call 3"}


def test_a_name_that_is_not_there_erases_nothing_at_all(store: Store) -> None:
    fill(store, 9)
    write(store, replies=[StoredReply("asked again", Reply("x"), 0.5, "first")])
    before = counts(store)
    done = erase(store, selection("nobody"))
    assert not done and done.unlinked == 1 and counts(store) == before and not erasures(store)


def test_turns_of_a_conversation_that_are_kept_are_named(store: Store) -> None:
    items = ("talk", "talk#2", "talk#4", "talker#2", "talk#x", "other#2")
    store.write_ratings("first", [rating(item=item, key=f"unit {item}") for item in items])
    done = erase(store, selection("talk"))
    assert done.rows["ratings"] == 1 and done.turns == ("talk#2", "talk#4")
    assert "2 cases are kept that may be turns of it (talk#2, talk#4)" in done.text("s", dry_run=False)
    nothing = erase(store, selection("other"))
    assert not nothing and nothing.turns == ("other#2",) and "other#2" in nothing.not_found_text()
    assert erase(store, selection("talk#2", "talk#4")).turns == ()


def test_a_second_erasure_says_when_the_first_was(store: Store) -> None:
    fill(store, 9)
    erase(store, selection("c-7"))
    again = erase(store, selection("c-7"))
    assert not again and again.earlier == erasures(store)[0].at
    assert len(erasures(store)) == 1


def test_nothing_is_erased_while_a_run_is_at_work(store: Store) -> None:
    fill(store, 9)
    owner = new_owner()
    claim(store, ["a call in flight"], owner)
    with pytest.raises(StoreLocked, match=r"is using it. Nothing was erased"):
        erase(store, selection("c-7"))
    store.end_owner(owner)
    assert erase(store, selection("c-7"))


def test_a_reader_of_the_file_is_named_before_anything_is_erased(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite", wait_seconds=0.1) as store:
        fill(store, 1_000)
        reading = store.ratings()
        next(reading)
        write(store, ratings=[rating(item="later", key="later")])
        with pytest.raises(StoreLocked, match=r"is reading it. Nothing was erased"):
            erase(store, selection("c-7"))
        reading.close()  # type: ignore[attr-defined]
        assert erase(store, selection("c-7"))


def test_who_has_looked_since_before_in_postgresql_is_named_and_the_bytes_go_once_that_ends(
    store: Store, store_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if store.path is not None:
        pytest.skip("a file has readers and no older transactions")
    monkeypatch.setattr("medjury.store.ratings._erasure._PATIENCE", 0.2)
    fill(store, 60)
    with psycopg.connect(store_address, application_name="a long look") as other:
        other.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        other.execute("SELECT 1")
        with pytest.raises(StoreLocked, match=r"a long look \(process \d+\) .* their bytes stay on the disk"):
            erase(store, selection("c-7", "c-59"))
    assert erase(store, selection("c-7", "c-59")).earlier
    assert SECRET.encode() not in bytes_of(store, store_address)


def test_what_is_older_than_a_day_goes_by_its_newest_word(store: Store) -> None:
    write(
        store,
        ratings=[
            rating(item="old", key="old", created_at=OLD),
            rating(item="both", key="both", created_at=OLD),
            rating(item="both", key="both", created_at=NEW, score=1.0),
            rating(item="new", key="new", created_at=NEW),
            rating(item="odd", key="odd", created_at="last spring"),
        ],
    )
    done = erase(store, Selection("date", before=datetime(2025, 1, 1, tzinfo=UTC)))
    assert (done.rows["ratings"], done.undated) == (1, 1)
    assert {row.item for row in store.ratings()} == {"both", "new", "odd"}
    assert erasures(store)[0].marks == ("2025-01-01T00:00:00+00:00",)


def test_a_patient_is_erased_from_the_store_of_a_run_and_its_chain_verifies(
    tmp_path: Path, write_study: Callable[..., Path], server: LoopbackServer,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    cases = [
        {"id": f"visit-{n}", "system": "a", "patient": f"p{n // 2}", "candidate": f"Summary {n}.",
         "texts": {"context": f"Note {n}."}}
        for n in range(6)
    ]  # fmt: skip
    study = write_study(cases=cases, store="s.sqlite")
    assert main(["run", str(study), "--quiet"]) == 0
    store, file = str(tmp_path / "s.sqlite"), str(tmp_path / "cases.jsonl")
    assert b"visit-2" in (tmp_path / "s.sqlite").read_bytes()
    assert main(["runs", "erase", store, "--patient", "p1", "--cases", file, "--dry-run"]) == 0
    assert "Would be erased" in capsys.readouterr().out
    assert main(["runs", "erase", store, "--patient", "p1", "--cases", file]) == 0
    told = capsys.readouterr().out
    assert "6 ratings" in told and "does not erase" in told and "small" in told
    found = b"".join(each.read_bytes() for each in tmp_path.glob("s.sqlite*"))
    assert b"visit-2" not in found and b"visit-3" not in found and b"visit-4" in found
    assert verify_audit_log(tmp_path / "runs" / "small" / "audit.jsonl") > 0
    rest = "".join(json.dumps(case) + "\n" for case in cases if case["patient"] != "p1")
    (tmp_path / "cases.jsonl").write_text(rest)
    calls = len(server.calls)
    assert main(["run", str(study), "--quiet"]) == 0
    assert len([call for call in server.calls[calls:] if "Summary" in json.dumps(call.json)]) == 0


@pytest.mark.parametrize("words", [["--case", "nobody"], ["--patient", "p9", "--cases", "cases.jsonl"]])
def test_who_is_not_there_is_told_with_a_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cases.jsonl").write_text('{"id": "c-1", "patient": "p1", "candidate": "x"}\n')
    with open_store("s.sqlite") as store:
        fill(store, 3)
    assert main(["runs", "erase", "s.sqlite", *words]) == 2
    told = capsys.readouterr().err
    assert "nothing was erased" in told and "p9" not in told
    assert main(["runs", "erase", "s.sqlite", "--before", "2001-01-01"]) == 0
    assert "nothing that is older" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--before", "2999-01-01"], ["--run", "small"]])
def test_keeping_unlinked_replies_is_refused_where_it_means_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    store = tmp_path / "s.sqlite"
    with open_store(store) as opened:
        fill(opened, 3)
    assert main(["runs", "erase", str(store), *words, "--keep-unlinked"]) == 2
    assert "--patient or --case" in capsys.readouterr().err
    with open_store(store) as opened:
        assert opened.frame().height > 0
