"""Validation: what may be trusted, and why: the evidence of a run, its rules, and the verdict."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
