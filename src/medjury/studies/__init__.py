"""Studies: one study file is planned, run and concluded as one run folder that can be checked later."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
