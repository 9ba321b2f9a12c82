"""Readers of transcripts, a file each form: all give the same rows (text, speaker, start, end, confidence)."""
