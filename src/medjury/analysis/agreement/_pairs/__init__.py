"""Two raters: coefficients, tests and rows of one pair."""
