"""Many raters at once: coefficients of a table of items by raters."""
