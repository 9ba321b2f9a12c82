"""Watching: a jury in use judges what is new, clinicians read some of it, and an alarm holds whenever you look."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
