"""Runs: what a run folder holds: its manifest, its records, its patients, and the names of its files (`files`)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
