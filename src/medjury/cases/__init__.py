"""Cases: what is judged. Readers turn files into `Case` objects one at a time and report every bad row."""

from medjury.cases._case import Case, MetadataValue, Note, Origin

__all__ = ["Case", "MetadataValue", "Note", "Origin"]
