"""PostgreSQL goes away in mid-run, or gives a role too few rights: calls wait, and words say what is wrong."""

from __future__ import annotations

import json
import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.loopback import LoopbackServer
from tests.processes import Command
from tests.ratings.samples import rating, write
from tests.stoppable_postgres import end, start

from medjury.store.ratings import Store, StoreStopped, open_store
from medjury.store.ratings._store.store_error import StoreError
from medjury.store.runs import RunFolder

Write = Callable[..., Path]
CASES, CONCURRENCY = 80, 4
PLACES = CONCURRENCY * 2  # calls, and answers that are being stored


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer(latency=0.2) as server:
        yield server


@contextmanager
def running(study: Path) -> Iterator[Command]:
    with Command("run", str(study), "--quiet") as process:
        yield process


def asked(server: LoopbackServer) -> Counter[str]:
    """How often each question about a case was put."""
    questions = [json.dumps(call.json["messages"]) for call in server.calls]
    return Counter(question for question in questions if "Summary " in question)


def wait_for_calls(server: LoopbackServer, process: Command, count: int) -> None:
    deadline = time.monotonic() + 300
    while len(server.calls) < count:
        assert time.monotonic() < deadline and process.poll() is None, "the run did not come so far"
        time.sleep(0.02)


def wait_for_words(process: Command, words: str) -> str:
    """All that was said on standard error up to these words."""
    told = ""
    while words not in told:
        line = process.stderr.readline()
        assert line, f"it ended without {words!r}: {told}"
        told += line
    return told


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["stopped", "killed"])
def test_a_run_waits_for_a_server_that_is_restarted(
    how: signal.Signals, write_study: Write, server: LoopbackServer, own_server: Any, own_url: str
) -> None:
    study = write_study(
        cases=CASES, store=own_url, judge={"concurrency": CONCURRENCY}, report={"resamples": 200}
    )
    with running(study) as process:
        wait_for_calls(server, process, 12)
        end(own_server, how)
        ended = len(server.calls)
        told = wait_for_words(process, "Calls wait")
        time.sleep(1.0)  # time enough for many a call
        assert len(server.calls) <= ended + PLACES < CASES, "calls wait while answers cannot be stored"
        start(own_server)
        said, rest = process.communicate(timeout=600)
        told += rest
    assert process.returncode == 0, told
    assert "Traceback" not in told and "COMPLETE" in said and "cannot be reached" in told
    assert asked(server).total() == len(asked(server)) == CASES, "each was asked once"
    folder = study.parent / "runs" / "small"
    assert all(check.sound for check in RunFolder(folder).verify())
    with open_store(own_url) as store:
        found = Counter((row.item, row.dimension) for row in store.ratings(RunFolder(folder).manifest.run))
    assert len(found) == 3 * CASES and set(found.values()) == {1}


def test_a_server_that_stays_away_ends_the_run_incomplete(
    write_study: Write, server: LoopbackServer, own_server: Any, own_url: str
) -> None:
    settings = {"store": own_url, "store_reconnect_seconds": 2, "report": {"resamples": 200}}
    study = write_study(cases=CASES, judge={"concurrency": CONCURRENCY}, **settings)
    with running(study) as process:
        wait_for_calls(server, process, 12)
        end(own_server)
        said, told = process.communicate(timeout=600)
    assert process.returncode == 3, told
    assert "Traceback" not in told and said.startswith("INCOMPLETE: ") and "tried for 2 s" in said
    folder = study.parent / "runs" / "small"
    manifest = RunFolder(folder).manifest
    assert manifest.status == "incomplete" and "cannot be reached" in manifest.why
    start(own_server)
    with running(study) as process:
        _, told = process.communicate(timeout=600)
    assert process.returncode == 0, told
    counts = asked(server)
    assert len(counts) == CASES and sum(counts.values()) - CASES <= PLACES, "only what was in flight"


