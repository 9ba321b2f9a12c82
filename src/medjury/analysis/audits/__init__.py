"""Audits: what moves a judge's scores besides the quality of the answer?

Most read a rating table: one file, its name, import and maker in `_every_audit.py`, and a function in
`report/_sections/audits.py`, which draws only what the run folder has (texts are not in it). `_injection.py` asks
the judges again, so it is also a part of the study (`audits:`), of its plan, its run and its manifest."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
