"""Shares of counted things: by the number, by case, by weight, and paired."""
