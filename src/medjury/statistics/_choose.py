"""One place to refuse a name that is not on the list."""

from __future__ import annotations

from collections.abc import Iterable

from medjury.foundation.errors import MedjuryError


def choose(name: str, known: Iterable[str], what: str) -> None:
    """Raise, with the names there are, where `name` is not one of them."""
    names = list(known)
    if name not in names:
        raise MedjuryError(f"There is no {what} called {name!r}. Choose from {', '.join(names)}.")
