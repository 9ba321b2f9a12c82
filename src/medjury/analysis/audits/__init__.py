"""Audits: what moves a judge's scores besides the quality of the answer?"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
