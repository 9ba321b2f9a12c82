"""Readers of cases: one file for each form in which they come."""
