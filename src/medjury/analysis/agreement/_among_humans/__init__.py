"""The judge among humans: the humans' own agreement, and what the judge changes in it."""
