"""A copy of a store holds every row under its key, goes on where it stopped, and mixes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.loopback import LoopbackServer
from tests.ratings.samples import rating, write
from tests.ratings.test_erasure import fill, selection

from medjury.cli import main
from medjury.models import Reply
from medjury.store.ratings import Store, copy_store, erase, erasures, open_store
from medjury.store.ratings._store.store_error import StoreError
from medjury.store.ratings._store.transaction import StoredReply


@pytest.fixture(params=["to a server", "to a file"])
def pair(request: pytest.FixtureRequest, tmp_path: Path, postgres_url: str) -> Iterator[tuple[Store, Store]]:
    file = str(tmp_path / "s.sqlite")
    ends = (file, postgres_url) if request.param == "to a server" else (postgres_url, file)
    with open_store(ends[0]) as source, open_store(ends[1]) as target:
        fill(source, 30)
        hostile = rating(item="odd", key="odd \x00", explanation="NUL \x00 \ud800 \\N \t", score=0.1 + 0.2)
        write(source, ratings=[hostile], replies=[StoredReply("odd", Reply("tab\t\\.\n\x00"), None)])
        write(source, ratings=[rating(item="c-1", key="unit 1", dimension="d0", score=1.0)])
        erase(source, selection("c-3", keep_unlinked=True))
        yield source, target


def everything(store: Store) -> object:
    runs = [(run.name, dict(run.manifest), run.created_at) for run in store.runs()]
    return list(store.ratings()), list(store.records("first")), runs, erasures(store), store.spent("first")


def test_a_copy_holds_everything_and_goes_on(pair: tuple[Store, Store]) -> None:
    source, target = pair
    copied = copy_store(source, target)
    assert everything(target) == everything(source)
    assert copied["ratings"][:2] == (29 * 3 + 2, 29 * 3 + 2)
    assert target.replies(["odd"]) == source.replies(["odd"]) != {}
    assert {written for _, written, _ in copy_store(source, target).values()} == {0}, (
        "a second copy has nothing to do"
    )
    write(
        target, ratings=[rating(item="c-2", key="unit 2", dimension="d0", score=1.0)]
    )  # numbered after the others
    assert {row.score for row in target.ratings() if (row.item, row.dimension) == ("c-2", "d0")} == {1.0}


def test_a_copy_that_was_stopped_goes_on_with_what_is_missing(
    pair: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    from medjury.store.ratings._store import copy as _copy

    source, target = pair
    whole = _copy._write
    monkeypatch.setattr("medjury.store.ratings._store.copy._ROWS_AT_ONCE", 10)
    left = iter(range(6))

    def stopping(*words: object) -> int:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return whole(*words)  # type: ignore[arg-type]

    monkeypatch.setattr("medjury.store.ratings._store.copy._write", stopping)
    with pytest.raises(KeyboardInterrupt):
        copy_store(source, target)
    monkeypatch.setattr("medjury.store.ratings._store.copy._write", whole)
    rows, written, _ = zip(*copy_store(source, target).values(), strict=True)
    assert 0 < sum(written) < sum(rows)
    assert everything(target) == everything(source)


@pytest.mark.parametrize("other", ["another row", "the same key with another word"])
def test_a_target_with_other_data_is_refused_and_left_as_it_is(pair: tuple[Store, Store], other: str) -> None:
    source, target = pair
    write(target, replies=[StoredReply("call 1" if other != "another row" else "zzz", Reply("other"), None)])
    with pytest.raises(StoreError, match="holds replies that are not in"):
        copy_store(source, target)
    assert not target.runs() and not list(target.ratings())


def test_a_run_goes_on_from_the_new_store_without_paying_again(
    tmp_path: Path, postgres_url: str, write_study: Callable[..., Path], server: LoopbackServer,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    assert main(["run", str(write_study(store="s.sqlite")), "--quiet"]) == 0
    assert main(["runs", "store", "copy", str(tmp_path / "s.sqlite"), postgres_url]) == 0
    assert "holds what" in capsys.readouterr().out
    calls = len(server.calls)
    assert main(["run", str(write_study(store=postgres_url, cases=7)), "--quiet"]) == 0
    asked = [json.dumps(call.json) for call in server.calls[calls:] if "Summary" in json.dumps(call.json)]
    assert asked and all("Summary 6." in words for words in asked), "only the case that is new"


def test_no_table_and_no_column_is_forgotten(tmp_path: Path) -> None:
    """Who works on a store is not copied; everything else is, whatever a later migration adds."""
    from medjury.store.ratings._store.copy import _TABLES

    with open_store(tmp_path / "s.sqlite") as store, store._connection.transaction(write=False) as cursor:
        cursor.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        tables = {row[0] for row in cursor.fetchall()} - {"schema_version", "owners", "claims"}
        columns = {name: {row[1] for row in cursor.execute(f"PRAGMA table_info({name})")} for name in tables}
    assert {name: set(listed) for name, (listed, _) in _TABLES.items()} == columns
