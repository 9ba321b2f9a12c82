"""Marking: what an answer to an item says, and whether that is right. An answer that cannot be read is never guessed."""

from medjury.suites._marking._metrics import METRICS, mark

__all__ = ["METRICS", "mark"]
