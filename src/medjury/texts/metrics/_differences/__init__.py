"""Critical differences: what a clinician would take from either text, and what changed."""
