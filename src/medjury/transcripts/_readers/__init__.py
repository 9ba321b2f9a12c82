"""Readers of transcripts, one file a form: each gives the same plain rows (text, speaker, start, end, confidence)."""
