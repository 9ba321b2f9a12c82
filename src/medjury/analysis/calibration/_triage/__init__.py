"""Triage: which cases a clinician sees first, what that order is worth, and what needs nobody."""
