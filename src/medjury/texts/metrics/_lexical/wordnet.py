"""Synonyms from WordNet's own files, as Debian's package `wordnet-base` installs them. Nothing is downloaded.

The index files are sorted, so a word is found by bisection; nothing is loaded but the pages that are touched.
Inflected words are brought back to their dictionary form by WordNet's exception lists and ending rules.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

DEBIAN = Path("/usr/share/wordnet")
# A stream of ever new words must not fill the memory.
MOST_WORDS = 200_000
ENDINGS = {
    "noun": (
        ("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"),
        ("men", "man"), ("ies", "y"),
    ),
    "verb": (
        ("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""),
    ),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class WordNet:
    """The files of one WordNet, open for look-up."""

    folder: Path
    files: dict[str, mmap.mmap]
    exceptions: dict[str, dict[str, list[str]]]
    known: dict[str, frozenset[str]] = field(default_factory=dict)

    def synonyms(self, word: str) -> frozenset[str]:
        """The single words that share a meaning with `word`, in their dictionary form, and the word itself."""
        if word not in self.known:
            found = {word}
            for part, endings in ENDINGS.items():
                forms = [word, *self._base_forms(word, part, endings)]
                for form in dict.fromkeys(forms):
                    for offset in self._synsets(form, part):
                        found.update(name for name in self._members(offset, part) if "_" not in name)
            if len(self.known) >= MOST_WORDS:
                return frozenset(found)
            self.known[word] = frozenset(found)
        return self.known[word]

    def _base_forms(self, word: str, part: str, endings: tuple[tuple[str, str], ...]) -> list[str]:
        irregular = self.exceptions[part].get(word)
        if irregular is not None:
            return irregular
        return [word[: -len(old)] + new for old, new in endings if word.endswith(old)]

    def _synsets(self, form: str, part: str) -> list[int]:
        """The offsets of the meanings of a dictionary form: the last numbers of its line in the index."""
        line = _line_of(self.files[f"index.{part}"], form.encode("utf-8") + b" ") if form else b""
        fields = line.split()
        return [int(offset) for offset in fields[len(fields) - int(fields[2]) :]] if fields else []

    def _members(self, offset: int, part: str) -> list[str]:
        file = self.files[f"data.{part}"]
        fields = file[offset : file.find(b"\n", offset)].decode("utf-8").split(" ")
        count = int(fields[3], 16)
        # An adjective may carry a mark of its place, as in "asleep(p)".
        return [fields[4 + 2 * index].partition("(")[0] for index in range(count)]


@cache
def open_wordnet(folder: Path = DEBIAN) -> WordNet | None:
    """WordNet as installed in `folder`, or None where it is not there."""
    names = [f"{kind}.{part}" for kind in ("index", "data") for part in ENDINGS]
    if not all((folder / name).is_file() for name in names):
        return None
    files = {}
    for name in names:
        with (folder / name).open("rb") as file:
            files[name] = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    exceptions: dict[str, dict[str, list[str]]] = {}
    for part in ENDINGS:
        file_of_exceptions = folder / f"{part}.exc"
        lines = file_of_exceptions.read_text("utf-8").splitlines() if file_of_exceptions.is_file() else []
        exceptions[part] = {words[0]: words[1:] for words in map(str.split, lines) if words}
    return WordNet(folder, files, exceptions)


def _line_of(file: mmap.mmap, start: bytes) -> bytes:
    """The line that begins with `start` in a file of sorted lines, or nothing."""
    low, high = 0, len(file)
    while low < high:
        middle = (low + high) // 2
        begin = file.rfind(b"\n", 0, middle) + 1
        end = file.find(b"\n", begin)
        end = len(file) if end < 0 else end
        line = file[begin:end]
        if line.startswith(start):
            return line
        if line < start:
            low = end + 1
        else:
            high = begin
    return b""
