"""Instruments: what is graded, on which scale, in which words; and how an answer is read against it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
