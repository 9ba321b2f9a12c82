"""Judging: from cases to ratings. A judge is one model with one instrument; a jury is several; each way of
judging is one file that the engine runs."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
