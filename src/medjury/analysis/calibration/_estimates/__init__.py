"""Estimates from few labels and many jury scores: means, shares of dangerous answers, strata."""
