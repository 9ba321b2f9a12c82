"""Batch jobs: many calls handed over at once, at half the price."""
