"""Studies of transcripts: which files belong together, and which pairs are judged."""
