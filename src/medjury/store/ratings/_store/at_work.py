"""Whether another process works on a store, for what can only be done while nobody does."""

from __future__ import annotations

import sys
import time

from medjury.store.ratings._store.owner import STALE_AFTER_SECONDS, this_host
from medjury.store.ratings._store.store import Store
from medjury.store.ratings._store.store_error import StoreLocked


def refuse_while_at_work(store: Store, state: str) -> None:
    """Refuse while a run writes. A process of another machine is watched until it is heard of, or has been silent
    for so long that it counts as ended. `state` says that nothing was done."""
    until = time.monotonic() + STALE_AFTER_SECONDS + 5
    while living := store.in_transaction(lambda transaction: transaction.living_owners(), write=False):
        here = [each for each in living if each.host == this_host() and sys.platform != "win32"]
        if here or time.monotonic() > until:
            raise at_work(store.place, f"Process {(here or living)[0].pid}", state)
        time.sleep(1)


def at_work(place: str, who: str, state: str) -> StoreLocked:
    return StoreLocked(f"{place}: {who} is at work on it. {state} Wait for its end and try again.")
