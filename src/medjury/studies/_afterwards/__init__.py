"""A run that is there: opened, recorded, replayed and read again."""
