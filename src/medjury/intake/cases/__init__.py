"""Cases: what is judged. Readers turn files into `Case` objects one at a time and report every bad row."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
