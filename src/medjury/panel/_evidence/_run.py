"""A run to be read: its ratings as they stand, its texts, its steps, and an index to search them."""

from __future__ import annotations

import re
import sqlite3
import threading
import time
import unicodedata
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
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
from medjury.panel._evidence._snapshot import Flags, Numbers, Snapshot
from medjury.panel._evidence._texts import Key, Texts, from_address, in_address, read_texts, shown_name
from medjury.store.ratings import open_store
from medjury.store.runs import Body, Manifest, Record, RunFolder, files
from medjury.studies import Run
from medjury.tables import open_run, rating_table

# A run's ratings as they stand now: from its folder once it has ended, from its store while it goes on.

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
    manifest = RunFolder(folder).manifest
    if not is_going_on(folder, manifest):
        table = open_run(folder)
        return Snapshot(table, manifest), table.run.records
    place = Run.store_of(folder, manifest)
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
    place = Run.store_of(folder, manifest)
    own = _of_files(folder / files.MANIFEST)
    if "://" not in place:
        return (*own, *_of_files(Path(place), Path(f"{place}-wal")))
    with open_store(place, create=False) as store:
        return (*own, store.counts(manifest.run).total())


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


# Which answers hold a word: an index in memory, so that no clinical text is ever in a temporary file.

# What the index takes for a word: letters and digits, as SQLite's tokenizer does.
_WORD = re.compile(r"[^\W_]+")
_MOST_WORDS = 12


def words_of(text: str) -> list[str]:
    """The words of a search, each once; no more than anybody types."""
    return list(dict.fromkeys(_WORD.findall(unicodedata.normalize("NFC", text))))[:_MOST_WORDS]


