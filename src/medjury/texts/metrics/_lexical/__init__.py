"""Lexical metrics: formulas over words and what is counted of them."""
