"""Erasing: what is deleted, and the log that says that it was."""
