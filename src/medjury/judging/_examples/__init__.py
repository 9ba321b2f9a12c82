"""Worked examples: the training split, what clinicians agreed on, which are shown for a case."""
