"""A validated jury in other programs: Inspect, pytest, and whatever speaks MCP, each by a card (a passport)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
