"""What is wrong with a row, said without a word of its text: file, row, field and kind of problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from medjury.foundation.errors import MedjuryError

SHOWN_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class BadRow:
    """One problem of one row. A row with three problems has three of these and is one skipped row."""

    file: str
    row: int
    field: str
    problem: str

    def __str__(self) -> str:
        return f"{self.file}, row {self.row}, {self.field}: {self.problem}"


class CaseError(MedjuryError):
    """Cases that cannot be used; `bad` holds the problems that were found, as far as they are kept."""

    def __init__(self, message: str, bad: Sequence[BadRow] = ()) -> None:
        super().__init__(message)
        self.bad = tuple(bad)


def list_problems(bad: Sequence[BadRow], total: int, shown: int = SHOWN_PROBLEMS) -> str:
    """The first problems, one to a line, and how many more there are."""
    lines = [f"  {each}" for each in bad[:shown]]
    if total > len(lines):
        lines.append(f"  ... and {total - len(lines):,} more")
    return "\n".join(lines)
