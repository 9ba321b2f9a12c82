"""Regressions of audits: mixed models with nested or crossed intercepts, and least squares on resamples."""
