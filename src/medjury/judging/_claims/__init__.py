"""Decompose, then verify: claims, their verdicts, and what follows from them."""
