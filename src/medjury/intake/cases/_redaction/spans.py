"""Stretches of text that identify somebody, and how overlapping ones become one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text and the kind of identifier it is."""

    start: int
    end: int
    kind: str


Detector = Callable[[str], Iterable[Span]]


def merge(spans: Iterable[Span]) -> Iterator[Span]:
    """Disjoint spans that cover every character of the given ones.

    Where spans overlap, their union takes the kind of the longest (of the first given, among equals): to keep
    one and drop the other would leave half an identifier standing.
    """
    ordered = sorted(enumerate(spans), key=lambda each: (each[1].start, -each[1].end, each[0]))
    current: Span | None = None
    longest = 0
    for _, span in ordered:
        if current is None or span.start >= current.end:
            if current is not None:
                yield current
            current, longest = span, span.end - span.start
            continue
        length = span.end - span.start
        kind = span.kind if length > longest else current.kind
        current = Span(current.start, max(current.end, span.end), kind)
        longest = max(longest, length)
    if current is not None:
        yield current
