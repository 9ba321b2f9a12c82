"""Ways of judging beside each other, on the same answers."""
