"""Transcripts: what was said beside what was recognised, made comparable."""

from medjury.transcripts._normalise import fillers, normalise

__all__ = ["fillers", "normalise"]
