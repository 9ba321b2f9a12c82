"""Medjury: grade clinical AI output with juries of language models, and prove how far to trust them.

`__init__.pyi` lists what a script needs; each name is imported from its room when it is first used, so that
`import medjury` stays light.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
