"""Calibration: judges' scores turned into decisions, with cross-fitting, valid intervals and triage."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
