"""From votes to rows: the jury's rating, reversed dimensions and composites, of many answers at once."""
