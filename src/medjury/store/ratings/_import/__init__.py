"""Ratings from files: every check is made before any row is taken."""
