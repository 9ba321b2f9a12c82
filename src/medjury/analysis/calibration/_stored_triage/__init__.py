"""A triage rule that was learnt once, kept in a file, and used on cases that nobody labelled."""

from medjury.analysis.calibration._stored_triage.applying import AppliedTriage, apply_triage
from medjury.analysis.calibration._stored_triage.file import load_triage, save_triage
from medjury.analysis.calibration._stored_triage.rule import StoredTriage, stored_triage

__all__ = ["AppliedTriage", "StoredTriage", "apply_triage", "load_triage", "save_triage", "stored_triage"]
