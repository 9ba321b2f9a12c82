"""A clock that jumps does not free the calls that a living process is making."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.ratings.samples import claim

from medjury.store.ratings import Store
from medjury.store.ratings._store.owner import STALE_AFTER_SECONDS, Claim, Heartbeats, new_owner

DAY = 86_400.0


def jump(store: Store, seconds: float) -> None:
    """As if the clock had been set by so much since the last heartbeats."""
    with store._connection.transaction(write=True) as cursor:
        cursor.execute(f"UPDATE owners SET heartbeat = heartbeat - {seconds}")


@pytest.mark.parametrize("seconds", [60.0, DAY, -60.0, -DAY])
def test_the_claims_of_a_living_process_stay(store: Store, seconds: float) -> None:
    living, other = new_owner(), new_owner()
    assert claim(store, ["a"], living) == {"a": Claim.OURS}
    jump(store, seconds)
    assert claim(store, ["a"], other) == {"a": Claim.BUSY}


@pytest.mark.parametrize("seconds", [60.0, DAY, -60.0, -DAY])
def test_the_claims_of_a_living_process_on_another_machine_stay(store: Store, seconds: float) -> None:
    far, other = replace(new_owner(), host="another machine"), new_owner()
    claim(store, ["a"], far)
    for _ in range(5):
        jump(store, seconds)
        assert claim(store, ["a"], other) == {"a": Claim.BUSY}
        store.in_transaction(lambda transaction: transaction.beat(far))


def test_an_owner_is_silent_only_while_it_is_watched() -> None:
    """Where the server was away, or we slept, nobody could have beaten, or nobody looked."""
    now = 0.0
    beats = Heartbeats(lambda: now)
    assert beats.silent_seconds("far", 1.0) == 0
    now += DAY
    assert beats.silent_seconds("far", 1.0) < STALE_AFTER_SECONDS
    for _ in range(int(STALE_AFTER_SECONDS)):
        now += 1.0
        silent = beats.silent_seconds("far", 1.0)
    assert silent > STALE_AFTER_SECONDS
    assert beats.silent_seconds("far", 0.5) == 0, "another heartbeat, though of an earlier time"
