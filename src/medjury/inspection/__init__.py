"""Inspection: what a file is, the mapping that would read it, what would be lost, and what it can answer."""

from medjury.inspection._look import Look, look
from medjury.inspection._recognise import Kind, recognise

__all__ = ["Kind", "Look", "look", "recognise"]
