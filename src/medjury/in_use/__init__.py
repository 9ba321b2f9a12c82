"""A jury in daily use: the passport that says what it may be used for, and the watch over it."""
