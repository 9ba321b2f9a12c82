"""Answers that were given before, as a model."""
