"""Which answers hold a word: an index in memory, so that no clinical text is ever in a temporary file."""

from __future__ import annotations

import re
import sqlite3
import threading
import unicodedata
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

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
