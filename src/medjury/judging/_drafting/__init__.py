"""Drafting: which notes and values a writer is given, and what it makes of them."""
