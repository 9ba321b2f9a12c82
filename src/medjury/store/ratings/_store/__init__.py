"""The append-only store: its tables, its transactions, and what is reported when it fails."""
