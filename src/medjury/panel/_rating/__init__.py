"""The rater's own pages, and what raters said: every version is kept."""
