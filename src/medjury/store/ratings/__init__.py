"""Ratings: one row shape for clinicians, judges, juries and metrics, and the store that keeps them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
