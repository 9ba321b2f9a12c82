"""Cases: what is judged. Readers turn files into `Case` objects one at a time and report every bad row."""

from medjury.cases._case import Case, MetadataValue, Note, Origin
from medjury.cases._text import clean_text

__all__ = ["Case", "MetadataValue", "Note", "Origin", "clean_text"]
