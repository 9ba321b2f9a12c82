"""What comes in: the rows of every kind of file, the mapping that says what they are, and cases (`cases`)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
