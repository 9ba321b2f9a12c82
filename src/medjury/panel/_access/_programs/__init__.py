"""Programs: their keys, and what they may ask."""
