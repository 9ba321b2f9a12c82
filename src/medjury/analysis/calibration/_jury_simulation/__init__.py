"""Simulating on stored votes when an adaptive jury may stop."""
