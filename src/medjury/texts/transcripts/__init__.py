"""Transcripts: what was said beside what was recognised, made comparable."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
