"""How many cases and raters a study of agreement needs."""
