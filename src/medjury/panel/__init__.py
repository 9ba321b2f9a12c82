"""The clinicians' panel and the evidence browser: people rate blindly, and everyone may read the evidence.

Clinicians' ratings have the very shape of the judges'. They are kept in a database of the panel's own, with their
history, and flow from there into the study's store. Nothing here decides what a number means: the panel asks the
rooms to its left.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
