"""METEOR: words matched exactly, then by stem, then by synonym, and how much their order is broken up."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path

from medjury.texts.metrics._porter import stem

# Recall counts nine times as much as precision; the penalty for broken order is at most one half.
ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5


_Side = list[tuple[int, str]]  # the words that are not matched yet, each with its place in the text


def meteor(reference: Sequence[str], hypothesis: Sequence[str], wordnet: WordNet | None) -> float:
    """METEOR = F · (1 − 0.5·(chunks / matches)³), F = P·R / (0.9·P + 0.1·R); 0 where nothing matches.

    Banerjee & Lavie (2005) with the parameters and the order of matching of NLTK: from the end of the
    hypothesis, each word takes the last free equal of the reference; synonyms are looked up for stems.

    >>> round(meteor("not throat but lips".split(), "not so but lips".split(), None), 4)
    0.6389
    """
    said, heard = ([*enumerate(map(str.lower, words))] for words in (reference, hypothesis))
    matches: list[tuple[int, int]] = []
    for stage in ("exact", "stem", "synonym"):
        if stage == "synonym" and wordnet is None:
            break
        if stage == "stem":
            said, heard = ([(place, stem(word)) for place, word in side] for side in (said, heard))
        said, heard = _match(said, heard, wordnet if stage == "synonym" else None, matches)
    if not matches:
        return 0.0
    matches.sort()
    chunks = 1 + sum(
        (after[0] - before[0], after[1] - before[1]) != (1, 1) for before, after in pairwise(matches)
    )
    precision, recall = len(matches) / len(hypothesis), len(matches) / len(reference)
    mean = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
    return float(mean * (1 - GAMMA * (chunks / len(matches)) ** BETA))


def _match(
    said: _Side, heard: _Side, wordnet: WordNet | None, matches: list[tuple[int, int]]
) -> tuple[_Side, _Side]:
    free: dict[str, list[int]] = {}
    for index, (_, word) in enumerate(said):
        free.setdefault(word, []).append(index)
    taken_said: set[int] = set()
    taken_heard: set[int] = set()
    for index, (place, word) in reversed([*enumerate(heard)]):
        names = wordnet.synonyms(word) if wordnet else (word,)
        candidates = [free[name] for name in names if free.get(name)]
        if candidates:
            other = max(candidates, key=lambda places: places[-1]).pop()
            taken_said.add(other)
            taken_heard.add(index)
            matches.append((place, said[other][0]))
    left = ((said, taken_said), (heard, taken_heard))
    one, two = ([each for index, each in enumerate(side) if index not in taken] for side, taken in left)
    return one, two


# Synonyms from WordNet's own files, as Debian's package `wordnet-base` installs them. Nothing is downloaded.
#
# The index files are sorted, so a word is found by bisection; nothing is loaded but the pages that are touched.
# Inflected words are brought back to their dictionary form by WordNet's exception lists and ending rules.


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
