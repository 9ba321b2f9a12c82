"""Redaction: what identifies somebody is found and replaced before anything else reads it."""
