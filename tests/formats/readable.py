"""Marks a test as the proof of one row of docs/file-formats.md: what a form of file is, and what is read of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

Test = TypeVar("Test", bound=Callable[..., None])
Family = Literal["Ratings", "Transcripts", "Cases"]


@dataclass(frozen=True, slots=True)
class Format:
    """A row of the page. `described` is the page of docs/ (and its heading) that tells how to read such a file."""

    family: Family
    name: str
    ending: str
    read: str
    refused: str = ""
    described: str = ""


def reads(
    family: Family, name: str, ending: str, read: str, refused: str = "", described: str = ""
) -> Callable[[Test], Test]:
    """The test shows that such a file is read as the row says."""

    def mark(test: Test) -> Test:
        known: tuple[Format, ...] = getattr(test, "formats", ())
        test.formats = (Format(family, name, ending, read, refused, described), *known)  # type: ignore[attr-defined]
        return test

    return mark
