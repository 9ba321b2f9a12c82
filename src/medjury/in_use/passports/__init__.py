"""Passports: a validated jury as one file: what it is, on whom it was validated, until when; and judging by it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
