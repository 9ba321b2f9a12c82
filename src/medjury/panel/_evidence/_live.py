"""A run's ratings as they stand now: from its folder once it has ended, from its store while it goes on."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

from pydantic import ValidationError

from medjury.foundation.errors import MedjuryError
from medjury.judging import (
    AdaptiveBody,
    ClaimsBody,
    ClosedLoopBody,
    ConcordanceBody,
    DeliberationBody,
    RepeatsBody,
)
from medjury.panel._evidence._snapshot import Snapshot
from medjury.panel._evidence._texts import Key
from medjury.store.ratings import open_store
from medjury.store.runs import Body, Manifest, Record, files, read_manifest
from medjury.studies import run_store
from medjury.tables import open_run, rating_table

KINDS: Mapping[str, type[Body]] = {
    kind.model_fields["kind"].default: kind
    for kind in (AdaptiveBody, ClaimsBody, ClosedLoopBody, ConcordanceBody, DeliberationBody, RepeatsBody)
}


class Steps(Protocol):
    """How ratings of several steps came about, answer by answer."""

    def of_answer(
        self, item: str, system: str, kinds: Mapping[str, type[Body]]
    ) -> Iterator[Record[Body]]: ...


class StoredSteps:
    """The records of a store, in memory and compressed: only while the run goes on."""

    def __init__(self) -> None:
        self._packed: dict[Key, list[tuple[str, int, bytes]]] = {}

    def add(self, key: Key, rater: str, repeat: int, body: str) -> None:
        self._packed.setdefault(key, []).append(
            (rater, repeat, zlib.compress(body.encode("utf-8", "replace"), 1))
        )

    def of_answer(self, item: str, system: str, kinds: Mapping[str, type[Body]]) -> Iterator[Record[Body]]:
        for rater, repeat, packed in self._packed.get((item, system), ()):
            text = zlib.decompress(packed)
            try:
                first = Body.model_validate_json(text)
                yield Record(
                    "", item, system, rater, repeat, kinds.get(first.kind, Body).model_validate_json(text)
                )
            except ValidationError:
                continue  # a record that is being written anew; the run's end tells of one that is broken


def is_going_on(folder: Path, manifest: Manifest) -> bool:
    return manifest.status == "running" or not (folder / files.RATINGS).is_file()


def read_snapshot(folder: Path) -> tuple[Snapshot, Steps]:
    """The ratings and records of a run as they stand."""
    manifest = read_manifest(folder)
    if not is_going_on(folder, manifest):
        table = open_run(folder)
        return Snapshot(table, manifest), table.records
    place = run_store(folder, manifest)
    if "://" not in place and not Path(place).is_file():
        raise MedjuryError(f"{folder}: has no ratings yet; run the study first")
    table = rating_table(place, run=manifest.run)
    steps = StoredSteps()
    with open_store(place, create=False) as store:
        for record in store.records(manifest.run):
            steps.add((record.item, record.system), record.rater, record.repeat, record.body)
    return Snapshot(table, manifest, going_on=manifest.status == "running"), steps


def stamp(folder: Path, manifest: Manifest) -> tuple[object, ...]:
    """What is another one as soon as there is something new to read."""
    if not is_going_on(folder, manifest):
        return _of_files(folder / files.MANIFEST, folder / files.RATINGS)
    place = run_store(folder, manifest)
    own = _of_files(folder / files.MANIFEST)
    if "://" not in place:
        return (*own, *_of_files(Path(place), Path(f"{place}-wal")))
    with open_store(place, create=False) as store:
        return (*own, sum(each.count for each in store.counts(manifest.run)))


def _of_files(*paths: Path) -> tuple[object, ...]:
    found: list[object] = []
    for path in paths:
        try:
            state = path.stat()
        except FileNotFoundError:
            found.append(None)
        else:
            found.append((state.st_mtime_ns, state.st_size))
    return tuple(found)
