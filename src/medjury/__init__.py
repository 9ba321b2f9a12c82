"""Medjury: grade clinical AI output with juries of language models, and prove how far to trust them."""

__version__ = "0.1.0"
