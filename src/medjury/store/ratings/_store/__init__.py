"""The append-only store: its tables, its transactions, and what is told when it fails."""
