"""Endpoints through their vendors' own packages."""
