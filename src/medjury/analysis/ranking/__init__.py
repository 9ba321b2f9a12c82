"""Ranking: which systems are better, by how much, at what cost, and which cannot be told apart."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
