"""The search for a better prompt: what is tried, what it is told, and what is kept of it."""
