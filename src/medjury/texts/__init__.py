"""Texts beside texts: metrics, and transcripts with their alignment."""
