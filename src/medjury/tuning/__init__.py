"""Tuning: a judge improved on clinicians' labels, with an artefact that an auditor can read, and no way from the
cases it was tuned on into its validation."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
