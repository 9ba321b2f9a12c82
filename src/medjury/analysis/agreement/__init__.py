"""Agreement: how far raters say the same, with intervals. Functions on arrays and on rating tables."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
