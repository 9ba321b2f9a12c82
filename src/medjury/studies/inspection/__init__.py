"""Inspection: what a file is, the mapping that would read it, what would be lost, and what it can answer."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