def test_a_store_waits_for_the_stated_time_and_then_says_so(
    own_server: Any, own_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(own_url, reconnect_seconds=0.5) as store:
        write(store, ratings=[rating(key="before")])
        end(own_server)
        waited: list[float] = []
        pause = time.sleep
        monkeypatch.setattr("time.sleep", lambda seconds: (waited.append(seconds), pause(seconds))[1])
        with pytest.raises(StoreStopped, match=r"cannot be reached.*tried for 0\.5 s"):
            write(store, ratings=[rating(key="lost")])
        assert 0 < sum(waited) <= 0.5
        waited.clear()
        for read in (
            lambda: store.counts("a"),
            lambda: list(store.ratings()),
            lambda: store.put_run("a", {}),
        ):
            with pytest.raises(StoreStopped, match="cannot be reached"):
                read()
            assert not waited, "the time is over"
        monkeypatch.undo()
        start(own_server)
        write(store, ratings=[rating(key="after")])
        assert sorted(row.key for row in store.ratings()) == ["after", "before"]


# Rights


@pytest.fixture
def role(postgres_url: str) -> Iterator[str]:
    name = f"clerk_{time.time_ns()}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN")
        yield name
        connection.execute(f"DROP OWNED BY {name}")
        connection.execute(f"DROP ROLE {name}")


def as_role(url: str, role: str) -> str:
    return re.sub(r"://[^@]*@", f"://{role}@", url)


def by_owner(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def cure_in(message: str) -> str:
    """The statements that the message says its owner should run."""
    found = re.search(r" run: (.*;)$", message)
    assert found, message
    return found[1]


def use(store: Store) -> None:
    write(store, ratings=[rating()])
    assert list(store.ratings()) == [rating()]


@pytest.mark.parametrize(
    ("prepared", "lacks"),
    [
        ([], "lacks the right CREATE on the database"),
        (["CREATE SCHEMA medjury"], "lacks the right USAGE on the schema medjury"),
        (
            ["CREATE SCHEMA medjury", 'GRANT USAGE ON SCHEMA medjury TO "{role}"'],
            "lacks the right CREATE on the schema medjury",
        ),
    ],
    ids=["no schema", "no right on it", "no right to make tables"],
)
def test_a_role_without_rights_is_told_which_and_how_to_get_them(
    prepared: list[str], lacks: str, postgres_url: str, role: str
) -> None:
    by_owner(postgres_url, *(each.format(role=role) for each in prepared))
    with pytest.raises(StoreError, match=lacks) as refused:
        open_store(as_role(postgres_url, role))
    assert f'"{role}"' in str(refused.value) and "3F000" not in str(refused.value)
    by_owner(postgres_url, cure_in(str(refused.value)))
    with open_store(as_role(postgres_url, role)) as store:
        use(store)


@pytest.mark.parametrize(
    "granted",
    [[], ['GRANT USAGE ON SCHEMA medjury TO "{role}"']],
    ids=["no right on the schema", "no right on its tables"],
)
def test_a_role_that_may_not_use_another_roles_store_is_told_so(
    granted: list[str], postgres_url: str, role: str
) -> None:
    open_store(postgres_url).close()
    by_owner(postgres_url, *(each.format(role=role) for each in granted))
    with pytest.raises(StoreError, match=r"lacks (the right USAGE|rights) on the") as refused:
        open_store(as_role(postgres_url, role))
    by_owner(postgres_url, cure_in(str(refused.value)))
    with open_store(as_role(postgres_url, role)) as store:
        use(store)


def test_a_role_that_may_only_read_reads_and_is_told_what_writing_needs(postgres_url: str, role: str) -> None:
    with open_store(postgres_url) as store:
        write(store, ratings=[rating(key="first")])
    by_owner(
        postgres_url,
        f'GRANT USAGE ON SCHEMA medjury TO "{role}"',
        f'GRANT SELECT ON ALL TABLES IN SCHEMA medjury TO "{role}"',
    )
    with open_store(as_role(postgres_url, role)) as store:
        assert [row.key for row in store.ratings()] == ["first"]
        with pytest.raises(StoreError, match="lacks rights on the table ratings") as refused:
            write(store, ratings=[rating(key="second")])
        by_owner(postgres_url, cure_in(str(refused.value)))
        write(store, ratings=[rating(key="second")])
