"""What became of the steps of a way of judging, counted record by record."""
