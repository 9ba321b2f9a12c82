"""Two runs beside each other: what was stated, what was changed, and what that did."""
