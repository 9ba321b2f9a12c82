"""Marking: what an answer to an item says, and whether that is right. What cannot be read is never guessed."""
