"""Suites: benchmarks as data, their items from the source's own files, their marks, and honest leaderboards."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
