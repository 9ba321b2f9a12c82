"""What loaders share: fetching, opening and drawing from a benchmark's files."""
