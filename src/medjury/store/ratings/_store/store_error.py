"""What can go wrong with a store, in words from which the reader knows what to do."""

from __future__ import annotations

from medjury.foundation.errors import MedjuryError


class StoreError(MedjuryError):
    """The store cannot be opened, read or written. Nothing of the failed transaction was kept."""


class StoreLocked(StoreError):  # noqa: N818 - the name says what is wrong
    """Another program holds the store for longer than we wait."""

    exit_status = 1


class StoreStopped(StoreError):  # noqa: N818
    """The store worked and does not any more. What it holds is safe, and a later run goes on from there."""

    exit_status = 1


class StoreFull(StoreStopped):
    """There is no room left where the store lies."""


class StoreUnreachable(StoreStopped):
    """The server of the store does not answer."""


class ValueRefused(StoreError):  # noqa: N818
    """The store is well, but one of the values cannot be kept; what was given beside it can."""
