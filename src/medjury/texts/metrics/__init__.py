"""Metrics: how far a text is from its reference, and what the difference means to a clinician."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
