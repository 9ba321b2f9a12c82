"""Ratings from files into a store or into one file: what `medjury runs ratings import` does."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.store.ratings._export import write_ratings
from medjury.store.ratings._import.import_ratings import (
    ImportedRatings,
    import_ratings,
    open_pseudonyms,
    read_ratings,
)
from medjury.store.ratings._pseudonyms import Pseudonyms, key_file_beside
from medjury.store.ratings._store.store import Store, open_store

Location = str | os.PathLike[str]


@dataclass(frozen=True)
class FileImport:
    """What was imported, where to, and who got which pseudonym (None where names are kept)."""

    imported: ImportedRatings
    place: str
    names: Pseudonyms | None


def import_into_file(
    source: Location,
    out: Location,
    *,
    keep_names: bool = False,
    names_key: Location | None = None,
    **settings: Any,
) -> FileImport:
    """Read and check ratings and write them to a file; `settings` are those of `read_ratings`."""
    names = None if keep_names else Pseudonyms.open(names_key or key_file_beside(out))
    imported = read_ratings(source, pseudonyms=names, **settings)
    write_ratings(imported.ratings, out)
    return FileImport(imported, str(out), names)


def import_into_store(
    source: Location,
    url: Location,
    *,
    keep_names: bool = False,
    names_key: Location | None = None,
    **settings: Any,
) -> FileImport:
    """Read and check ratings and add them to a store; `settings` are those of `import_ratings`."""
    with open_store(url) as store:
        names = None if keep_names else open_pseudonyms(store, names_key)
        imported = import_ratings(store, source, keep_names=keep_names, pseudonyms=names, **settings)
        return FileImport(imported, store.place, names)


def export_ratings(url: Location, out: Location, run: str | None = None) -> int:
    """Write the ratings of a store, or of one of its runs, to a file; how many there were."""
    with open_store(url, create=False) as store:
        known = [each.name for each in store.runs()]
        if run is not None and run not in known:
            raise MedjuryError(f"{store.place} has no run {run!r}; its runs are {', '.join(known) or 'none'}")
        return write_ratings(store.frames(run), out)


def runs_content(store: Store) -> list[dict[str, Any]]:
    """The runs of a store with what became of their ratings and what they cost."""
    found = []
    for each in store.runs():
        counts = {"scored": 0, "not_applicable": 0, "unscored": 0}
        for row in store.counts(each.name):
            counts[row.status] += row.count
        spent = store.spent(each.name)
        state = each.manifest.get("status", each.manifest.get("kind", ""))
        since = {"run": each.name, "created_at": each.created_at, "status": state}
        found.append({**since, **counts, "calls": spent.calls, "money": spent.money})
    return found


def runs_text(store: Store) -> str:
    """The same for a reader."""
    lines = []
    for each in runs_content(store):
        ratings = each["scored"] + each["not_applicable"] + each["unscored"]
        lines += [
            each["run"],
            f"  since {each['created_at']}" + (f"; {each['status']}" if each["status"] else ""),
            f"  {ratings:,} ratings: {each['scored']:,} scored, "
            f"{each['not_applicable']:,} not applicable, {each['unscored']:,} unscored",
            f"  {each['calls']:,} calls paid, {each['money']:.4g} spent",
        ]
    return "\n".join(lines)
