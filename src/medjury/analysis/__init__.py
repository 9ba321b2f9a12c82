"""The analyses of a rating table, one folder each: agreement, calibration, audits, ranking."""
