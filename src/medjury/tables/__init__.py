"""Tables: ratings from anywhere, made ready once: who rated what, on which scale, for which patient."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
