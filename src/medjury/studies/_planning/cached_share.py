"""What a provider's prompt cache is expected to serve, for a plan: beginnings that an earlier question had."""

from __future__ import annotations

from collections.abc import Sequence

from medjury.judging import Beginning

# Providers cache no shorter prompts.
LEAST_TOKENS = 1024
# The beginnings of so many records are kept in mind: questions about one record follow each other.
_MOST_KNOWN = 1_000


class Served:
    """Tokens read from the cache and written to it by the questions so far."""

    def __init__(self) -> None:
        self.read = 0
        self.written = 0
        self._known: dict[str, None] = {}

    def add(self, beginnings: Sequence[Beginning], times: int = 1) -> None:
        """One more question that begins so, the shortest beginning first."""
        if not beginnings:
            return
        long = [each for each in beginnings if each.tokens >= LEAST_TOKENS]
        read = max((each.tokens for each in long if each.id in self._known), default=0)
        whole = max((each.tokens for each in long), default=0)
        self.read += times * read
        self.written += times * (whole - read)
        for each in long:
            self._known[each.id] = None
        while len(self._known) > _MOST_KNOWN:
            del self._known[next(iter(self._known))]
