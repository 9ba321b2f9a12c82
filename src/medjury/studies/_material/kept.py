"""The cases that a plan has read, kept for the judging that follows if they are few and their file is as it was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from medjury.intake.cases import Case, CaseReader

# Beyond so many characters the file is read a second time: memory does not grow with the number of cases.
_MOST_CHARACTERS = 64_000_000
_CHARACTERS_PER_CASE = 1_000  # about what a case takes beside its texts


class KeptCases:
    """Reads the cases of a file once, and has them again as long as the file is the same. A file that was changed
    is read anew: what was judged is then found not to be what was planned."""

    def __init__(self, cases: CaseReader) -> None:
        self._cases = cases
        self._read_at: tuple[int, ...] | None = None
        self._kept: list[Case] = []

    def reading(self) -> Iterator[Case]:
        """The cases from the file, before all of them are known to be good: bad rows are refused after the last."""
        before, size, kept = self._stamp(), 0, []
        for case in self._cases.unchecked():
            size += _CHARACTERS_PER_CASE + _characters(case)
            if size <= _MOST_CHARACTERS:
                kept.append(case)
            else:
                kept.clear()
            yield case
        if kept and before == self._stamp():
            self._kept, self._read_at = kept, before

    def again(self) -> Iterable[Case]:
        """The same cases for who judges them."""
        unchanged = self._read_at is not None and self._read_at == self._stamp()
        return self._kept if unchanged else self._cases

    def _stamp(self) -> tuple[int, ...] | None:
        """What changes when a file is written; None where there is no one file to look at."""
        file = self._cases.file
        if file is None or not file.is_file():
            return None
        found = file.stat()
        return found.st_mtime_ns, found.st_size, found.st_ino


def _characters(case: Case) -> int:
    texts = (
        case.candidate or "",
        case.reference or "",
        *case.texts.values(),
        *(each.text for each in case.notes),
    )
    return sum(map(len, texts))
