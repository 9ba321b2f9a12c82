"""Clinical impact of what was misheard: the estimate, its model, and how good it is."""
