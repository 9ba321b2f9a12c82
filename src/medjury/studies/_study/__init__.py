"""A study: the words of its file turned into the things they name."""
