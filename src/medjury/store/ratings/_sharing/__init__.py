"""What workers on several machines share through PostgreSQL: one log, one budget, one pace."""