class WordIndex:
    """Words and the numbers of the answers that hold them. The texts themselves are not kept."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._database = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        for statement in (
            "PRAGMA temp_store = MEMORY",
            "PRAGMA journal_mode = OFF",
            "CREATE VIRTUAL TABLE held USING fts5(words, content='', detail=none, tokenize='unicode61')",
        ):
            self._database.execute(statement)

    def add(self, numbered: Iterable[tuple[int, str]]) -> None:
        """Texts by the number of their answer; a number may come but once."""
        with self._lock:
            self._database.execute("BEGIN")
            self._database.executemany(
                "INSERT INTO held (rowid, words) VALUES (?, ?)",
                ((number, unicodedata.normalize("NFC", _storable(text))) for number, text in numbered),
            )
            self._database.execute("COMMIT")

    def holding(self, word: str) -> NDArray[np.int64]:
        """The answers with a word that begins so, whatever its case and accents."""
        with self._lock:
            found = self._database.execute("SELECT rowid FROM held WHERE held MATCH ?", (f'"{word}"*',))
            return np.fromiter((number for (number,) in found), dtype=np.int64)

    def close(self) -> None:
        with self._lock:
            self._database.close()


def _storable(text: str) -> str:
    """Half a surrogate pair and a null byte are no words, and SQLite holds neither."""
    return text.replace("\x00", " ").encode("utf-8", "replace").decode()


HIDDEN = "texts and names of cases are left out of this view (hide_texts)"
_SECONDS = 1.0  # between two looks at the files of a run that goes on


@dataclass(eq=False)
class State:
    """What is read at one time belongs together: a page is made of one state."""

    snapshot: Snapshot
    steps: Steps
    texts: Texts
    hidden: bool
    _places: Numbers | None = None

    @cached_property
    def said(self) -> WordIndex:
        """The words of ids, systems and explanations."""
        index = WordIndex()
        if not self.hidden:
            index.add(self._explained())
        return index

    def _explained(self) -> Iterator[tuple[int, str]]:
        import polars as pl

        by_answer = self.snapshot.rows.group_by("item", "system", maintain_order=True)
        words = by_answer.agg(pl.col("explanation").drop_nulls().unique())["explanation"]
        for place, (key, said) in enumerate(zip(self.snapshot.keys, words, strict=True)):
            yield place, "\n".join([*key, *said.to_list()])

    @cached_property
    def aliases(self) -> dict[str, str]:
        """Where names are hidden, what stands for each: `case 17`."""
        return {item: f"case {number}" for number, item in enumerate(self.snapshot.items, start=1)}

    @cached_property
    def _items(self) -> dict[str, str]:
        return {alias: item for item, alias in self.aliases.items()}

    def item(self, item: str) -> str:
        return self.aliases[item] if self.hidden else item

    def name(self, place: int) -> str:
        item, system = self.snapshot.keys[place]
        return shown_name((self.item(item), system))

    def address(self, place: int) -> str:
        """The address of an answer below that of its run."""
        item, system = self.snapshot.keys[place]
        return f"/case/{in_address(self.item(item))}/{in_address(system)}"

    def place(self, item_part: str, system_part: str) -> int | None:
        """The answer at an address; None where there is none."""
        item = from_address(item_part)
        known = self._items.get(item, "") if self.hidden else item
        return self.snapshot.number.get((known, from_address(system_part)))

    def places_of(self, keys: Sequence[Key]) -> Numbers:
        """The numbers of these answers; that of one without a rating is behind the last."""
        if self._places is None:
            number = self.snapshot.number
            self._places = np.array([number.get(key, len(number)) for key in keys], dtype=np.int64)
        return self._places

    def records(self, place: int) -> list[Record[Body]]:
        item, system = self.snapshot.keys[place]
        return list(self.steps.of_answer(item, system, KINDS))


class EvidenceRun:
    """One run folder, only ever read. While the run goes on its store is looked at again, at most once a second and
    behind the reader's back: a page never waits for it."""

    def __init__(
        self, folder: str | Path, *, cases: str | Path | None = None, hide_texts: bool | None = None
    ) -> None:
        self.folder = Path(folder)
        self.manifest = RunFolder(self.folder).manifest
        self.hidden = self.manifest.report.hide_texts if hide_texts is None else hide_texts
        self._lock, self._indexing = threading.Lock(), threading.Lock()
        self._stamp = stamp(self.folder, self.manifest)
        self._looked_at = time.monotonic()
        snapshot, steps = read_snapshot(self.folder)
        texts = Texts(HIDDEN) if self.hidden else read_texts(self.folder, self.manifest, cases)
        self._state = State(snapshot, steps, texts, self.hidden)
        self._reading: threading.Thread | None = None

    @property
    def state(self) -> State:
        """The newest state that is ready."""
        self._look_again()
        return self._state

    @property
    def changed(self) -> bool:
        """Whether a run that had ended was written anew since: then it is another one, to be opened again."""
        if self._state.snapshot.going_on:
            return False
        try:
            return stamp(self.folder, self.manifest) != self._stamp
        except MedjuryError:
            return True

    @property
    def text_index(self) -> tuple[WordIndex, list[Key]]:
        """The words of the texts, and whose they are. Texts do not change, so the index is made once; whoever asks
        while it is being made waits for it."""
        with self._indexing:
            return self._text_index

    @cached_property
    def _text_index(self) -> tuple[WordIndex, list[Key]]:
        index, keys = WordIndex(), list[Key]()

        def numbered() -> Iterator[tuple[int, str]]:
            for number, (key, text) in enumerate(self._state.texts.searchable()):
                keys.append(key)
                yield number, text

        index.add(numbered())
        return index, keys

    def holding(self, state: State, wanted: str) -> Flags:
        """The answers whose id, texts or explanations hold every word."""
        index, keys = self.text_index
        found = np.ones(len(state.snapshot.keys), dtype=bool)
        places = state.places_of(keys)
        for word in words_of(wanted):
            here = np.zeros(len(found) + 1, dtype=bool)  # the last is for texts without a rating yet
            here[state.said.holding(word)] = True
            here[places[index.holding(word)]] = True
            found &= here[:-1]
        return found

    def warm_up(self) -> None:
        """Make what pages will ask for, before they do."""
        state = self._state
        _ = state.snapshot.evidence
        _ = self.text_index, state.said
        for dimension in state.snapshot.queues:
            try:
                state.snapshot.queue(dimension)
            except MedjuryError:
                continue  # the page says why there is none

    def tables(self) -> list[str]:
        """The tables of the report that lie beside it; none where names are hidden, for some tables name cases."""
        if self.hidden:
            return []
        return sorted(each.stem for each in (self.folder / files.TABLES).glob("*.csv"))

    def _look_again(self) -> None:
        with self._lock:
            now = time.monotonic()
            busy = self._reading is not None and self._reading.is_alive()
            if not self._state.snapshot.going_on or busy or now - self._looked_at < _SECONDS:
                return
            self._looked_at = now
            self._reading = threading.Thread(target=self._read_again, daemon=True)
            self._reading.start()

    def _read_again(self) -> None:
        try:
            manifest = RunFolder(self.folder).manifest
            new = stamp(self.folder, manifest)
            if new == self._stamp:
                return
            snapshot, steps = read_snapshot(self.folder)
            state = State(snapshot, steps, self._state.texts, self.hidden)
            _ = snapshot.evidence, state.said, snapshot.keys
        except MedjuryError:
            return  # the run is writing its folder just now; the next look finds it whole
        self.manifest, self._stamp, self._state = manifest, new, state
