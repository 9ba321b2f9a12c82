"""What all stand on: errors, files and their limits, documents, paths into nested data, frames, the clock."""
