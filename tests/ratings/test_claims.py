"""Two runs on one store never pay for the same call twice, and a dead one never holds up a living one."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.ratings.samples import claim, write

from medjury.models import Reply
from medjury.store.ratings import Store
from medjury.store.ratings._store.owner import (
    STALE_AFTER_SECONDS,
    Claim,
    Heartbeats,
    Owner,
    is_dead,
    new_owner,
    process_start,
    this_host,
)
from medjury.store.ratings._store.transaction import StoredReply


def test_a_call_is_claimed_by_one_owner_only(store: Store) -> None:
    first, second = new_owner(), new_owner()
    assert claim(store, ["a", "b"], first) == {"a": Claim.OURS, "b": Claim.OURS}
    assert claim(store, ["b", "c"], second) == {"b": Claim.BUSY, "c": Claim.OURS}
    assert claim(store, ["a"], first) == {"a": Claim.OURS}, "asking again for one's own claim is harmless"


def test_a_stored_reply_ends_the_claim_and_is_found(store: Store) -> None:
    first, second = new_owner(), new_owner()
    claim(store, ["a"], first)
    write(
        store,
        replies=[StoredReply("a", Reply("yes", "length", 1, 2, 3, 0.5, "m-1"), 0.1)],
        releases=(first, ["a"]),
    )
    assert claim(store, ["a"], second) == {"a": Reply("yes", "length", 1, 2, 3, 0.5, "m-1", 0.1)}
    assert _claims(store) == []


def test_a_released_call_is_free_and_nobody_releases_anothers(store: Store) -> None:
    first, second = new_owner(), new_owner()
    claim(store, ["a"], first)
    write(store, releases=(second, ["a"]))
    assert claim(store, ["a"], second) == {"a": Claim.BUSY}
    write(store, releases=(first, ["a"]))
    assert claim(store, ["a"], second) == {"a": Claim.OURS}


def test_an_owner_that_ends_lets_go_of_everything(store: Store) -> None:
    first, second = new_owner(), new_owner()
    claim(store, ["a", "b"], first)
    store.end_owner(first)
    assert claim(store, ["a", "b"], second) == {"a": Claim.OURS, "b": Claim.OURS}


def test_the_claims_of_a_killed_process_are_taken_over_at_once(store: Store) -> None:
    dead = replace(new_owner(), pid=_pid_of_an_ended_process())
    living = new_owner()
    claim(store, ["a"], dead)
    assert claim(store, ["a"], living) == {"a": Claim.OURS}
    assert [owner for (owner,) in _rows(store, "SELECT owner FROM owners")] == [living.id]


def test_a_later_process_with_the_same_number_is_not_the_owner(store: Store) -> None:
    earlier = replace(new_owner(), started="1")
    claim(store, ["a"], earlier)
    assert claim(store, ["a"], new_owner()) == {"a": Claim.OURS}


def test_a_silent_owner_on_another_machine_is_taken_over_after_a_while(store: Store) -> None:
    far = replace(new_owner(), host="another machine")
    claim(store, ["a"], far)
    clock = iter(range(1_000_000))  # a second passes between two looks
    store._heartbeats = Heartbeats(lambda: float(next(clock)))
    me = new_owner()
    for _ in range(int(STALE_AFTER_SECONDS) + 1):
        assert claim(store, ["a"], me) == {"a": Claim.BUSY}
    assert claim(store, ["a"], me) == {"a": Claim.OURS}


def test_which_owners_are_dead() -> None:
    me = new_owner()
    assert not is_dead(me, 0.0)
    assert not is_dead(me, STALE_AFTER_SECONDS + 1), "silent, but its process lives"
    elsewhere = replace(me, host="elsewhere", pid=_pid_of_an_ended_process())
    assert not is_dead(elsewhere, 5.0) and is_dead(elsewhere, STALE_AFTER_SECONDS + 1)
    assert not is_dead(Owner("x", this_host(), 1, process_start(1) or ""), 5.0), "another user's process"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system has no /proc")
def test_a_process_that_ended_and_was_not_waited_for_is_dead() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = Owner("x", this_host(), process.pid, process_start(process.pid) or "")
    assert not is_dead(owner, 0.0)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert is_dead(owner, 0.0)
    process.communicate()


def _pid_of_an_ended_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def _claims(store: Store) -> list[tuple[str, ...]]:
    return _rows(store, "SELECT key FROM claims")


def _rows(store: Store, statement: str) -> list[tuple[str, ...]]:
    with store._connection.transaction(write=False) as cursor:
        cursor.execute(statement)
        return [tuple(row) for row in cursor.fetchall()]
