"""Runs: what a run folder holds: its manifest, its records, its patients, and the names of its files."""

from medjury.runs._checks import Check, check_files
from medjury.runs._patients import with_patients
from medjury.runs._records import RECORDS_FILE, Record, Records
from medjury.runs._rules import GateRules, ReportSettings, rules_from, settings_from

__all__ = [
    "RECORDS_FILE",
    "Check",
    "GateRules",
    "Record",
    "Records",
    "ReportSettings",
    "check_files",
    "rules_from",
    "settings_from",
    "with_patients",
]
