"""One reader for each form of file: it gives rows with their places, and bounds what is read."""
