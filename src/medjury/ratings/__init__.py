"""Ratings: one row shape for clinicians, judges, juries and metrics, and the append-only store that keeps them."""

from medjury.ratings._rating import Rating, RaterKind, Status

__all__ = ["Rating", "RaterKind", "Status"]
