"""A run to be read: its ratings as they stand, its texts, its steps, and an index to search them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from medjury.foundation.errors import MedjuryError
from medjury.panel._evidence._live import KINDS, Steps, read_snapshot, stamp
from medjury.panel._evidence._names import from_address, in_address, shown_name
from medjury.panel._evidence._snapshot import Flags, Numbers, Snapshot
from medjury.panel._evidence._texts import Key, Texts, read_texts
from medjury.panel._evidence._word_index import WordIndex, words_of
from medjury.store.runs import Body, Record, files, read_manifest

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
        self.manifest = read_manifest(self.folder)
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
            manifest = read_manifest(self.folder)
            new = stamp(self.folder, manifest)
            if new == self._stamp:
                return
            snapshot, steps = read_snapshot(self.folder)
            state = State(snapshot, steps, self._state.texts, self.hidden)
            _ = snapshot.evidence, state.said, snapshot.keys
        except MedjuryError:
            return  # the run is writing its folder just now; the next look finds it whole
        self.manifest, self._stamp, self._state = manifest, new, state
