"""Models: the `ChatModel` protocol, one file per endpoint kind, and the one gate every call passes."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
