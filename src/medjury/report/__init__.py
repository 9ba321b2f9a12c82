"""The report: one self-contained HTML page about a run that says first whether its jury may be trusted."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
